// What the factor walks learn, against the printed recursions in plain loops over dense matrices, one chain at a time,
// from the moves that the chain itself made; mutants that learn from something else are far off. Pooled with one chain
// is that chain alone; pooled over many finds the covariance.
#include <gtest/gtest.h>

#include <deque>

#include "host/chains/cpu_chains.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/chains.hpp"
#include "tests/support/single_chain.hpp"
#include "tests/support/tolerance.hpp"
#include "tests/support/walk_mutants.hpp"

namespace kilochain::testing_support {
namespace {

using Vector = std::vector<double>;

struct Matrix {
  std::size_t n;
  Vector v;
  explicit Matrix(Index n_) : n(std::size_t(n_)), v(n * n) {
    for (std::size_t i = 0; i < n; ++i) v[i * n + i] = 1;
  }
  double& operator()(std::size_t i, std::size_t j) { return v[i * n + j]; }
  double operator()(std::size_t i, std::size_t j) const { return v[i * n + j]; }
  void combine(double keep, double add, const Vector& a) {  // C <- keep C + add a a^T
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) (*this)(i, j) = keep * (*this)(i, j) + add * a[i] * a[j];
  }
  double determinant() const {
    Matrix m = *this;
    double det = 1;
    for (std::size_t k = 0; k < n; ++k) {
      det *= m(k, k);
      for (std::size_t i = k + 1; i < n; ++i)
        for (std::size_t j = k + 1; j < n; ++j) m(i, j) -= m(i, k) * m(k, j) / m(k, k);
    }
    return det;
  }
  double to_one() const { return std::pow(determinant(), -1.0 / double(n)); }  ///< what makes the determinant 1
  void scale(double by) {
    for (double& e : v) e *= by;
  }
  void only_diagonal() {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (i != j) (*this)(i, j) = 0;
  }
};

/// One iteration as a plain loop sees it.
struct Move {
  Vector x, y, next;  ///< before, candidate, after
  double sigma;       ///< in force
  bool accepted;
  Vector step() const {
    Vector s = y;
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = (y[i] - x[i]) / sigma;
    return s;
  }
};

/// The recursions as printed: C after each move, and sigma where it is learnt.
struct CmaReference {
  Matrix C;
  Vector p;
  double success = 0.234, sigma = 1;
  CmaReference(Index n) : C(n), p(std::size_t(n)) {}
  void learn(const Move& m, bool diagonal) {
    const double n = double(p.size()), l = 2 / (2 + n), r = 2 / (n * n + 6);
    const Vector y = m.step();
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = (1 - l) * p[i] + (m.accepted ? std::sqrt(l * (2 - l)) * y[i] : 0);
    const double keep = 1 - r + (m.accepted ? 0 : r * l * (2 - l));
    const double by = C.to_one();  // of the change before: it comes with this one
    C.combine(1, r / keep, p);     // C / keep: its own scale is that of the next determinant
    if (diagonal) C.only_diagonal();
    C.scale(by);
    success = (1 - 1.0 / 12) * success + (m.accepted ? 1.0 / 12 : 0);
    sigma *= std::exp((success - 0.234) / ((1 + n / 2) * (1 - 0.234)));
  }
};
struct GaussianAdaptationReference {
  Matrix C;
  double sigma = 1;
  GaussianAdaptationReference(Index n) : C(n) {}
  void learn(const Move& m, bool diagonal) {
    const double n = double(C.n), l = std::log(n + 1) / ((n + 1) * (n + 1)), P = 1 / std::exp(1.0);
    if (m.accepted) {
      const double by = C.to_one();
      C.combine(1, l / (1 - l), m.step());
      if (diagonal) C.only_diagonal();
      C.scale(by);
    }
    sigma *= m.accepted ? 1 + l * (1 - P) : 1 - l * P;
  }
};
struct MetropolisReference {
  Matrix C;
  Vector mean;
  double sigma = 1, t = 0;
  MetropolisReference(Index n) : C(n) {}
  void learn(const Move& m, bool diagonal) {
    if (mean.empty()) mean = m.x;
    const double rho = 1 / (t + 2);
    Vector d = m.next;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] -= mean[i], mean[i] += rho * d[i];
    C.combine(1 - rho, rho, d);
    if (diagonal) C.only_diagonal();
    t += 1;
    if (t == 100) sigma = 2.4 / std::sqrt(double(C.n));
  }
};
struct ProposalReference {
  Matrix C;
  double sigma = 1;
  int t = 0;
  std::deque<Vector> window;
  ProposalReference(Index n) : C(n) {}
  void learn(const Move& m, bool diagonal) {
    window.push_back(m.next);
    if (window.size() > 150) window.pop_front();
    if (++t % 50 != 0) return;
    const std::size_t n = C.n;
    Vector mean(n);
    for (const auto& x : window)
      for (std::size_t i = 0; i < n; ++i) mean[i] += x[i] / double(window.size());
    C = Matrix(Index(n));
    for (double& e : C.v) e *= 1e-6;
    for (const auto& x : window)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) C(i, j) += (x[i] - mean[i]) * (x[j] - mean[j]) / double(window.size() - 1);
    if (diagonal) C.only_diagonal();
    sigma = 2.4 / std::sqrt(double(n));
  }
};

/// The largest relative difference between L L^T, sigma and the reference over 400 iterations of one chain.
template <class Sampler, class Reference>
double deviation(Index n, typename Sampler::Settings settings) {
  const auto target = make_target<double>(context, "twisted_gaussian",
                                          {{"dim", std::to_string(n)}, {"twist", "0.2"}, {"variance", "4"}});
  SingleChain<Sampler> chain(context, *target, settings);
  chain.start(exact_draw(target->info(), 5, 0));
  const bool diagonal = settings.factor == FactorShape::diagonal;
  constexpr int P = HostTeam::panel<double>;
  Reference reference(n);
  double worst = 0;
  int accepted = 0;
  for (std::int64_t t = 0; t < 400; ++t) {
    Move m;
    m.x.assign(chain.state.x.data, chain.state.x.data + n);
    m.sigma = *chain.adaptation.scale;
    const Schedule at{t, 400, 1, true};
    chain.iterate(Rng{8, 0, t}, at);
    m.y.assign(chain.query.point.data, chain.query.point.data + n);
    m.next.assign(chain.state.x.data, chain.state.x.data + n);
    m.accepted = chain.info.accepted;
    accepted += m.accepted;
    Sampler::adapt(chain.team, chain.settings(), at, ChainSource<double>{chain.signal()}, chain.adaptation, n);
    reference.learn(m, diagonal);
    double largest = 0, off = 0;
    for (Index i = 0; i < n; ++i)
      for (Index j = diagonal ? i : 0; j <= i; ++j) {
        largest = std::max(largest, std::abs(reference.C(std::size_t(i), std::size_t(j))));
        off = std::max(
            off, std::abs(product_entry<P>(chain.adaptation.L, i, j) - reference.C(std::size_t(i), std::size_t(j))));
      }
    worst = std::max({worst, off / largest, std::abs(*chain.adaptation.scale / reference.sigma - 1)});
  }
  EXPECT_GT(accepted, 40) << "a chain that stands still teaches nothing";
  EXPECT_LT(accepted, 360);
  return worst;
}

AdaptiveProposal<double>::Settings short_window() {
  AdaptiveProposal<double>::Settings s;
  s.history = 150, s.refresh = 50;
  return s;
}

// 400 updates of matrices of condition 100 at most: 1e-9 is 400 n 1e3 eps.
constexpr double same = 1e-9, far = 1e-2;

TEST(FactorWalks, LearnByThePrintedRecursions) {
  for (const FactorShape shape : {FactorShape::dense, FactorShape::diagonal})
    for (const Index n : {2, 3, 8, 9}) {
      SCOPED_TRACE(n);
      const auto with = [&](auto s) {
        s.factor = shape;
        return s;
      };
      EXPECT_LT((deviation<Cma<double>, CmaReference>(n, with(Cma<double>::Settings{}))), same);
      EXPECT_LT((deviation<GaussianAdaptation<double>, GaussianAdaptationReference>(
                    n, with(GaussianAdaptation<double>::Settings{}))),
                same);
      EXPECT_LT((deviation<AdaptiveProposal<double>, ProposalReference>(n, with(short_window()))), same);
      EXPECT_LT((deviation<AdaptiveMetropolisHaario<double>, MetropolisReference>(
                    n, with(AdaptiveMetropolisHaario<double>::Settings{}))),
                same);
    }
}

TEST(Mutants, GaussianAdaptationWithoutItsNormalisation) {
  GaussianAdaptation<double>::Settings s;
  s.normalised = false;
  EXPECT_GT((deviation<GaussianAdaptation<double>, GaussianAdaptationReference>(3, s)), far);
}
TEST(Mutants, CmaPathThatTakesRejectedSteps) {
  EXPECT_GT((deviation<CmaPathAlways<double>, CmaReference>(3, {})), far);
}
TEST(Mutants, WindowsThatHoldTheCandidate) {
  EXPECT_GT((deviation<ProposalOfCandidates<double>, ProposalReference>(3, short_window())), far);
  EXPECT_GT((deviation<MetropolisOfCandidates<double>, MetropolisReference>(3, {})), far);
}

/// One pooled chain learns what it learns alone; its rates must be the same for that.
template <class Sampler>
void pooled_is_alone(Index n) {
  typename Sampler::Settings settings;
  settings.pooled_speedup = 1;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", std::to_string(n)}});
  std::vector<double> draws[2];
  for (const Scope scope : {Scope::chain, Scope::pooled}) {
    auto s = settings;
    Sampler::resolve(s, scope);
    CpuChains<Sampler, double> chains(context, 1, n, scope, s);
    start_at<double>(context, *target, chains, 1, normal_points<double>(1, n, 8));
    Recorded<double> out(1, n, 300);
    run_phase<double>(context, *target, chains, 1, scope, Phase{0, 300, 300, true, 9}, &out);
    draws[scope == Scope::pooled] = out.draws;
  }
  for (std::size_t k = 0; k < draws[0].size(); ++k) ASSERT_NEAR(draws[0][k], draws[1][k], 1e-7) << n << ", " << k;
}

TEST(FactorWalks, OnePooledChainIsThatChainAlone) {
  for (const Index n : {2, 5}) {
    pooled_is_alone<Cma<double>>(n);
    pooled_is_alone<GaussianAdaptation<double>>(n);
    pooled_is_alone<AdaptiveProposal<double>>(n);
  }
}

/// L L^T of 64 pooled chains on a Gaussian of correlation 0.99: that correlation within 0.01.
template <class Sampler>
void finds_the_correlation() {
  typename Sampler::Settings settings;
  Sampler::resolve(settings, Scope::pooled);
  const Index chains = 64;
  const auto target = make_target<double>(context, "gaussian", {{"preset", "gauss2d_corr"}});
  CpuChains<Sampler, double> sampler(context, chains, 2, Scope::pooled, settings);
  start_at<double>(context, *target, sampler, chains, exact_points<double>(target->info(), chains, 1));
  run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{0, 4000, 4000, true, 9});
  const Vector L = sampler.learnt(0).factor;
  EXPECT_NEAR(L[2] / std::hypot(L[2], L[3]), 0.99, 0.01);
}
TEST(FactorWalks, PooledChainsFindTheCorrelation) {
  finds_the_correlation<Cma<double>>();
  finds_the_correlation<GaussianAdaptation<double>>();
  finds_the_correlation<AdaptiveProposal<double>>();
  finds_the_correlation<AdaptiveMetropolisHaario<double>>();
}

/// The factor of vanishing adaptation, and that it reaches the rules: after a long time nothing moves any more.
TEST(VanishingAdaptation, Factor) {
  ScheduleSettings s;
  Schedule at;
  at.rate = 0.5, at.t = 99;
  EXPECT_EQ(rate_at(s, at), 0.5);
  s.adapt_schedule = AdaptSchedule::vanishing, s.adapt_delay = 1;
  EXPECT_TRUE(rounding<double>(rate_at(s, at), 0.5 * std::pow(100.0, -0.6), 8, 1, 1));
  s.adapt_exponent = 1, s.adapt_delay = 10;
  EXPECT_TRUE(rounding<double>(rate_at(s, at), 0.5 / 10.9, 4, 1, 1));
}
class EveryVanishingSampler : public ::testing::TestWithParam<std::string> {};
TEST_P(EveryVanishingSampler, MovesLessAndLess) {
  const Index n = 3;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "3"}});
  // |log| of what the step, or the first entry of L, is multiplied by in 400 iterations when `from` are over already.
  const auto change = [&](const std::string& schedule, std::int64_t from) {
    const SettingTexts settings = {{"adapt_schedule", schedule}, {"adapt_exponent", "1"}, {"adapt_delay", "1"}};
    const auto chains = make_chains<double>(context, GetParam(), settings, 1, n, Scope::chain);
    start_at(context, *target, *chains, 1, normal_points<double>(1, n, 8));
    const auto first = chains->learnt(0).factor;
    Segment<double> segment;
    segment.seed = 3, segment.until = 400, segment.phase_start = -from;
    segment.schedule.adapting = true, segment.schedule.num_warmup = from + 400;
    Recorded<double> out(1, n, 400);
    segment.recording = out.recording(0);
    std::atomic<bool> stop{false};
    Rounds<double>(context, *target, *chains, 1).run(segment, stop);
    const auto& stats = find_sampler(GetParam()).stats;
    const auto k = std::find(stats.begin(), stats.end(), "step_size") - stats.begin();
    const double ratio = k < std::ssize(stats) ? double(out.stat(int(k), 0, 399)) / double(out.stat(int(k), 0, 0))
                                               : chains->learnt(0).factor[0] / first[0];
    return std::abs(std::log(ratio));
  };
  EXPECT_LT(change("vanishing", 1000000), 2e-3) << "400 rates of 1e-6 at most";
  EXPECT_GT(change("constant", 1000000), 4e-3);
}
std::vector<std::string> scheduled_samplers() {
  std::vector<std::string> out;
  for (const auto& e : samplers_of(Family::density))
    for (const auto& s : e.settings)
      if (s.name == "adapt_schedule" && e.name != "adaptive_metropolis_haario" && e.name != "adaptive_proposal" &&
          e.name != "hmc")
        out.push_back(e.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryVanishingSampler, ::testing::ValuesIn(scheduled_samplers()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace kilochain::testing_support
