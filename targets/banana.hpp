// Twisted Gaussian (Haario, Saksman, Tamminen 1999): N(0, diag(variance, 1, ..., 1)) bent along its first axis.
//   u = x_2 + bend (x_1^2 - variance)
//   lp = -(x_1^2/variance + u^2 + x_3^2 + ... + x_dim^2)/2 - log(variance)/2 - dim/2 log 2pi
// bend 0.03 and 0.1 are the pi_3 and pi_4 of the comparisons in the literature. The twist keeps volume, so exact draws,
// mean (zero) and variance (x_2: 1 + 2 bend^2 variance^2) are known. Cost: O(dim).
#pragma once
#include "targets/target.hpp"

namespace kilochain {

template <class Real>
struct Banana {
  static constexpr const char* meaning =
      "Gaussian bent along its first axis, a banana in two dimensions (Haario et al. 1999)";
  struct Settings {
    int dim = 2;
    double bend = 0.03, variance = 100;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("dim", s.dim, between(2, 100000), "number of coordinates");
    visit("bend", s.bend, at_least(0), "how strongly x[1] follows the square of x[0]; 0 is a Gaussian");
    visit("variance", s.variance, positive(), "variance of x[0]");
  }

  struct Data {
    Index n;
    double bend, variance, log_constant;
  };
  static Data prepare(const Settings& s, Arena<Real>&, TargetInfo& info) {
    info.dim = s.dim;
    for (int i = 0; i < s.dim; ++i) info.names.push_back("x[" + std::to_string(i) + "]");
    info.flops = 3.0 * s.dim;
    info.exact.mean.assign(static_cast<std::size_t>(s.dim), 0.0);
    info.exact.variance.assign(static_cast<std::size_t>(s.dim), 1.0);
    info.exact.variance[0] = s.variance;
    info.exact.variance[1] = 1 + 2 * s.bend * s.bend * s.variance * s.variance;
    info.exact.draw = [s](const std::vector<double>& z, double) {
      std::vector<double> x = z;
      x[0] *= std::sqrt(s.variance);
      x[1] -= s.bend * (x[0] * x[0] - s.variance);
      return x;
    };
    return {s.dim, s.bend, s.variance, -0.5 * std::log(s.variance) - 0.9189385332046727 * s.dim};
  }
  static KC_HD std::size_t scratch(const Data&) { return 0; }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real*) {
    const Real* x = query.point;
    const double first = static_cast<double>(x[0]),
                 u = static_cast<double>(x[1]) + d.bend * (first * first - d.variance);
    if (needs == Needs::hessian_vector) {
      const Real* v = query.direction;
      const double v0 = static_cast<double>(v[0]), v1 = static_cast<double>(v[1]), slope = 2 * d.bend * first;
      team.for_each(d.n - 2, [&](Index i) { reply.hessian_vector[i + 2] = -v[i + 2]; });
      team.single([&] {
        reply.hessian_vector[0] =
            static_cast<Real>(-(1 / d.variance + 2 * d.bend * u + slope * slope) * v0 - slope * v1);
        reply.hessian_vector[1] = static_cast<Real>(-slope * v0 - v1);
      });
    } else {
      const double rest =
          team.template sum<double>(d.n - 2, [&](Index i) { return double(x[i + 2]) * double(x[i + 2]); });
      team.for_each(d.n - 2, [&](Index i) { reply.gradient[i + 2] = -x[i + 2]; });
      team.single([&] {
        reply.gradient[0] = static_cast<Real>(-first / d.variance - 2 * d.bend * first * u);
        reply.gradient[1] = static_cast<Real>(-u);
        *reply.lp = d.log_constant - 0.5 * (first * first / d.variance + u * u + rest);
      });
    }
    team.sync();
  }
};

}  // namespace kilochain
