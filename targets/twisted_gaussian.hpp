// Twisted Gaussian (Haario et al. 1999; Milgo et al., sec. 3): u = phi_b(R^T x) ~ N(0, diag(variance, 1, ..., 1)),
//   phi_b(y) = (y_1, y_2 + b (y_1^2 - variance), y_3, ..., y_n);   lp = -q(x)/2 - log(variance)/2 - n/2 log 2pi
//   q(x) = u_1^2/variance + u_2^2 + ... + u_n^2 is chi-square with n degrees of freedom: regions of exact probability
// R = I, or rotated: the reflection that takes the first axis to (1, ..., 1)/sqrt(n). Volume is kept, so exact draws,
// mean zero and variances are known. pi_1: b = 0; pi_2: b = 0, rotated; pi_3: b = 0.03; pi_4: b = 0.1. Cost: O(n),
// rotated two passes.
#pragma once
#include "targets/target.hpp"

namespace kilochain {

template <class Real>
struct TwistedGaussian {
  static constexpr const char* meaning =
      "Gaussian with one long axis, twisted along it and rotated at will; exact draws and regions (Haario et al. 1999)";
  struct Settings {
    int dim = 8;
    double twist = 0.03, variance = 100;
    bool rotated = false;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("dim", s.dim, between(2, 100000), "number of coordinates");
    visit("twist", s.twist, at_least(0),
          "b: how strongly the second axis follows the square of the long one; 0: Gaussian");
    visit("variance", s.variance, positive(), "variance along the long axis; 1 along the others");
    visit("rotated", s.rotated, "the long axis is (1, ..., 1) in place of the first");
  }

  struct Data {
    Index n;
    double twist, variance, log_constant;
    double first, others, factor;  ///< R = I - factor v v^T, v = (first, others, ..., others); factor 0: R = I
  };
  static Data data(const Settings& s) {
    const double root = 1 / std::sqrt(static_cast<double>(s.dim)), first = s.rotated ? 1 - root : 0.0,
                 others = s.rotated ? -root : 0.0, square = first * first + (s.dim - 1) * others * others;
    return {s.dim,
            s.twist,
            s.variance,
            -0.5 * std::log(s.variance) - 0.9189385332046727 * s.dim,
            first,
            others,
            s.rotated ? 2 / square : 0.0};
  }
  /// R x, which is R^T x.
  static std::vector<double> reflect(const Data& d, std::vector<double> x) {
    double along = d.first * x[0];
    for (std::size_t i = 1; i < x.size(); ++i) along += d.others * x[i];
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= d.factor * along * (i == 0 ? d.first : d.others);
    return x;
  }
  /// q(x): the regions where it stays below a quantile (targets/chi_square.hpp) have exact probability.
  static double chi_square(const Data& d, const std::vector<double>& x) {
    const std::vector<double> y = reflect(d, x);
    const double u = y[1] + d.twist * (y[0] * y[0] - d.variance);
    double q = y[0] * y[0] / d.variance + u * u;
    for (std::size_t i = 2; i < y.size(); ++i) q += y[i] * y[i];
    return q;
  }
  static Data prepare(const Settings& s, Arena<Real>&, TargetInfo& info) {
    const Data d = data(s);
    const std::size_t n = static_cast<std::size_t>(s.dim);
    info.dim = s.dim;
    info.flops = (s.rotated ? 9.0 : 3.0) * s.dim;
    info.exact.mean.assign(n, 0.0);
    const double second = 1 + 2 * s.twist * s.twist * s.variance * s.variance;  // variance along the second axis
    for (std::size_t i = 0; i < n; ++i) {
      info.names.push_back("x[" + std::to_string(i) + "]");
      const double v = i == 0 ? d.first : d.others, to_first = (i == 0) - d.factor * v * d.first,
                   to_second = (i == 1) - d.factor * v * d.others;
      info.exact.variance.push_back(1 + to_first * to_first * (s.variance - 1) + to_second * to_second * (second - 1));
    }
    info.exact.draw = [d](const std::vector<double>& z, double) {
      std::vector<double> y = z;  // of the untwisted Gaussian, then twisted
      y[0] *= std::sqrt(d.variance);
      y[1] -= d.twist * (y[0] * y[0] - d.variance);
      return reflect(d, std::move(y));
    };
    return d;
  }
  static KC_HD std::size_t scratch(const Data&) { return 0; }

  /// v^T x for the reflection.
  template <class Team, class Vector>
  static KC_HD double along(const Team& team, const Data& d, const Vector& x) {
    if (d.factor == 0) return 0;
    return team.template sum<double>(d.n, [&](Index i) { return (i == 0 ? d.first : d.others) * double(x[i]); });
  }
  /// Entry i of R x, `by` = factor v^T x.
  template <class Vector>
  static KC_INLINE double reflected(const Data& d, const Vector& x, Index i, double by) {
    return double(x[i]) - by * (i == 0 ? d.first : d.others);
  }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real*) {
    const auto& x = query.point;
    const double by = d.factor * along(team, d, x), y0 = reflected(d, x, 0, by),
                 u = reflected(d, x, 1, by) + d.twist * (y0 * y0 - d.variance);
    const bool product = needs == Needs::hessian_vector;
    const Row<Real> out = product ? reply.hessian_vector : reply.gradient;  // by value: no stack frame on a device
    if (product) {
      const auto& v = query.direction;
      const double along_v = d.factor * along(team, d, v), v0 = reflected(d, v, 0, along_v),
                   v1 = reflected(d, v, 1, along_v), slope = 2 * d.twist * y0;
      team.for_each(d.n - 2, [&](Index i) { out[i + 2] = static_cast<Real>(-reflected(d, v, i + 2, along_v)); });
      team.single([&] {
        out[0] = static_cast<Real>(-(1 / d.variance + 2 * d.twist * u + slope * slope) * v0 - slope * v1);
        out[1] = static_cast<Real>(-slope * v0 - v1);
      });
    } else {
      const double rest = team.template sum<double>(d.n - 2, [&](Index i) {
        const double y = reflected(d, x, i + 2, by);
        return y * y;
      });
      team.single([&] { *reply.lp = d.log_constant - 0.5 * (y0 * y0 / d.variance + u * u + rest); });
      if (needs == Needs::value) return;
      team.for_each(d.n - 2, [&](Index i) { out[i + 2] = static_cast<Real>(-reflected(d, x, i + 2, by)); });
      team.single([&] {
        out[0] = static_cast<Real>(-y0 / d.variance - 2 * d.twist * y0 * u);
        out[1] = static_cast<Real>(-u);
      });
    }
    if (d.factor != 0) {
      team.sync();
      const double back = d.factor * along(team, d, out);
      team.for_each(d.n, [&](Index i) { out[i] = static_cast<Real>(reflected(d, out, i, back)); });
    }
  }
};

}  // namespace kilochain
