// Densities that are functions of device pointers: the chains of the same C function on the CPU, to rounding; one call
// a round, of no more chains than asked; a refused call is a rejection; nothing of it is captured.
#include <cmath>

#include "host/registry/own_target.hpp"
#include "tests/gpu/bench.hpp"
#include "tests/gpu/device.hpp"
#include "tests/gpu/device_density.hpp"
#include "tests/support/runs.hpp"

namespace kilochain {
namespace {

/// The same on the CPU.
int host_density(std::size_t n, const double* x, double* gradient, double* lp, void*) {
  *lp = x[0] > 1 ? -std::numeric_limits<double>::infinity() : 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double z = x[i] - static_cast<double>(i);
    *lp -= z * z / 2;
    gradient[i] = -z;
  }
  return 0;
}
FunctionDensity on_host(Index dim) {
  FunctionDensity f;
  f.one = host_density, f.dim = dim;
  return f;
}
FunctionDensity on_device(Index dim, DeviceDensityCalls& calls) {
  FunctionDensity f;
  f.on_device = device_density, f.user_data = &calls, f.dim = dim;
  return f;
}

using GpuFunctions = GpuTest;

// Rounding of ten trajectories, as in test_samplers.cpp.
template <class Real>
void expect_the_hosts(const Context& host, const Context& device, double tolerance) {
  for (const std::string sampler : {"mala", "nuts"})
    for (const Scope scope : {Scope::pooled, Scope::chain})
      for (const Index count : {1, 33}) {
        SCOPED_TRACE(sampler + ", " + std::to_string(count) + " chains");
        DeviceDensityCalls calls;
        const SettingTexts settings = {{"step_size", "0.1"}};
        Bench<Real> a(host, sampler, function_target<Real>(host, "f", on_host(33)), count, scope, settings),
            b(device, sampler, function_target<Real>(device, "f", on_device(33, calls)), count, scope, settings);
        a.start(), b.start();
        a.run(5, true), b.run(5, true);
        a.run(5, false), b.run(5, false);
        const Outcome right = a.outcome(), got = b.outcome();
        for (std::size_t i = 0; i < right.x.size(); ++i)
          ASSERT_NEAR(got.x[i], right.x[i], tolerance * std::max(1.0, std::abs(right.x[i]))) << "entry " << i;
        std::int64_t gradients = 0;
        for (const ChainControl& c : got.controls) gradients = std::max(gradients, c.gradients);
        EXPECT_LE(calls.most_chains, static_cast<std::size_t>(count));
        EXPECT_GE(calls.calls, gradients) << "replayed, not called";
      }
}
TEST_F(GpuFunctions, ChainsAreThoseOfTheFunctionOnTheHost) {
  expect_the_hosts<double>(host(), device(), 1e-7);
  expect_the_hosts<float>(host(), device(), 2e-3);
}

TEST_F(GpuFunctions, ACallIsOfThoseThatMayAsk) {
  DeviceDensityCalls calls;
  Bench<double> b(device(), "nuts", function_target<double>(device(), "f", on_device(3, calls)), 65, Scope::chain,
                  {{"step_size", "0.1"}});
  b.start(), b.run(3, true);
  EXPECT_EQ(calls.most_chains, 65u);
  EXPECT_LT(calls.least_chains, 65u);
}

TEST_F(GpuFunctions, ARefusedCallIsARejection) {
  DeviceDensityCalls calls;
  calls.refuse_call = 2;
  auto made = function_target<double>(device(), "f", on_device(2, calls));
  const Target<double>& target = *made;
  Bench<double> b(device(), "rwm", std::move(made), 5, Scope::chain);
  b.start();
  const auto before = b.outcome().x;
  b.run(1, false);
  EXPECT_EQ(b.outcome().x, before);
  for (const ChainControl& c : b.sampler->controls()) EXPECT_EQ(c.status, ChainStatus::running);
  b.run(20, false);
  EXPECT_NE(b.outcome().x, before);
  ASSERT_EQ(target.info().notes().size(), 1u);
  EXPECT_NE(target.info().notes()[0].find("it returned 1"), std::string::npos);
}

// 4.5 standard errors: a false alarm once in 150 000 figures.
TEST_F(GpuFunctions, AWholeRun) {
  DeviceDensityCalls calls;
  const OwnTarget mine("mine", on_device(3, calls));
  Options o;
  o.target = "mine", o.device = "cuda", o.sampler = "mala", o.num_chains = cuda_emulated() ? 8 : 256;
  o.num_warmup = 200, o.num_samples = 200, o.keep_draws = true, o.init = "zeros";
  const Result r = testing_support::run_quietly(o);
  for (std::size_t k = 0; k < r.draws.size(); k += 3) ASSERT_LE(r.draws[k], 1);
  for (int i = 1; i < 3; ++i)
    EXPECT_LT(std::abs(r.summary.parameters[i].mean - i), 4.5 * r.summary.parameters[i].mcse_mean) << i;
  o.device = "cpu";
  EXPECT_NE(testing_support::refusal(o, ExitStatus::usage).find("the density is for a CUDA device"), std::string::npos);
}

}  // namespace
}  // namespace kilochain
