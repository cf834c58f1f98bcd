// Every registered sampler leaves the law of three targets unchanged, at awkward sizes and in both precisions; the same
// test rejects samplers with a mistake. Thresholds: tests/support/law.hpp; about 60 runs, so a false alarm in 2e-3 of
// all seeds.
#include <gtest/gtest.h>

#include "host/chains/cpu_chains.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/law.hpp"
#include "tests/support/mutants.hpp"
#include "tests/support/walk_mutants.hpp"

namespace kilochain::testing_support {
namespace {

constexpr double limit = 5;
struct Law {
  std::string name, target;
  SettingTexts settings;
};
const Law laws[] = {
    {"gaussian", "gaussian_mixture", {{"dim", "5"}, {"means", "1"}}},
    {"skewed", "banana", {{"dim", "3"}, {"bend", "0.4"}, {"variance", "1.5"}}},
    {"correlated", "gaussian", {{"preset", "gauss2d_corr"}}},
};
const LawFunctions& functions_of(const Law& law) {
  static std::map<std::string, LawFunctions> known;
  auto it = known.find(law.name);
  if (it == known.end())
    it = known.emplace(law.name, LawFunctions(make_target<double>(context, law.target, law.settings)->info(), 200000))
             .first;
  return it->second;
}

class EverySamplerLaw : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySamplerLaw, UnchangedFromExactDraws) {
  const Index chains = 256;
  for (const Law& law : laws) {
    const auto target = make_target<double>(context, law.target, law.settings);
    const auto sampler = make_chains<double>(context, GetParam(), {}, chains, target->info().dim, Scope::pooled);
    warm_up(context, *target, *sampler, chains, 400);
    EXPECT_LT(law_deviation(context, *target, *sampler, chains, functions_of(law), 100), limit) << law.name;
  }
}

TEST_P(EverySamplerLaw, UnchangedAtAwkwardSizesInSinglePrecision) {
  const Index chains = 128;
  for (const Index n : chain_sizes) {
    const SettingTexts settings = {{"dim", std::to_string(n)}, {"means", "0.5"}, {"sds", "2"}};
    const auto target = make_target<float>(context, "gaussian_mixture", settings);
    const LawFunctions functions(target->info(), 20000);
    const auto sampler = make_chains<float>(context, GetParam(), {}, chains, n, Scope::pooled);
    warm_up(context, *target, *sampler, chains, 100);
    EXPECT_LT(law_deviation(context, *target, *sampler, chains, functions, 40), limit) << "n = " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySamplerLaw, ::testing::ValuesIn(sampler_names()),
                         [](const auto& p) { return p.param; });

/// Settings that choose other code paths of a sampler.
struct Variant {
  std::string sampler;
  SettingTexts settings;
};
void expect_unchanged(const std::vector<Variant>& variants) {
  const Index chains = 256;
  for (const Variant& v : variants)
    for (const Law& law : laws) {
      std::string what = v.sampler + " on " + law.name;
      for (const auto& [name, value] : v.settings) what += " " + name + " = " + value;
      const auto target = make_target<double>(context, law.target, law.settings);
      const auto sampler =
          make_chains<double>(context, v.sampler, v.settings, chains, target->info().dim, Scope::pooled);
      warm_up(context, *target, *sampler, chains, 200);
      EXPECT_LT(law_deviation(context, *target, *sampler, chains, functions_of(law), 60), limit) << what;
    }
}
TEST(SamplerVariants, LeaveTheLawUnchanged) {
  expect_unchanged({
      {"gad_rwm", {{"factor", "diagonal"}}},
      {"gad_mala_fast", {{"factor", "diagonal"}, {"optimizer", "adam"}, {"learning_rate", "1e-3"}}},
      {"gad_mala_exact", {{"factor", "diagonal"}, {"optimizer", "robbins_monro"}, {"learning_rate", "1e-3"}}},
      {"gad_mala_low_rank", {{"rank", "1"}}},
      {"gad_mala_low_rank", {{"rank", "32"}, {"relative_rate", "0.2"}}},
      {"adaptive_metropolis", {{"factor", "diagonal"}}},
      {"adaptive_metropolis", {{"variant", "paper"}}},
      {"hmc", {{"mass", "diagonal"}, {"step_rule", "dual_averaging"}, {"num_steps", "3"}}},
      {"hmc", {{"mass", "dense"}, {"step_rule", "dual_averaging"}, {"num_steps", "5"}, {"num_steps_jitter", "0.8"}}},
      {"fisher_mala", {{"damping", "0.1"}, {"initial_iterations", "0"}, {"adapt_schedule", "vanishing"}}},
      {"mams", {{"mass", "unit"}}},
      {"mams", {{"mass", "dense"}, {"length", "3"}}},
      {"entropy_hmc", {{"factor", "diagonal"}, {"num_steps", "2"}}},
      {"entropy_hmc", {{"num_steps", "1"}}},
      {"entropy_hmc", {{"norm_bound", "0.2"}, {"penalty", "1000"}, {"adapt_schedule", "vanishing"}}},
      {"tempered_mala", {{"mass", "unit"}, {"num_levels", "3"}, {"least_beta", "0.2"}}},
      {"nuts", {{"mass", "unit"}}},
      {"nuts", {{"mass", "dense"}}},
      {"nuts", {{"max_tree_depth", "2"}}},
  });
}
TEST(SamplerVariants, OfTheWalksLeaveItUnchanged) {
  expect_unchanged({
      {"rwm", {{"long_axis", "diagonal"}, {"long_sd", "3"}}},
      {"adaptive_proposal", {{"factor", "diagonal"}, {"history", "40"}, {"refresh", "20"}}},
      {"adaptive_proposal", {{"history", "50"}, {"refresh", "25"}, {"adapt_schedule", "vanishing"}}},
      {"adaptive_metropolis_haario", {{"factor", "diagonal"}, {"initial_period", "10"}}},
      {"adaptive_metropolis_haario", {{"adapt_schedule", "constant"}}},
      {"gaussian_adaptation", {{"factor", "diagonal"}}},
      {"gaussian_adaptation", {{"adapt_schedule", "vanishing"}}},
      {"cma", {{"factor", "diagonal"}}},
      {"cma", {{"adapt_schedule", "vanishing"}, {"adapt_exponent", "0.9"}}},
  });
}

/// The deviation of a mutant that was handed what the true sampler has learnt (their memory has one layout).
template <template <class> class Move, template <class> class True>
double deviation_of(const Law& law, typename True<double>::Settings settings = {}) {
  const Index chains = 512;
  const auto target = make_target<double>(context, law.target, law.settings);
  CpuChains<True<double>, double> teacher(context, chains, target->info().dim, Scope::pooled, settings);
  warm_up(context, *target, teacher, chains, 400);
  CpuChains<Move<double>, double> sampler(context, chains, target->info().dim, Scope::pooled, settings);
  sampler.load(teacher.save());
  return law_deviation(context, *target, sampler, chains, functions_of(law), 100);
}

// Each mistake beside the sampler without it, under the same settings: far beyond the limit, and within it.
TEST(Mutants, MalaWithoutItsHastingsTerm) {
  EXPECT_GT((deviation_of<MalaWithoutHastings, Mala>(laws[0])), 2 * limit);
  EXPECT_LT((deviation_of<Mala, Mala>(laws[0])), limit);
}
TEST(Mutants, TransposedFactor) {
  GadMalaFast<double>::Settings settings;
  EXPECT_GT((deviation_of<GadMalaTransposed, GadMalaFast>(laws[2], settings)), 2 * limit);
  EXPECT_LT((deviation_of<GadMalaFast, GadMalaFast>(laws[2], settings)), limit);
}
TEST(Mutants, StepsThatAreLongerInPlaces) {
  GaussianAdaptation<double>::Settings settings;
  GaussianAdaptation<double>::resolve(settings, Scope::pooled);
  EXPECT_GT((deviation_of<GaussianAdaptationByPlace, GaussianAdaptation>(laws[0], settings)), 2 * limit);
  EXPECT_LT((deviation_of<GaussianAdaptation, GaussianAdaptation>(laws[0], settings)), limit);
}
TEST(Mutants, NoiseUsedTwice) {
  EXPECT_GT((deviation_of<RwmReusesNoise, Rwm>(laws[0])), 2 * limit);
  EXPECT_LT((deviation_of<Rwm, Rwm>(laws[0])), limit);
}
TEST(Mutants, RandomWalkWithAFactorUsesItsNoiseThreeTimes) {
  GadRwm<double>::Settings settings;
  EXPECT_GT((deviation_of<GadRwmReusesNoise, GadRwm>(laws[2], settings)), 2 * limit);
  EXPECT_LT((deviation_of<GadRwm, GadRwm>(laws[2], settings)), limit);
}
TEST(Mutants, MovesWithoutItsWhitenedGradient) {
  GadMalaExact<double>::Settings settings;
  EXPECT_GT((deviation_of<GadMalaExactKeepsItsDrift, GadMalaExact>(laws[1], settings)), 2 * limit);
  EXPECT_LT((deviation_of<GadMalaExact, GadMalaExact>(laws[1], settings)), limit);
}
TEST(Mutants, TakesTheDensityOfARejectedMove) {
  EXPECT_GT((deviation_of<AdaptiveMetropolisTakesEveryDensity, AdaptiveMetropolis>(laws[0])), 2 * limit);
  EXPECT_LT((deviation_of<AdaptiveMetropolis, AdaptiveMetropolis>(laws[0])), limit);
}
TEST(Mutants, BarkerWithoutItsCorrection) {
  EXPECT_GT((deviation_of<BarkerWithoutCorrection, Barker>(laws[0])), 2 * limit);
  EXPECT_LT((deviation_of<Barker, Barker>(laws[0])), limit);
}
TEST(Mutants, MomentumNotRefreshed) {
  Hmc<double>::Settings settings;
  settings.num_steps = 2;
  settings.mass = Mass::unit;
  settings.step_rule = StepRule::multiplicative;
  EXPECT_GT((deviation_of<HmcKeepsMomentum, Hmc>(laws[0], settings)), 2 * limit);
  EXPECT_LT((deviation_of<Hmc, Hmc>(laws[0], settings)), limit);
}

TEST(Mutants, CheesKeepsItsMomentum) {
  EXPECT_GT((deviation_of<CheesKeepsMomentum, CheesHmc>(laws[0])), 2 * limit);
  EXPECT_LT((deviation_of<CheesHmc, CheesHmc>(laws[0])), limit);
}
TEST(Mutants, MamsCountsATurnBackwards) {
  EXPECT_GT((deviation_of<MamsCountsBackwards, Mams>(laws[0])), 2 * limit);
  EXPECT_LT((deviation_of<Mams, Mams>(laws[0])), limit);
}
TEST(Mutants, EntropyHmcForgetsItsNoise) {
  EXPECT_GT((deviation_of<EntropyForgetsItsNoise, EntropyHmc>(laws[0])), 2 * limit);
  EXPECT_LT((deviation_of<EntropyHmc, EntropyHmc>(laws[0])), limit);
}
TEST(Mutants, TemperedTakesEveryEnd) {
  TemperedMala<double>::Settings settings;
  settings.num_levels = 3;
  settings.least_beta = 0.05;
  EXPECT_GT((deviation_of<TemperedTakesEveryEnd, TemperedMala>(laws[0], settings)), 2 * limit);
  EXPECT_LT((deviation_of<TemperedMala, TemperedMala>(laws[0], settings)), limit);
}
TEST(Mutants, FisherMalaKeepsItsDrift) {
  FisherMala<double>::Settings settings;
  FisherMala<double>::resolve(settings, Scope::pooled);
  EXPECT_GT((deviation_of<FisherKeepsItsDrift, FisherMala>(laws[1], settings)), 2 * limit);
  EXPECT_LT((deviation_of<FisherMala, FisherMala>(laws[1], settings)), limit);
}
TEST(Mutants, LowRankForgetsTheNoiseOfItsDirections) {
  GadMalaLowRank<double>::Settings settings;
  EXPECT_GT((deviation_of<LowRankForgetsNoise, GadMalaLowRank>(laws[1], settings)), 2 * limit);
  EXPECT_LT((deviation_of<GadMalaLowRank, GadMalaLowRank>(laws[1], settings)), limit);
}
TEST(Mutants, NutsReplacesItsProposalBackwards) {
  EXPECT_GT((deviation_of<NutsBackwards, Nuts>(laws[0])), 2 * limit);
  EXPECT_LT((deviation_of<Nuts, Nuts>(laws[0])), limit);
}
TEST(Mutants, NutsChecksTheWholeTreeOnly) { EXPECT_GT((deviation_of<NutsWithoutSubtrees, Nuts>(laws[2])), 2 * limit); }
TEST(Mutants, NutsUsesAMomentumTwice) { EXPECT_GT((deviation_of<NutsKeepsMomentum, Nuts>(laws[0])), 2 * limit); }

}  // namespace
}  // namespace kilochain::testing_support
