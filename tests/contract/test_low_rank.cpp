// gad_mala_low_rank: its log r and its signal against plain loops over L = D [I, U], and what it learns.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/gad_mala_low_rank.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/chains.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/single_chain.hpp"

namespace kilochain::testing_support {
namespace {

using LowRank = GadMalaLowRank<double>;
constexpr Index n = 4, r = 3;

/// log d, then the columns of U.
using Parameters = std::array<double, n*(1 + r)>;
using Numbers = std::array<double, n + r>;

/// Entry (i, k) of L, n x (n + r).
double entry(const Parameters& q, Index i, Index k) {
  const double d = std::exp(q[i]);
  return k >= n ? d * q[n * (1 + k - n) + i] : k == i ? d : 0;
}
Numbers whitened(const Parameters& q, const std::vector<double>& g) {
  Numbers out = {};
  for (Index k = 0; k < n + r; ++k)
    for (Index i = 0; i < n; ++i) out[k] += entry(q, i, k) * g[i];
  return out;
}

/// One move from x with the noise eps.
struct Move {
  std::vector<double> x, gx;
  Numbers eps;

  Numbers h(const Parameters& q) const {
    Numbers out = whitened(q, gx);
    for (Index k = 0; k < n + r; ++k) out[k] = 0.5 * out[k] + eps[k];
    return out;
  }
  std::vector<double> y(const Parameters& q) const {
    std::vector<double> out = x;
    const Numbers step = h(q);
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < n + r; ++k) out[i] += entry(q, i, k) * step[k];
    return out;
  }
  /// |eps|^2/2 - |h + L^T g(y)/2|^2/2
  double noise(const Parameters& q, const std::vector<double>& gy) const {
    const Numbers step = h(q), back = whitened(q, gy);
    double sum = 0;
    for (Index k = 0; k < n + r; ++k) sum += 0.5 * eps[k] * eps[k] - 0.5 * std::pow(step[k] + 0.5 * back[k], 2);
    return sum;
  }
};

Parameters learnt(const LowRank::Adaptation& a) {
  Parameters q;
  for (Index i = 0; i < n; ++i) {
    q[i] = std::log(a.d[i]);
    for (Index k = 0; k < r; ++k) q[n * (1 + k) + i] = a.u.row(k, n)[i];
  }
  return q;
}

// With g(y) held, the signal is the derivative of log r in log d_i and u_ik, by fourth-order differences: errors below
// 1e-8 for step 1e-3.
TEST(LowRankSignal, IsTheDerivativeThatDropsTheHessian) {
  const auto target = make_target<double>(context, "banana", {{"dim", "4"}, {"bend", "0.3"}, {"variance", "2"}});
  const Oracle oracle{*target};
  LowRank::Settings settings;
  settings.rank = r;
  settings.initial_scale = 1.2;
  SingleChain<LowRank> chain(context, *target, settings);
  chain.start(exact_draw(target->info(), 3, 0));
  int checked = 0;
  for (std::int64_t t = 0; t < 400 && checked < 5; ++t) {
    const LowRank::State& st = chain.state;
    Move move{std::vector<double>(st.x.data, st.x.data + n), {}, {}};
    const double here = oracle.lp(move.x, &move.gx);
    const Parameters q = learnt(chain.adaptation);
    chain.iterate(Rng{31, 0, t}, Schedule{t, 400, 1, true});
    for (Index i = 0; i < n; ++i) move.eps[i] = st.eps[i];
    for (Index k = 0; k < r; ++k) move.eps[n + k] = st.eps_u[k];
    const double p = chain.info.acceptance_rate;
    const ChainSource<double> source{chain.signal()};
    const auto signal = [&](Index k, Index i) {
      return k == 0 ? source(i, i, std::size_t(i)) : source.vector((k - 1) * Index(padded(n)) + i);
    };
    if (p == 1) {
      for (Index k = 0; k <= r; ++k)
        for (Index i = 0; i < n; ++i) ASSERT_EQ(signal(k, i), 0) << "log r >= 0 has no gradient";
      continue;
    }
    if (p < 0.05) continue;
    std::vector<double> gy;
    const std::vector<double> y = move.y(q);
    const double there = oracle.lp(y, &gy);
    EXPECT_NEAR(there - here + move.noise(q, gy), std::log(p), 1e-10);
    for (Index k = 0; k <= r; ++k)
      for (Index i = 0; i < n; ++i) {
        const auto moved = [&](double by) {
          Parameters at = q;
          at[n * k + i] += by;
          const std::vector<double> to = move.y(at);
          double value = move.noise(at, gy);
          for (Index j = 0; j < n; ++j) value += gy[j] * (to[j] - y[j]);
          return value;
        };
        const double h = 1e-3, slope = (moved(-2 * h) - 8 * moved(-h) + 8 * moved(h) - moved(2 * h)) / (12 * h);
        EXPECT_NEAR(signal(k, i), slope, 1e-7 * (1 + std::abs(slope))) << k << ", " << i;
      }
    ++checked;
  }
  EXPECT_EQ(checked, 5) << "the moves of this test are not typical";
}

// Pooled, it finds a direction that is fourteen times as long as the other: the correlation 0.99 of L L^T within 0.005.
TEST(LowRank, FindsACorrelation) {
  const Index chains = 64;
  const auto target = make_target<double>(context, "gaussian", {{"preset", "gauss2d_corr"}});
  CpuChains<LowRank, double> sampler(context, chains, 2, Scope::pooled, {});
  start_at<double>(context, *target, sampler, chains, exact_points<double>(target->info(), chains, 1));
  run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{0, 4000, 4000, true, 9});
  const auto a = sampler.view().adaptation<HostTeam::panel<double>>(0);
  double c[2][2] = {{1, 0}, {0, 1}};  // I + U U^T
  for (Index k = 0; k < LowRank::columns({}, 2); ++k)
    for (Index i = 0; i < 2; ++i)
      for (Index j = 0; j < 2; ++j) c[i][j] += a.u.row(k, 2)[i] * a.u.row(k, 2)[j];
  EXPECT_NEAR(c[0][1] / std::sqrt(c[0][0] * c[1][1]), 0.99, 0.005);
}

}  // namespace
}  // namespace kilochain::testing_support
