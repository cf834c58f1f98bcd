// Neal's funnel: v ~ N(0, scale^2), x_i ~ N(0, exp(v)), i = 1..dim-1. No one step size suits all of it.
//   lp = -v^2/(2 scale^2) - log scale - (dim-1) v/2 - exp(-v) sum x_i^2 / 2 - dim/2 log 2pi
// Coordinates: v, x[1], ..., x[dim-1]. Cost: O(dim).
#pragma once
#include "targets/target.hpp"

namespace kilochain {

template <class Real>
struct Funnel {
  static constexpr const char* meaning = "Neal's funnel: a normal whose scale is itself sampled (Neal 2003)";
  struct Settings {
    int dim = 10;
    double scale = 3;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("dim", s.dim, between(2, 100000), "number of coordinates, v among them");
    visit("scale", s.scale, positive(), "standard deviation of v");
  }

  struct Data {
    Index n;
    double precision, log_constant;
  };
  static Data prepare(const Settings& s, Arena<Real>&, TargetInfo& info) {
    info.dim = s.dim;
    info.names = {"v"};
    for (int i = 1; i < s.dim; ++i) info.names.push_back("x[" + std::to_string(i) + "]");
    info.flops = 6.0 * s.dim;
    info.exact.mean.assign(static_cast<std::size_t>(s.dim), 0.0);
    info.exact.variance.assign(static_cast<std::size_t>(s.dim), std::exp(s.scale * s.scale / 2));
    info.exact.variance[0] = s.scale * s.scale;
    info.exact.draw = [scale = s.scale](const std::vector<double>& z, double) {
      std::vector<double> x = z;
      x[0] *= scale;
      for (std::size_t i = 1; i < x.size(); ++i) x[i] *= std::exp(x[0] / 2);
      return x;
    };
    return {s.dim, 1 / (s.scale * s.scale), -std::log(s.scale) - 0.9189385332046727 * s.dim};
  }
  static KC_HD std::size_t scratch(const Data&) { return 0; }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real*) {
    const Real* x = query.point + 1;
    const double v = static_cast<double>(query.point[0]), precision = exp(-v);
    if (needs == Needs::hessian_vector) {
      const Real* u = query.direction + 1;
      const double uv = static_cast<double>(query.direction[0]);
      const double xx = team.template sum<double>(d.n - 1, [&](Index i) { return double(x[i]) * double(x[i]); });
      const double xu = team.template sum<double>(d.n - 1, [&](Index i) { return double(x[i]) * double(u[i]); });
      team.for_each(d.n - 1, [&](Index i) {
        reply.hessian_vector[i + 1] = static_cast<Real>(precision * (double(x[i]) * uv - double(u[i])));
      });
      team.single([&] {
        reply.hessian_vector[0] = static_cast<Real>(-(d.precision + 0.5 * precision * xx) * uv + precision * xu);
      });
    } else {
      const double xx = team.template sum<double>(d.n - 1, [&](Index i) { return double(x[i]) * double(x[i]); });
      team.for_each(d.n - 1, [&](Index i) { reply.gradient[i + 1] = static_cast<Real>(-precision * double(x[i])); });
      team.single([&] {
        reply.gradient[0] = static_cast<Real>(-d.precision * v - 0.5 * (d.n - 1) + 0.5 * precision * xx);
        *reply.lp = d.log_constant - 0.5 * d.precision * v * v - 0.5 * (d.n - 1) * v - 0.5 * precision * xx;
      });
    }
  }
};

}  // namespace kilochain
