// The chi-square sums against printed tables, the regions of twisted Gaussians against their own exact draws, and the
// density against plain loops over the paper's formula, rotated by the reflection written out as a matrix.
#include <gtest/gtest.h>

#include <cmath>

#include "host/registry/registry.hpp"
#include "targets/chi_square.hpp"
#include "targets/twisted_gaussian.hpp"
#include "tests/support/chains.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

const Context context = cpu_context(1);

TEST(ChiSquare, PrintedQuantiles) {
  // Of the tables that every textbook has, three decimals.
  const struct {
    double p;
    int n;
    double q;
  } table[] = {{0.95, 1, 3.841},  {0.99, 2, 9.210},  {0.90, 3, 6.251},   {0.95, 4, 9.488},
               {0.99, 8, 20.090}, {0.50, 10, 9.342}, {0.95, 25, 37.652}, {0.99, 30, 50.892}};
  for (const auto& row : table) {
    EXPECT_NEAR(chi_square_quantile(row.p, row.n), row.q, 5.1e-4) << row.p << ", " << row.n;
    EXPECT_TRUE(
        rounding<double>(chi_square_probability(chi_square_quantile(row.p, row.n), row.n), row.p, 4, row.n + 4, 1));
  }
  EXPECT_EQ(chi_square_probability(0, 3), 0);
}

struct Twisted {
  const char *dim, *twist, *rotated;
  double chi_square(const std::vector<double>& x) const {
    return TwistedGaussian<double>::chi_square(
        TwistedGaussian<double>::data({std::stoi(dim), std::stod(twist), 100, rotated[0] == 'y'}), x);
  }
};
const Twisted twists[] = {{"2", "0.1", "no"}, {"8", "0.03", "no"}, {"8", "0", "yes"}, {"5", "0.1", "yes"}};

TEST(TwistedGaussian, RegionsHoldTheirShareOfExactDraws) {
  for (const auto& c : twists) {
    const auto target =
        make_target<double>(context, "twisted_gaussian", {{"dim", c.dim}, {"twist", c.twist}, {"rotated", c.rotated}});
    const TargetInfo& info = target->info();
    const int draws = 20000;
    for (const double p : {0.683, 0.9, 0.95, 0.99}) {
      const double most = chi_square_quantile(p, info.dim);
      int inside = 0;
      for (int k = 0; k < draws; ++k)
        inside += c.chi_square(exact_draw(info, 12, static_cast<std::uint32_t>(k))) <= most;
      // 16 comparisons at z = 5: a false alarm in 1e-5 of all seeds.
      EXPECT_TRUE(statistical(inside / double(draws), p, std::sqrt(p * (1 - p) / draws), 5)) << c.dim << " " << p;
    }
  }
}

TEST(TwistedGaussian, DensityIsThePapersFormula) {
  for (const auto& c : twists) {
    const auto target =
        make_target<double>(context, "twisted_gaussian", {{"dim", c.dim}, {"twist", c.twist}, {"rotated", c.rotated}});
    const std::size_t n = static_cast<std::size_t>(target->info().dim);
    const double b = std::stod(c.twist);
    for (std::uint32_t k = 0; k < 10; ++k) {
      const std::vector<double> x = exact_draw(target->info(), 5, k);
      // The reflection that exchanges e_1 and (1, ..., 1)/sqrt(n): I - 2 v v^T/|v|^2, v their difference.
      std::vector<double> y = x;
      if (c.rotated[0] == 'y') {
        std::vector<double> v(n, -1 / std::sqrt(double(n)));
        v[0] += 1;
        double square = 0, along = 0;
        for (std::size_t i = 0; i < n; ++i) square += v[i] * v[i], along += v[i] * x[i];
        for (std::size_t i = 0; i < n; ++i) y[i] -= 2 * v[i] * along / square;
      }
      const double u = y[1] + b * y[0] * y[0] - 100 * b;
      double q = y[0] * y[0] / 100 + u * u;
      for (std::size_t i = 2; i < n; ++i) q += y[i] * y[i];
      EXPECT_TRUE(rounding<double>(c.chi_square(x), q, 64, double(n), 1 + q + 100 * b));
      std::vector<double> rows(4 * padded(n));
      std::copy(x.begin(), x.end(), rows.begin());
      double lp = 0, accepted = 0;
      Needs needs = Needs::value;
      const std::size_t row = padded(n);
      target->evaluate(
          {rows.data(), rows.data() + row, rows.data() + 2 * row, rows.data() + 3 * row, &lp, &accepted, &needs, row},
          0, 1);
      const double want = -0.5 * q - 0.5 * std::log(100.0) - 0.5 * double(n) * std::log(2 * M_PI);
      EXPECT_TRUE(rounding<double>(lp, want, 64, double(n), std::abs(want) + 100 * b));
    }
  }
}

}  // namespace
}  // namespace kilochain::testing_support
