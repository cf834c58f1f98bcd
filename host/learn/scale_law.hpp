// How a coordinate v tells a scale: s = e^{c u(v)}, where u is v itself, or log logistic(v) where the scale lies
// between 0 and a bound and v is the logit of its share, as Stan has it.
#pragma once
#include <Eigen/Core>
#include <cmath>

namespace kilochain {

struct ScaleLaw {
  double rate = 1;  ///< c: 1 of a sd, 1/2 of a variance, less than 0 of precisions
  bool bounded = false;

  double u(double v) const { return !bounded ? v : v < 0 ? v - std::log1p(std::exp(v)) : -std::log1p(std::exp(-v)); }
  /// du/dv.
  double slope(double v) const { return bounded ? 1 / (1 + std::exp(v)) : 1; }
  Eigen::ArrayXd u(const Eigen::ArrayXd& v) const {
    return v.unaryExpr([this](double value) { return u(value); });
  }
  Eigen::ArrayXd slope(const Eigen::ArrayXd& v) const {
    return v.unaryExpr([this](double value) { return slope(value); });
  }
  bool operator==(const ScaleLaw&) const = default;
};

/// Those that are tried.
inline constexpr ScaleLaw scale_laws[] = {{1}, {0.5}, {-1}, {-0.5}, {1, true}};

}  // namespace kilochain
