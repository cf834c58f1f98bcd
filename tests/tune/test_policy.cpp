// Settings drawn at every step from a policy: the mixture leaves the law unchanged, one that looks at the state first
// does not; rows come as often as they should; a step may be fixed; and a policy's file is read whole or refused.
#include <gtest/gtest.h>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/hmc.hpp"
#include "tests/support/law.hpp"
#include "tests/support/scratch_files.hpp"
#include "tests/support/single_chain.hpp"

namespace kilochain::testing_support {
namespace {

constexpr double limit = 5;  // |z|, of 24 functions: a false alarm in 3e-5 of seeds each time (tests/support/law.hpp)
const Context context = cpu_context(1);

/// HMC whose policy looks at where the chain is: long trajectories on one side of the median, short ones on the other.
template <class Real>
struct HmcPolicyByPlace : Hmc<Real> {
  using Base = Hmc<Real>;
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                         const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                         Index n) {
    typename Base::Settings one = s;
    const int row = st.x[0] < Real(1) ? 0 : s.policy.rows - 1;
    one.policy.rows = 1;
    for (int k = 0; k < 2; ++k) one.policy.value[0][k] = s.policy.value[row][k];
    team.sync();  // all have read the place
    Base::draw(team, rng, one, at, a, st, query, n);
  }
};

Hmc<double>::Settings with_policy(const std::vector<std::pair<double, double>>& rows) {
  Hmc<double>::Settings s;
  s.policy.has[0] = s.policy.has[1] = true;
  for (const auto& [size, number] : rows) {
    s.policy.value[s.policy.rows][0] = size;
    s.policy.value[s.policy.rows++][1] = number;
  }
  return s;
}
const auto wide = with_policy({{0.05, 1}, {0.3, 2}, {0.6, 3}, {0.9, 5}, {1.4, 2}, {1.8, 1}});

template <template <class> class Sampler>
double deviation_on(const char* name, const SettingTexts& target_settings) {
  const Index chains = 512;
  const auto target = make_target<double>(context, name, target_settings);
  const LawFunctions functions(target->info(), 200000);
  CpuChains<Hmc<double>, double> teacher(context, chains, target->info().dim, Scope::pooled, wide);
  warm_up(context, *target, teacher, chains, 200);
  CpuChains<Sampler<double>, double> sampler(context, chains, target->info().dim, Scope::pooled, wide);
  sampler.load(teacher.save());
  return law_deviation(context, *target, sampler, chains, functions, 100);
}

TEST(Policy, LeavesTheLawUnchanged) {
  EXPECT_LT((deviation_on<Hmc>("gaussian_mixture", {{"dim", "5"}, {"means", "1"}})), limit);
  EXPECT_LT((deviation_on<Hmc>("banana", {{"dim", "3"}, {"bend", "0.4"}, {"variance", "1.5"}})), limit);
  EXPECT_LT((deviation_on<Hmc>("gaussian", {{"preset", "gauss2d_corr"}})), limit);
}
TEST(Policy, ThatLooksAtTheStateDoesNot) {
  EXPECT_GT((deviation_on<HmcPolicyByPlace>("gaussian_mixture", {{"dim", "5"}, {"means", "1"}})), 2 * limit);
}

/// Rows of 12 000 draws against the uniform law: chi-square of 5 degrees of freedom below 25.7 (false alarms 1e-4).
TEST(Policy, DrawsItsRowsEvenly) {
  const Index chains = 60, n = 3;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "3"}, {"means", "0"}});
  CpuChains<Hmc<double>, double> sampler(context, chains, n, Scope::pooled, wide);
  start_at<double>(context, *target, sampler, chains, normal_points<double>(chains, n, 8));
  Recorded<double> out(chains, n, 200);
  run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{0, 200, 0, false, 9}, &out);
  std::vector<double> count(6);
  for (Index c = 0; c < chains; ++c)
    for (std::int64_t t = 0; t < 200; ++t) {
      std::size_t row = 0;
      while (row < 6 && out.stat(3, c, t) != static_cast<float>(wide.policy.value[row][0])) ++row;
      ASSERT_LT(row, 6u) << out.stat(3, c, t);
      EXPECT_EQ(out.stat(2, c, t), wide.policy.value[row][1]) << "the number of steps of the same row";
      ++count[row];
    }
  double chi_square = 0;
  for (const double k : count) chi_square += (k - 2000) * (k - 2000) / 2000;
  EXPECT_LT(chi_square, 25.7);
}

/// In warm-up the step is the adapted one and the number as set: only kept draws draw from a policy or have a fixed
/// step.
TEST(Policy, ActsOnKeptDrawsAlone) {
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "3"}, {"means", "0"}});
  auto s = wide;
  s.num_steps_jitter = 0;
  SingleChain<Hmc<double>> chain(context, *target, s);
  chain.start({0.1, 0.2, 0.3});
  Schedule warm;
  warm.adapting = true, warm.num_warmup = 10;
  EXPECT_EQ(chain.iterate(Rng{3, 0, 0}, warm), 10);
  EXPECT_EQ(chain.info.stats[3], 0.5 / 3);
  chain.iterate(Rng{3, 0, 1}, Schedule{});
  EXPECT_NE(chain.info.stats[3], 0.5 / 3);
  Hmc<double>::Settings fixed;
  fixed.step_rule = StepRule::fixed, fixed.step_size = 0.7;
  SingleChain<Hmc<double>> other(context, *target, fixed);
  other.start({0.1, 0.2, 0.3});
  *other.adaptation.step = 0.25;  // as warm-up might leave it
  other.iterate(Rng{3, 0, 0}, warm);
  EXPECT_EQ(other.info.stats[3], 0.25);
  other.iterate(Rng{3, 0, 1}, Schedule{});
  EXPECT_EQ(other.info.stats[3], 0.7);
}

/// A column that the file leaves out stays as it is set.
TEST(PolicyFile, IsReadByColumns) {
  ScratchFiles files;
  const auto parse = [&](const std::string& bytes) {
    return parse_settings<Hmc<double>>("hmc", {{"policy", files.write("policy.csv", bytes)}}).policy;
  };
  const auto both = parse("num_steps,step_size\n3,0.5\n7,0.25\n");
  EXPECT_EQ(both.rows, 2);
  EXPECT_TRUE(both.has[0] && both.has[1]);
  EXPECT_EQ(both.value[1][0], 0.25);
  EXPECT_EQ(both.value[1][1], 7);
  const auto one = parse("num_steps\n3\n");
  EXPECT_FALSE(one.has[0]);
  EXPECT_TRUE(one.has[1]);
  EXPECT_EQ(drawn_by_policy<Hmc<double>>(), (std::vector<std::string>{"step_size", "num_steps"}));
}
TEST(PolicyFile, IsRefusedWhole) {
  ScratchFiles files;
  const auto refuses = [&](const std::string& bytes, const std::string& text) {
    const std::string path = files.write("policy.csv", bytes);
    expect_error(
        [&] {
          parse_settings<Hmc<double>>("hmc", {{"policy", path}});
        },
        ExitStatus::data, "hmc: policy = " + path, text);
  };
  refuses("stepsize\n1\n", " (column \"stepsize\" is no setting that a policy draws). Did you mean step_size?");
  refuses("step_size\n0.1\n-1\n", " (line 3: step_size = -1). Write a number > 0?");
  refuses("num_steps\n2.5\n", " (line 2: num_steps = 2.5). Write a whole number >= 1 and <= 1048576?");
  std::string many = "step_size\n";
  for (int k = 0; k < 65; ++k) many += "0.1\n";
  refuses(many, " (65 rows, there is room for 64). Keep fewer points?");
}

}  // namespace
}  // namespace kilochain::testing_support
