// Elementary functions against the C library in a wider type: the error bounds that kernels/device/math.hpp promises,
// and what it says about zero, infinity and NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/device/math.hpp"

namespace kilochain {
namespace {

template <class Real>
class Math : public ::testing::Test {
 protected:
  using Wide = long double;
  using Limits = std::numeric_limits<Real>;
  /// Error of got in units of the last place of want.
  static double ulps(Real got, Wide want) {
    int exponent;
    std::frexp(want, &exponent);
    const Wide ulp = std::ldexp(Wide(1), std::max(exponent - Limits::digits, Limits::min_exponent - Limits::digits));
    return static_cast<double>(std::abs((Wide(got) - want) / ulp));
  }
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Math, Reals);

TYPED_TEST(Math, ExpWithinTwoUlp) {
  using Real = TypeParam;
  const Real low = math::Bits<Real>::lowest, high = math::Bits<Real>::highest;
  double worst = 0;
  const int points = 400000;
  for (int k = 0; k <= points; ++k) {
    const Real x = low + (high - low) * (Real(k) / Real(points));
    worst = std::max(worst, this->ulps(math::exp(x), std::exp(static_cast<long double>(x))));
    const Real near = Real(2) * (Real(k) / Real(points)) - Real(1);
    worst = std::max(worst, this->ulps(math::exp(near), std::exp(static_cast<long double>(near))));
  }
  EXPECT_LE(worst, 2);
}

TYPED_TEST(Math, ExpAtTheEdges) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  EXPECT_EQ(math::exp(Real(0)), Real(1));
  EXPECT_EQ(math::exp(-Limits::infinity()), Real(0));
  EXPECT_EQ(math::exp(Real(-1e30)), Real(0));
  EXPECT_EQ(math::exp(Limits::infinity()), Limits::infinity());
  EXPECT_EQ(math::exp(math::Bits<Real>::highest * Real(1.01)), Limits::infinity());
  EXPECT_TRUE(std::isfinite(math::exp(math::Bits<Real>::highest)));
  EXPECT_TRUE(std::isnan(math::exp(Limits::quiet_NaN())));
}

TYPED_TEST(Math, LogWithinTwoUlp) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  double worst = 0;
  const int points = 200000;
  for (int k = 1; k < points; ++k) {
    const Real unit = Real(k) / Real(points);  // (0, 1), where Box-Muller asks
    worst = std::max(worst, this->ulps(math::log(unit), std::log(static_cast<long double>(unit))));
    const Real wide =
        std::ldexp(Real(1) + unit, (k % (Limits::max_exponent - Limits::min_exponent - 2)) + Limits::min_exponent);
    worst = std::max(worst, this->ulps(math::log(wide), std::log(static_cast<long double>(wide))));
    const Real near = Real(1) + (unit - Real(0.5)) * Real(0.01);
    worst = std::max(worst, this->ulps(math::log(near), std::log(static_cast<long double>(near))));
  }
  EXPECT_LE(worst, 2);
  EXPECT_EQ(math::log(Real(1)), Real(0));
}

TYPED_TEST(Math, SineAndCosineWithinOneUlpOfOne) {
  using Real = TypeParam;
  const long double turn = 6.283185307179586476925286766559L;
  double worst = 0;
  const int points = 400000;
  for (int k = 0; k <= points; ++k) {
    const Real u = Real(k) / Real(points) - Real(0.5);
    Real s, c;
    math::sincos_turns(u, s, c);
    const long double angle = turn * static_cast<long double>(u);
    worst = std::max({worst, static_cast<double>(std::abs(s - std::sin(angle))),
                      static_cast<double>(std::abs(c - std::cos(angle)))});
  }
  EXPECT_LE(worst, static_cast<double>(std::numeric_limits<Real>::epsilon()));
}

TYPED_TEST(Math, FiniteMeansFinite) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_TRUE(math::finite(Limits::max()));
  EXPECT_TRUE(math::finite(Limits::denorm_min()));
  EXPECT_FALSE(math::finite(Limits::infinity()));
  EXPECT_FALSE(math::finite(-Limits::infinity()));
  EXPECT_FALSE(math::finite(Limits::quiet_NaN()));
}

}  // namespace
}  // namespace kilochain
