// Quantile function of the standard normal law: Wichura 1988, algorithm AS 241 (PPND16), relative error about 1e-16.
// Three rational approximations: |p - 1/2| <= 0.425 without a logarithm, then two in sqrt(-log(min(p, 1 - p))).
#pragma once
#include <cmath>
#include <limits>

namespace kilochain {

namespace normal_quantile_detail {
/// (c[0] + c[1] x + ... + c[7] x^7)
inline double polynomial(const double (&c)[8], double x) {
  double value = c[7];
  for (int i = 6; i >= 0; --i) value = value * x + c[i];
  return value;
}
inline constexpr double kCentreTop[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                         1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                         3.3430575583588128105e4, 2.5090809287301226727e3};
inline constexpr double kCentreBottom[8] = {1.0000000000000000000e0, 4.2313330701600911252e1, 6.8718700749205790830e2,
                                            5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
                                            2.8729085735721942674e4, 5.2264952788528545610e3};
inline constexpr double kMiddleTop[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                         3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                         2.27238449892691845833e-2, 7.74545014278341407640e-4};
inline constexpr double kMiddleBottom[8] = {
    1.0000000000000000000e0,   2.05319162663775882187e0,  1.67638483018380384940e0,  6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9};
inline constexpr double kFarTop[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                      2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                      2.71155556874348757815e-5, 2.01033439929228813265e-7};
inline constexpr double kFarBottom[8] = {
    1.0000000000000000000e0,   5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};
}  // namespace normal_quantile_detail

/// z with P(Z <= z) = p for Z ~ N(0, 1); -inf at 0, inf at 1, NaN outside [0, 1].
inline double normal_quantile(double p) {
  using namespace normal_quantile_detail;
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentreTop, r) / polynomial(kCentreBottom, r);
  }
  const double tail = q < 0 ? p : 1 - p;
  if (!(tail > 0)) return tail == 0 ? std::copysign(std::numeric_limits<double>::infinity(), q) : std::nan("");
  const double r = std::sqrt(-std::log(tail));
  const double z = r <= 5 ? polynomial(kMiddleTop, r - 1.6) / polynomial(kMiddleBottom, r - 1.6)
                          : polynomial(kFarTop, r - 5) / polynomial(kFarBottom, r - 5);
  return std::copysign(z, q);
}

}  // namespace kilochain
