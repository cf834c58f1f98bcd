// Products of a shared factor with the vectors of all chains at once: what the CPU draws, to rounding, for every
// sampler that moves by a factor, in awkward dimensions and numbers of chains; one chain's NaN stays its own; no wait,
// and replayed.
#include <cmath>

#include "tests/emulated_device/factor_mutants.hpp"
#include "tests/emulated_device/fixture.hpp"
#include "tests/gpu/bench.hpp"
#include "tests/support/chains.hpp"

namespace kilochain {
namespace {

using testing_support::make_chains;

const std::string by_factor[] = {"gad_mala_fast",
                                 "gad_mala_exact",
                                 "gad_rwm",
                                 "fisher_mala",
                                 "adaptive_metropolis",
                                 "adaptive_proposal",
                                 "adaptive_metropolis_haario",
                                 "gaussian_adaptation",
                                 "cma",
                                 "hmc",
                                 "mams",
                                 "entropy_hmc",
                                 "nuts"};

/// They ask often, and learn a mass in windows: the only one of 20 iterations ends with the 18th.
bool in_steps(const std::string& sampler) {
  return sampler == "hmc" || sampler == "ensemble_hmc" || sampler == "nuts" || sampler == "mams";
}

SettingTexts brisk(const std::string& sampler, SettingTexts with) {
  if (sampler == "adaptive_metropolis_haario") with.emplace("initial_period", "2");
  if (in_steps(sampler)) with.emplace("mass", "dense"), with.emplace("step_size", "0.3");
  if (sampler == "hmc") with.emplace("num_steps", "3");
  if (sampler == "fisher_mala") with.emplace("initial_iterations", "0");
  if (sampler == "adaptive_proposal") with.emplace("history", "3"), with.emplace("refresh", "2");
  return with;
}

/// Pooled chains whose products are made of all of them.
template <class Real>
struct Together : Bench<Real> {
  Together(const Context& context, const std::string& sampler, Index dim, Index chains, const SettingTexts& with = {})
      : Bench<Real>(context, sampler,
                    make_target<Real>(context, "gaussian_mixture", {{"dim", std::to_string(dim)}, {"means", "0.5"}}),
                    chains, Scope::pooled, brisk(sampler, with)) {
    this->sampler->multiply_together(true);
    if (in_steps(sampler)) this->num_warmup = 20, least_warmup_ = 18;
  }
  /// Positions after a short warm-up and three draws.
  std::vector<double> drawn(std::int64_t warmup = 4, double nan_at = -1) {
    this->start(nan_at);
    if (warmup > 0) warmup = std::max(warmup, least_warmup_);
    if (warmup > 0) this->run(warmup, true);
    this->run(3, false);
    return this->outcome().x;
  }

 private:
  std::int64_t least_warmup_ = 0;
};

class EmulatedFactor : public EmulatedDeviceWith<std::string> {
 protected:
  template <class Real>
  static void expect_the_hosts(const std::string& sampler, Index dim, Index chains, double relative,
                               const SettingTexts& with = {}) {
    const std::vector<double> cpu = Together<Real>(host(), sampler, dim, chains, with).drawn(),
                              gpu = Together<Real>(device(), sampler, dim, chains, with).drawn();
    for (std::size_t i = 0; i < cpu.size(); ++i)
      ASSERT_NEAR(cpu[i], gpu[i], relative * std::max(1.0, std::abs(cpu[i])))
          << sampler << ", " << dim << " dimensions, " << chains << " chains, entry " << i;
  }
};

// Rounding that seven iterations amplify by what the dynamics allow, as in tests/gpu/test_samplers.cpp.
TEST_P(EmulatedFactor, ProductsOfAllChainsDrawWhatTheCpuDraws) {
  for (const auto& [dim, chains] : {std::pair<Index, Index>{1, 5}, {2, 1}, {31, 3}, {32, 33}, {33, 7}, {65, 5}})
    expect_the_hosts<double>(GetParam(), dim, chains, 1e-7);
  EXPECT_TRUE(emulated::faults().empty());
}
TEST_P(EmulatedFactor, ProductsInFloat) { expect_the_hosts<float>(GetParam(), 33, 7, 1e3 * 33 * 1.2e-7); }

// While sampling nothing is learnt, so the chains beside the one that starts at NaN draw the same bits as without it.
TEST_P(EmulatedFactor, AChainThatIsNotFiniteStaysAlone) {
  constexpr Index dim = 33, chains = 5, bad = 2;
  const std::vector<double> all = Together<double>(device(), GetParam(), dim, chains).drawn(0),
                            beside = Together<double>(device(), GetParam(), dim, chains).drawn(0, bad),
                            learning = Together<double>(device(), GetParam(), dim, chains).drawn(4, bad);
  for (Index c = 0; c < chains; ++c)
    for (Index i = 0; i < dim && c != bad; ++i) {
      const std::size_t at = static_cast<std::size_t>(c * dim + i);
      ASSERT_EQ(all[at], beside[at]) << "chain " << c;
      ASSERT_TRUE(std::isfinite(learning[at])) << "chain " << c;
    }
}

TEST_P(EmulatedFactor, NothingWaitsInsideAStretchAndAGraphKeepsTheBits) {
  Context plain = device();
  plain.graphs = false;
  std::vector<double> x[2];
  for (const bool replays : {true, false}) {
    Together<float> b(replays ? device() : plain, GetParam(), 33, 5);
    const bool once = GetParam() != "gad_mala_exact" && GetParam() != "entropy_hmc" && !in_steps(GetParam());
    b.start();
    b.run(21, true);
    b.run(12, false);
    const auto before = emulated::counters();
    b.run(20, false);
    const auto after = emulated::counters();
    if (once) {
      EXPECT_EQ(after.synchronisations, before.synchronisations);
      EXPECT_EQ(after.graph_launches > before.graph_launches, replays);
    }
    EXPECT_EQ(after.pageable_copies, before.pageable_copies);
    EXPECT_EQ(after.allocations, before.allocations);
    x[replays] = b.outcome().x;
    EXPECT_GE(emulated::counters().products - before.products, 20);
  }
  EXPECT_EQ(x[0], x[1]);
}

// Chains that were saved go on with the factor that they learnt: a square of the one before would be seen.
TEST_P(EmulatedFactor, LoadedChainsGoOnWithTheirFactor) {
  Together<double> whole(device(), GetParam(), 33, 5), first(device(), GetParam(), 33, 5),
      second(device(), GetParam(), 33, 5);
  const std::int64_t warmup = in_steps(GetParam()) ? 18 : 5;
  for (auto* b : {&whole, &first}) b->start(), b->run(warmup, true);
  second.start();
  second.run(1, false);
  second.sampler->load(first.sampler->save());
  second.reached = warmup;
  for (auto* b : {&whole, &second}) b->run(3, false);
  EXPECT_EQ(whole.outcome().x, second.outcome().x);
}

INSTANTIATE_TEST_SUITE_P(ByFactor, EmulatedFactor, testing::ValuesIn(by_factor), [](const auto& p) { return p.param; });

using EmulatedFactors = EmulatedFactor;

TEST_F(EmulatedFactors, OtherRulesAndWideFactors) {
  expect_the_hosts<double>("gad_mala_fast", 257, 3, 1e-7);
  for (const char* optimizer : {"rmsprop", "adam", "relative"})
    for (const char* sampler : {"gad_mala_fast", "gad_rwm", "gad_mala_exact"})
      expect_the_hosts<double>(sampler, 33, 5, 1e-7, {{"optimizer", optimizer}});
  expect_the_hosts<double>("gad_mala_fast", 33, 5, 1e-7, {{"factor", "diagonal"}});  // there is no choice
}

// A warm-up at whose end hmc has a mass, and three draws that follow from it.
TEST_F(EmulatedFactors, EveryMistakeInATableIsSeen) {
  const auto drawn_by = [](const Context& context, std::unique_ptr<Chains<double>> chains) {
    const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "33"}, {"means", "0.5"}});
    Rounds<double> rounds(context, *target, *chains, 5);
    std::vector<double> x;
    for (int k = 0; k < 5 * 33; ++k) x.push_back(std::sin(1.0 + k));
    rounds.start(x);
    const std::atomic<bool> go_on{false};
    Segment<double> segment;
    segment.seed = 3;
    segment.schedule.num_warmup = 20;
    segment.scope = Scope::pooled;
    for (const std::int64_t until : {18, 21}) {
      segment.schedule.adapting = until == 18;
      segment.until = until;
      rounds.run(segment, go_on);
    }
    return chains->positions();
  };
  const SettingTexts of_hmc = {{"mass", "dense"}, {"step_size", "0.3"}, {"num_steps", "3"}};
  for (const bool hmc : {false, true}) {
    auto on_host =
        make_chains<double>(host(), hmc ? "hmc" : "gad_mala_fast", hmc ? of_hmc : SettingTexts{}, 5, 33, Scope::pooled);
    const std::vector<double> right = drawn_by(host(), std::move(on_host));
    for (const TableMutant m :
         {TableMutant::none, TableMutant::swapped, TableMutant::stale_drift, TableMutant::stale_gradient}) {
      const std::vector<double> found =
          drawn_by(device(), hmc ? make_hmc_mutant(device(), m, 5, 33) : make_mutant(device(), m, 5, 33));
      double difference = 0;
      for (std::size_t i = 0; i < right.size(); ++i) {
        const double d = std::abs(found[i] - right[i]);
        difference = d <= difference ? difference : d;  // a NaN is one
      }
      EXPECT_EQ(difference <= 1e-7, m == TableMutant::none) << hmc << static_cast<int>(m) << ": " << difference;
    }
  }
}

// One rule: products from 128 dimensions on, where the chains share a factor that is more than its diagonal.
TEST_F(EmulatedFactors, TheWayFollowsTheDimension) {
  const auto chains = [](Index dim) { return make_chains<float>(device(), "gad_rwm", {}, 8, dim, Scope::pooled); };
  EXPECT_EQ(chains(127)->products(), "a warp for each chain");
  EXPECT_EQ(chains(128)->products(), "matrix products of all chains");
  EXPECT_EQ(make_chains<float>(device(), "gad_rwm", {}, 8, 128, Scope::chain)->products(), "");
  EXPECT_EQ(make_chains<float>(device(), "rwm", {}, 8, 128, Scope::pooled)->products(), "");
  const auto nuts = [](const char* mass) {
    return make_chains<float>(device(), "nuts", {{"mass", mass}}, 8, 33, Scope::pooled)->products();
  };
  EXPECT_NE(nuts("dense"), "");
  EXPECT_EQ(nuts("diagonal"), "");
  EXPECT_EQ(nuts("unit"), "");
}

}  // namespace
}  // namespace kilochain
