// Every registered sampler on CUDA: the CPU's iterations to rounding, alone and pooled; the same bits again, replayed
// as a graph, and after save and load; whole iterations in one kernel; quarantine; recorded draws.
#include <cmath>

#include "tests/gpu/bench.hpp"
#include "tests/gpu/device.hpp"
#include "tests/gpu/target_cases.hpp"

namespace kilochain {
namespace {

void expect_near(const Outcome& a, const Outcome& b, double relative, const std::string& what) {
  ASSERT_EQ(a.x.size(), b.x.size());
  for (std::size_t i = 0; i < a.x.size(); ++i)
    ASSERT_NEAR(a.x[i], b.x[i], relative * std::max(1.0, std::abs(a.x[i]))) << what << ", entry " << i;
  for (std::size_t c = 0; c < a.controls.size(); ++c) {
    ASSERT_EQ(a.controls[c].iteration, b.controls[c].iteration) << what << ", chain " << c;
    ASSERT_EQ(a.controls[c].gradients, b.controls[c].gradients) << what << ", chain " << c;
    ASSERT_NEAR(a.controls[c].acceptance_sum, b.controls[c].acceptance_sum, relative * 1e3) << what << ", chain " << c;
  }
}

class GpuSamplers : public GpuTest, public testing::WithParamInterface<std::string> {
 protected:
  static const SamplerEntry& entry() { return find_sampler(GetParam()); }
  template <class Real>
  Outcome both(const std::string& name, const Case& which, Scope scope, std::int64_t iterations, double relative) {
    const Index chains = many_chains();
    Bench<Real> cpu(host(), name, which, chains, scope), gpu(device(), name, which, chains, scope);
    cpu.start(), gpu.start();
    cpu.run(iterations, true), gpu.run(iterations, true);
    const Outcome g = gpu.outcome();
    expect_near(cpu.outcome(), g, relative,
                name + " on " + which.preset + (scope == Scope::pooled ? ", pooled" : ", alone"));
    return g;
  }
};

// Rounding: 1e4 n eps after one iteration, whose gradients reach 1e4 on Neal's Gaussian.
TEST_P(GpuSamplers, OneStepIsTheHosts) {
  for (const Case& which : cases)
    for (Scope scope : {Scope::chain, Scope::pooled})
      both<double>(entry().name, which, scope, 1, 1e4 * which.dim * 2.2e-16);
}
// Ten iterations amplify rounding by what the dynamics allow: a bound of 1e-7 still tells a wrong formula from
// rounding.
TEST_P(GpuSamplers, TenAdaptingStepsAreTheHosts) {
  for (const Case& which : cases)
    for (Scope scope : {Scope::chain, Scope::pooled}) both<double>(entry().name, which, scope, 10, 1e-7);
}
TEST_P(GpuSamplers, OneStepInFloat) {
  for (Scope scope : {Scope::chain, Scope::pooled}) both<float>(entry().name, cases[1], scope, 1, 1e3 * 51 * 1.2e-7);
}

// Where samplers and targets meet: what a sampler asks for in a phase is what a target of matrix products computes.
TEST_P(GpuSamplers, OnEveryTargetTheyAreTheHosts) {
  for (const TargetCase& which : all_target_cases(false)) {
    if (!which.hessian && entry().needs.most() == Needs::hessian_vector) continue;
    SCOPED_TRACE(text_of(which));
    SettingTexts on_host = which.settings;
    on_host.erase("evaluator");
    const Index chains = 5;
    Bench<double> cpu(host(), entry().name, make_target<double>(host(), which.name, on_host), chains, Scope::pooled),
        gpu(device(), entry().name, make_target<double>(device(), which.name, which.settings), chains, Scope::pooled);
    for (auto* bench : {&cpu, &gpu}) bench->start(), bench->run(4, true), bench->run(2, false);
    expect_near(cpu.outcome(), gpu.outcome(), 1e-7, entry().name);
  }
}

TEST_P(GpuSamplers, SameBitsAgainAndReplayed) {
  for (Scope scope : {Scope::chain, Scope::pooled}) {
    Context replayed = device(), plain = device();
    replayed.fuse = plain.fuse = false;
    plain.graphs = false;
    Bench<float> a(device(), entry().name, cases[1], many_chains(), scope),
        b(replayed, entry().name, cases[1], many_chains(), scope),
        c(plain, entry().name, cases[1], many_chains(), scope),
        d(replayed, entry().name, cases[1], many_chains(), scope);
    for (auto* bench : {&a, &b, &c, &d}) {
      bench->start();
      bench->run(cuda_emulated() ? 10 : 40, true);
      bench->run(cuda_emulated() ? 9 : 25, false);
    }
    EXPECT_EQ(b.outcome().x, d.outcome().x) << entry().name;
    EXPECT_EQ(b.outcome().x, c.outcome().x) << entry().name << ": graph against launches";
    // Two compilations of one body: the emulated device's compiler fuses nothing, nvcc may fuse here and not there.
    if (cuda_emulated()) {
      EXPECT_EQ(a.outcome().x, b.outcome().x) << entry().name << ": whole iterations in one kernel against rounds";
    }
  }
}
// As against the CPU, and for the same reason: rounding after one iteration, what ten make of it after ten.
TEST_P(GpuSamplers, WholeIterationsInOneKernelAreRounds) {
  Context rounds = device();
  rounds.fuse = false;
  const auto compare = [&](auto zero, std::int64_t adapting, std::int64_t sampling, double relative) {
    using Real = decltype(zero);
    for (Scope scope : {Scope::chain, Scope::pooled}) {
      Bench<Real> a(device(), entry().name, cases[1], many_chains(), scope),
          b(rounds, entry().name, cases[1], many_chains(), scope);
      for (auto* bench : {&a, &b}) {
        bench->start();
        if (adapting > 0) bench->run(adapting, true);
        if (sampling > 0) bench->run(sampling, false);
      }
      expect_near(a.outcome(), b.outcome(), relative,
                  entry().name + (scope == Scope::pooled ? ", pooled" : ", alone") + ", one kernel against rounds");
    }
  };
  const double n = cases[1].dim;
  compare(0.0, 1, 0, 1e4 * n * 2.2e-16), compare(0.0, 0, 1, 1e4 * n * 2.2e-16);
  compare(0.0F, 1, 0, 1e3 * n * 1.2e-7), compare(0.0F, 0, 1, 1e3 * n * 1.2e-7);
  compare(0.0, 6, 4, 1e-7);
}

TEST_P(GpuSamplers, LoadedChainsGoOnWithTheSameBits) {
  Bench<double> whole(device(), entry().name, cases[0], 33, Scope::pooled),
      first(device(), entry().name, cases[0], 33, Scope::pooled),
      second(device(), entry().name, cases[0], 33, Scope::pooled);
  whole.start(), first.start();
  whole.run(12, true), whole.run(12, true);
  first.run(12, true);
  second.sampler->load(first.sampler->save());
  second.reached = 12;
  second.run(12, true);
  EXPECT_EQ(whole.outcome().x, second.outcome().x) << entry().name;
}

TEST_P(GpuSamplers, AChainThatStartsAtNanIsQuarantinedAlone) {
  Bench<double> gpu(device(), entry().name, cases[0], 9, Scope::pooled);
  gpu.start(4);
  gpu.run(10, true);
  const auto controls = gpu.outcome().controls;
  for (std::size_t c = 0; c < controls.size(); ++c) {
    EXPECT_EQ(controls[c].status, c == 4 ? ChainStatus::start_zero_density : ChainStatus::running)
        << entry().name << ", chain " << c;
    EXPECT_EQ(controls[c].iteration, c == 4 ? 0 : 10) << entry().name << ", chain " << c;
  }
}

TEST_P(GpuSamplers, DrawsAreRecordedOnTheDevice) {
  constexpr std::int64_t kept = 6;
  Bench<double> gpu(device(), entry().name, cases[0], 5, Scope::chain);
  const std::size_t slots = 5 * kept, stats = std::max<std::size_t>(1, entry().stats.size());
  Buffer<double> draws(device(), slots * 2), lp(device(), slots);
  Buffer<float> acceptance(device(), slots), values(device(), slots * stats);
  Buffer<std::uint8_t> diverging(device(), slots);
  Recording<double> r;
  r.draws = draws.data(), r.lp = lp.data(), r.acceptance_rate = acceptance.data(), r.diverging = diverging.data(),
  r.stats = values.data(), r.stat_stride = static_cast<std::int64_t>(slots);
  r.capacity = kept, r.first_iteration = 0, r.thin = 2, r.active = true;
  gpu.start();
  gpu.run(2 * kept, false, r);
  const auto x = gpu.outcome().x, recorded = draws.host();
  for (std::size_t c = 0; c < 5; ++c)
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(recorded[(c * kept + kept - 1) * 2 + i], x[c * 2 + i]) << entry().name << ", chain " << c;
  for (double v : lp.host()) EXPECT_TRUE(std::isfinite(v) && v != 0) << entry().name;
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuSamplers, testing::ValuesIn(sampler_names()),
                         [](const auto& p) { return p.param; });

class GpuDivergences : public GpuTest {};
// Points of size 1e6 and rounding of a few operations on them: 1e-9 of the size.
TEST_F(GpuDivergences, AreKeptWhereTheHostFindsThem) {
  constexpr std::int64_t iterations = 4, kept = 3, chains = 5;
  for (const char* name : {"nuts", "hmc"}) {
    std::vector<std::int64_t> when[2];
    std::vector<double> where[2];
    for (const bool on_device : {false, true}) {
      const Context& home = on_device ? device() : host();
      Bench<double> bench(home, name, cases[0], chains, Scope::chain, {{"step_size", "1000"}, {"mass", "unit"}});
      Buffer<double> draws(home, chains * iterations * 2), lp(home, chains * iterations), at(home, chains * kept * 2);
      Buffer<float> acceptance(home, chains * iterations), values(home, chains * iterations * Info::max_stats);
      Buffer<std::uint8_t> diverging(home, chains * iterations);
      Buffer<std::int64_t> diverged(home, chains * kept);
      Recording<double> r;
      r.draws = draws.data(), r.lp = lp.data(), r.acceptance_rate = acceptance.data(), r.diverging = diverging.data(),
      r.stats = values.data();
      r.stat_stride = chains * iterations, r.capacity = iterations, r.active = true;
      r.diverged = diverged.data(), r.diverged_at = at.data(), r.kept_divergences = kept;
      bench.start();
      bench.run(iterations, false, r);
      when[on_device] = diverged.host(), where[on_device] = at.host();
    }
    EXPECT_EQ(when[0], when[1]) << name;
    EXPECT_EQ(when[0][0], 1) << name;
    for (std::size_t k = 0; k < where[0].size(); ++k)
      EXPECT_NEAR(where[0][k], where[1][k], 1e-9 * std::abs(where[0][k])) << name;
  }
}

}  // namespace
}  // namespace kilochain
