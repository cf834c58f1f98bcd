// Mixtures of normal laws fitted to draws: those that made the draws are found, no more of them, and none of too few.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/learn/normal_mixture.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using Law = Overlay::Law;

struct Drawn {
  std::vector<Law> laws;  ///< largest share first
  MatrixXd x;
};
/// `count` draws of three laws with 0.5, 0.3 and 0.2 of them: two narrow ones, and a wide one about both.
Drawn three_laws(Eigen::Index n, Eigen::Index count) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Drawn out;
  constexpr double shares[] = {0.5, 0.3, 0.2}, sds[] = {0.1, 0.2, 3}, at[] = {-2, 2, 0};
  for (int k = 0; k < 3; ++k) {
    Law law{VectorXd::Constant(n, at[k]), sds[k] * MatrixXd::Identity(n, n), std::log(shares[k])};
    for (Eigen::Index i = 1; i < n; ++i) law.factor(i, i - 1) = 0.5 * sds[k];
    out.laws.push_back(std::move(law));
  }
  out.x.resize(n, count);
  for (Eigen::Index d = 0; d < count; ++d) {
    const auto part = static_cast<double>(d) / static_cast<double>(count);
    const Law& law = out.laws[part < 0.5 ? 0 : part < 0.8 ? 1 : 2];
    out.x.col(d) = law.mean + law.factor * VectorXd::NullaryExpr(n, [&] { return normal(random); });
  }
  return out;
}

/// Beginning far off: the true laws twice as wide, each of them twice, beside each other.
std::vector<Law> far_off(const std::vector<Law>& laws) {
  std::vector<Law> out;
  for (const Law& law : laws)
    for (const double off : {-1.0, 1.0}) {
      Law start = law;
      start.mean += off * law.factor.diagonal(), start.factor *= 2, start.log_share = 0;
      out.push_back(std::move(start));
    }
  return out;
}

// Errors are those of a mean and of a standard deviation of so many draws, 5 standard errors (one false alarm in
// 1.7 million); twice that, as the wide law's draws among the narrow ones' are told only by their law.
TEST(NormalMixture, FindsTheLawsThatMadeTheDraws) {
  for (const Eigen::Index n : {1, 2, 5}) {
    constexpr Eigen::Index count = 4000;
    const Drawn drawn = three_laws(n, count);
    const std::vector<Law> found = fit_mixture(drawn.x, far_off(drawn.laws));
    ASSERT_EQ(found.size(), 3u) << n;
    for (std::size_t k = 0; k < 3; ++k) {
      const Law &law = found[k], &expected = drawn.laws[k];
      const double share = std::exp(expected.log_share), of = share * count;
      EXPECT_NEAR(std::exp(law.log_share) / count, share, 10 * std::sqrt(share * (1 - share) / count)) << n << " " << k;
      for (Eigen::Index i = 0; i < n; ++i) {
        const double sd = expected.factor.row(i).norm();
        EXPECT_NEAR(law.mean[i], expected.mean[i], 10 * sd / std::sqrt(of)) << n << " " << k << " " << i;
        EXPECT_NEAR(law.factor.row(i).norm() / sd, 1, 10 / std::sqrt(2 * of)) << n << " " << k << " " << i;
      }
    }
  }
}

TEST(NormalMixture, OfOneLawIsThatLaw) {
  const Drawn drawn = three_laws(3, 2000);
  const MatrixXd x = drawn.x.leftCols(1000);  // of the first one
  const std::vector<Law> found = fit_mixture(x, far_off(drawn.laws));
  const auto all = law_of_all(x);
  ASSERT_TRUE(all && found.size() == 1);
  EXPECT_LT((found[0].mean - all->mean).norm(), 1e-12);
  EXPECT_LT((found[0].factor - all->factor).norm(), 1e-12);
}

TEST(NormalMixture, IsNoneOfTooFewDrawsOrOfCopies) {
  const Drawn drawn = three_laws(4, 11);
  EXPECT_TRUE(fit_mixture(drawn.x, drawn.laws).empty());
  const MatrixXd copies = drawn.x.col(0).replicate(1, 100);
  EXPECT_FALSE(law_of_all(copies));
  EXPECT_TRUE(fit_mixture(copies, drawn.laws).empty());
}

}  // namespace
}  // namespace kilochain
