// Forward-mode automatic differentiation: a value and its derivatives along W directions, on both machines, no heap.
//   f(v + sum_k e_k d_k) = f(v) + f'(v) sum_k e_k d_k, e_j e_k = 0 (Griewank and Walther 2008, ch. 3).
// Base may be a Dual itself: Dual<Dual<double, 1>, W> carries second derivatives along one direction.
// Cost: W + 1 times that of the function, W in the lanes of a register
// (docs/decisions/0006-automatic-differentiation.md).
// What is in <cmath> is found by argument: write exp(x), not std::exp(x), in models.
#pragma once
#include <cmath>

#include "kernels/device/platform.hpp"

namespace kilochain {

// Overloads for numbers beside those for duals, which would otherwise hide them.
using ::atan, ::cos, ::erf, ::exp, ::expm1, ::fabs, ::lgamma, ::log, ::log1p, ::pow, ::sin, ::sqrt, ::tan, ::tanh;

template <class Base, int W>
struct Dual {
  Base v{};
  Base d[W] = {};

  Dual() = default;
  KC_INLINE Dual(double value) : v(value) {}  // a constant: implicit, as numbers are
  /// f of x, given f's value and derivative there.
  static KC_INLINE Dual of(const Dual& x, const Base& f, const Base& slope) {
    Dual out;
    out.v = f;
    for (int k = 0; k < W; ++k) out.d[k] = slope * x.d[k];
    return out;
  }
  KC_INLINE Dual operator-() const { return of(*this, -v, Base(-1.0)); }
  KC_INLINE Dual& operator+=(const Dual& o) {
    v += o.v;
    for (int k = 0; k < W; ++k) d[k] += o.d[k];
    return *this;
  }
  KC_INLINE Dual& operator-=(const Dual& o) {
    v -= o.v;
    for (int k = 0; k < W; ++k) d[k] -= o.d[k];
    return *this;
  }
  KC_INLINE Dual& operator*=(const Dual& o) {
    for (int k = 0; k < W; ++k) d[k] = d[k] * o.v + v * o.d[k];
    v *= o.v;
    return *this;
  }
  KC_INLINE Dual& operator/=(const Dual& o) {
    const Base inverse = Base(1.0) / o.v;
    v *= inverse;
    for (int k = 0; k < W; ++k) d[k] = (d[k] - v * o.d[k]) * inverse;
    return *this;
  }
  // A number has no derivatives: half the work.
  KC_INLINE Dual& operator+=(double o) { return v += o, *this; }
  KC_INLINE Dual& operator-=(double o) { return v -= o, *this; }
  KC_INLINE Dual& operator*=(double o) {
    v *= o;
    for (int k = 0; k < W; ++k) d[k] *= o;
    return *this;
  }
  KC_INLINE Dual& operator/=(double o) { return *this *= 1.0 / o; }

  friend KC_INLINE Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend KC_INLINE Dual operator-(Dual a, const Dual& b) { return a -= b; }
  friend KC_INLINE Dual operator*(Dual a, const Dual& b) { return a *= b; }
  friend KC_INLINE Dual operator/(Dual a, const Dual& b) { return a /= b; }
  friend KC_INLINE Dual operator+(Dual a, double b) { return a += b; }
  friend KC_INLINE Dual operator-(Dual a, double b) { return a -= b; }
  friend KC_INLINE Dual operator*(Dual a, double b) { return a *= b; }
  friend KC_INLINE Dual operator/(Dual a, double b) { return a /= b; }
  friend KC_INLINE Dual operator+(double a, Dual b) { return b += a; }
  friend KC_INLINE Dual operator-(double a, const Dual& b) { return -b + a; }
  friend KC_INLINE Dual operator*(double a, Dual b) { return b *= a; }
  friend KC_INLINE Dual operator/(double a, const Dual& b) { return Dual(a) /= b; }
  friend KC_INLINE bool operator<(const Dual& a, const Dual& b) { return a.v < b.v; }
  friend KC_INLINE bool operator>(const Dual& a, const Dual& b) { return b.v < a.v; }
  friend KC_INLINE bool operator<=(const Dual& a, const Dual& b) { return !(b.v < a.v); }
  friend KC_INLINE bool operator>=(const Dual& a, const Dual& b) { return !(a.v < b.v); }
};

/// The derivative of log Gamma and of that: recurrence up to x >= 12, then the asymptotic series (DLMF 5.11.2, 5.15.8).
/// Error about 1e-14 relative to 1 for x > 0; by reflection for x < 0.
KC_HD inline double trigamma(double x) {
  if (x < 0) {
    const double s = ::sin(3.14159265358979323846 * x);
    return 9.86960440108935861883 / (s * s) - trigamma(1 - x);
  }
  double sum = 0;
  for (; x < 12; ++x) sum += 1 / (x * x);
  const double i = 1 / x, q = i * i;
  return sum + i + q / 2 +
         i * q * (1.0 / 6 - q * (1.0 / 30 - q * (1.0 / 42 - q * (1.0 / 30 - q * (5.0 / 66 - q * (691.0 / 2730))))));
}
KC_HD inline double digamma(double x) {
  if (x < 0) return digamma(1 - x) - 3.14159265358979323846 / ::tan(3.14159265358979323846 * x);
  double sum = 0;
  for (; x < 12; ++x) sum -= 1 / x;
  const double q = 1 / (x * x);
  return sum + ::log(x) - 0.5 / x -
         q * (1.0 / 12 - q * (1.0 / 120 - q * (1.0 / 252 - q * (1.0 / 240 - q * (1.0 / 132 - q * (691.0 / 32760))))));
}

/// log I0 and I1 / I0 of x >= 0, modified Bessel functions: their series up to 30,
/// then the asymptotic one (DLMF 10.25.2, 10.40.1). Error about 1e-15 relative to 1.
KC_HD inline double bessel_series(int order, double x) {
  double term = 1, sum = 1;
  if (x <= 30) {
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= x * x / 4 / (k * (k + order));
    return order ? sum * x / 2 : sum;
  }
  for (int k = 1; k < 60 && ::fabs(term) > 1e-17; ++k)
    sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * x * k);
  return sum;
}
KC_HD inline double log_bessel_i0(double x) {
  return ::log(bessel_series(0, x)) + (x <= 30 ? 0 : x - 0.5 * ::log(6.28318530717958647693 * x)) + (x < 0 ? NAN : 0);
}
KC_HD inline double bessel_i1_over_i0(double x) { return bessel_series(1, x) / bessel_series(0, x); }
/// log(1 - erf x), without underflow (DLMF 7.12.1).
KC_HD inline double log_erfc(double x) {
  if (x < 25) return ::log(::erfc(x));
  const double q = 1 / (2 * x * x);
  return -x * x - ::log(1.7724538509055160273 * x) + ::log1p(-q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q))));
}

// Functions of one variable: name, value f and slope, given x. Those of x's type are found by argument, or in <cmath>.
#define KILOCHAIN_FUNCTIONS_OF_ONE(DEFINE)                                                          \
  DEFINE(exp, exp(x), f)                                                                            \
  DEFINE(expm1, expm1(x), f + 1.0)                                                                  \
  DEFINE(log, log(x), 1.0 / x)                                                                      \
  DEFINE(log1p, log1p(x), 1.0 / (1.0 + x))                                                          \
  DEFINE(sqrt, sqrt(x), 0.5 / f)                                                                    \
  DEFINE(sin, sin(x), cos(x))                                                                       \
  DEFINE(cos, cos(x), -sin(x))                                                                      \
  DEFINE(tan, tan(x), 1.0 + f * f)                                                                  \
  DEFINE(atan, atan(x), 1.0 / (1.0 + x * x))                                                        \
  DEFINE(tanh, tanh(x), 1.0 - f * f)                                                                \
  DEFINE(erf, erf(x), 1.1283791670955125739 * exp(-x * x))                                          \
  DEFINE(log_erfc, log_erfc(x), -1.1283791670955125739 * exp(-x * x - f))                           \
  DEFINE(bessel_i1_over_i0, bessel_i1_over_i0(x), x < Base(1e-8) ? Base(0.5) : 1.0 - f / x - f * f) \
  DEFINE(log_bessel_i0, log_bessel_i0(x), bessel_i1_over_i0(x))                                     \
  DEFINE(digamma, digamma(x), trigamma(x))                                                          \
  DEFINE(lgamma, lgamma(x), digamma(x))                                                             \
  DEFINE(fabs, fabs(x), Base(x < Base(0.0) ? -1.0 : 1.0))
#define KILOCHAIN_DUAL(NAME, VALUE, SLOPE)                  \
  template <class Base, int W>                              \
  KC_INLINE Dual<Base, W> NAME(const Dual<Base, W>& dual) { \
    const Base& x = dual.v;                                 \
    const Base f = VALUE;                                   \
    return Dual<Base, W>::of(dual, f, SLOPE);               \
  }
KILOCHAIN_FUNCTIONS_OF_ONE(KILOCHAIN_DUAL)
#undef KILOCHAIN_DUAL

template <class Base, int W>
KC_INLINE Dual<Base, W> pow(const Dual<Base, W>& x, double p) {
  return Dual<Base, W>::of(x, pow(x.v, p), p * pow(x.v, p - 1));
}
template <class Base, int W>
KC_INLINE Dual<Base, W> pow(const Dual<Base, W>& x, const Dual<Base, W>& p) {
  return exp(p * log(x));
}

template <class T>
KC_INLINE T square(const T& x) {
  return x * x;
}
KC_INLINE double value_of(double x) { return x; }
template <class Base, int W>
KC_INLINE double value_of(const Dual<Base, W>& x) {
  return value_of(x.v);
}
/// The sum of weight[i] x[i] over i < n, in 8 partial sums for the lanes of a register.
KC_INLINE double weighted_sum(const double* weight, const double* x, int n) {
  double part[8] = {};
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) part[k] += weight[i + k] * x[i + k];
  for (int k = 0; i + k < n; ++k) part[k] += weight[i + k] * x[i + k];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}
KC_INLINE bool is_zero(double x) { return x == 0; }
template <class Base, int W>
KC_INLINE bool is_zero(const Dual<Base, W>& x) {
  bool zero = is_zero(x.v);
  for (int k = 0; k < W; ++k) zero = zero && is_zero(x.d[k]);
  return zero;
}
/// log(1 + e^x), without overflow.
template <class T>
KC_INLINE T log1p_exp(const T& x) {
  if (value_of(x) > 0) return x + log1p(exp(-x));
  return log1p(exp(x));
}
/// 1 / (1 + e^-x), and its logarithm.
template <class T>
KC_INLINE T inv_logit(const T& x) {
  if (value_of(x) > 0) return 1.0 / (1.0 + exp(-x));
  const T e = exp(x);
  return e / (1.0 + e);
}
template <class T>
KC_INLINE T log_inv_logit(const T& x) {
  return -log1p_exp(T(-x));
}
/// log(e^a + e^b), without overflow.
template <class T>
KC_INLINE T log_sum_exp(const T& a, const T& b) {
  return value_of(a) > value_of(b) ? a + log1p_exp(T(b - a)) : b + log1p_exp(T(a - b));
}

}  // namespace kilochain
