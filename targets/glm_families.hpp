// Families of generalised linear models: what one observation y adds to the log density, from its linear predictor t.
// s is the logarithm of the family's own parameter. Terms of y alone are in glm.cpp's constant.
//   observe(y, t, own)     lp, its slope along t (the residual) and along s
//   of_count(y, value)     what depends on y and the parameter, not on t: once for each y that occurs
//   prior(s, value)        of the parameter, as a density of s
#pragma once
#include "kernels/device/math.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {

struct GlmTerm {
  double lp, residual, slope;
};

/// y ~ N(t, sigma^2), sigma ~ exponential(1).
struct NormalFamily {
  static constexpr const char* meaning = "Bayesian linear regression on a CSV table, sigma unknown";
  static constexpr const char* model = "linear_regression";
  static constexpr const char* observation = "CSV table with a header; one column holds the numbers that are predicted";
  static constexpr const char* parameter = "sigma";
  static constexpr bool has_parameter = true, binary = false, log_link = false;
  static constexpr Response response = Response::number;
  struct Own {
    double s, precision;
    KC_INLINE explicit Own(double at) : s(at), precision(math::exp(-at)) {}
  };
  static KC_INLINE GlmTerm observe(double y, double t, const Own& own) {
    const double z = (y - t) * own.precision;
    return {-0.5 * z * z - own.s, z * own.precision, z * z - 1};
  }
  static KC_INLINE GlmTerm of_count(double, double) { return {}; }
  static KC_INLINE GlmTerm prior(double s, double sigma) { return {s - sigma, 0, 1 - sigma}; }
};

/// y ~ Poisson(e^t).
struct PoissonFamily {
  static constexpr const char* meaning = "Bayesian Poisson regression on a CSV table: counts, by the log of their mean";
  static constexpr const char* model = "poisson_regression";
  static constexpr const char* observation = "CSV table with a header; one column holds the counts that are predicted";
  static constexpr const char* parameter = "";
  static constexpr bool has_parameter = false, binary = false, log_link = true;
  static constexpr Response response = Response::count;
  struct Own {
    KC_INLINE explicit Own(double) {}
  };
  static KC_INLINE GlmTerm observe(double y, double t, const Own&) {
    const double mean = math::exp(t);
    return {y * t - mean, y - mean, 0};
  }
  static KC_INLINE GlmTerm of_count(double, double) { return {}; }
  static KC_INLINE GlmTerm prior(double, double) { return {}; }
};

/// y of mean m = e^t and variance m + m^2 / phi; 1 / sqrt(phi) ~ N+(0, 1).
struct NegativeBinomialFamily {
  static constexpr const char* meaning =
      "Bayesian negative binomial regression on a CSV table: counts that vary more than Poisson's";
  static constexpr const char* model = "negative_binomial_regression";
  static constexpr const char* observation = PoissonFamily::observation;
  static constexpr const char* parameter = "phi";
  static constexpr bool has_parameter = true, binary = false, log_link = true;
  static constexpr Response response = Response::count;
  struct Own {
    double phi, inverse;
    KC_INLINE explicit Own(double s) : phi(math::exp(s)), inverse(math::exp(-s)) {}
  };
  static KC_INLINE GlmTerm observe(double y, double t, const Own& own) {
    const double mean = math::exp(t), sum = own.phi + mean, ratio = mean * own.inverse, one = 1 + ratio;
    // log(1 + ratio), of a small ratio too
    const double more = one == 1 ? ratio : math::log(one) * (ratio / (one - 1));
    return {y * (t - math::log(sum)) - own.phi * more, own.phi * (y - mean) / sum, own.phi * ((mean - y) / sum - more)};
  }
  /// log Gamma(phi + y) / Gamma(phi), and its slope along log phi: products for the first 8 factors, then differences
  /// of Stirling's series, whose error from 8 on is below 1e-12, so that a large phi cancels nothing.
  static KC_INLINE GlmTerm of_count(double y, double phi) {
    GlmTerm out{};
    for (int k = 0; k < 8 && k < y; ++k) out.lp += log(phi + k), out.slope += 1 / (phi + k);
    if (y > 8) {
      const double a = phi + 8, b = phi + y;
      const double ratio = log1p((b - a) / a);
      out.lp += (a - 0.5) * ratio + (b - a) * (log(b) - 1) + tail(b) - tail(a);
      out.slope += ratio + tail_slope(b) - tail_slope(a);
    }
    out.slope *= phi;
    return out;
  }
  static KC_INLINE GlmTerm prior(double s, double phi) { return {-0.5 * (s + 1 / phi), 0, -0.5 + 0.5 / phi}; }

 private:
  static KC_INLINE double tail(double z) {
    const double u = 1 / (z * z);
    return (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / z;
  }
  /// digamma(z) - log z.
  static KC_INLINE double tail_slope(double z) {
    const double u = 1 / (z * z);
    return -0.5 / z - u * (1.0 / 12 - u * (1.0 / 120 - u * (1.0 / 252 - u * (1.0 / 240 - u / 132))));
  }
};

/// y in {0, 1}, P(y = 1) = 1 / (1 + e^-t): the logistic regression where it has groups.
struct BernoulliFamily {
  static constexpr const char* meaning = "Bayesian logistic regression with intercepts of groups";
  static constexpr const char* model = "logistic_regression";
  static constexpr const char* observation = "";
  static constexpr const char* parameter = "";
  static constexpr bool has_parameter = false, binary = true, log_link = false;
  static constexpr Response response = Response::count;
  using Own = PoissonFamily::Own;
  static KC_INLINE GlmTerm observe(double y, double t, const Own&) {
    const double size = t > 0 ? t : -t, e = math::exp(-size), p = (t > 0 ? 1.0 : e) / (1 + e);
    return {(t > 0 ? (y - 1) * t : y * t) - math::log(1 + e), y - p, 0};
  }
  static KC_INLINE GlmTerm of_count(double, double) { return {}; }
  static KC_INLINE GlmTerm prior(double, double) { return {}; }
};

}  // namespace kilochain
