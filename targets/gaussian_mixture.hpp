// Mixture of spherical Gaussians:
//   p(x) = sum_k w_k N(x; m_k, s_k^2 I),  r_k = w_k N(x; m_k, s_k^2 I) / p(x),  a_k = (m_k - x)/s_k^2
//   gradient g = sum_k r_k a_k;   H v = sum_k r_k (a_k a_k^T v - v/s_k^2) - g g^T v
// means: (component, dim); exact draws, mean and variance are known. Cost of a gradient: three passes over the means.
#pragma once
#include <limits>

#include "targets/target.hpp"

namespace kilochain {

template <class Real>
struct GaussianMixture {
  static constexpr const char* meaning = "mixture of spherical Gaussians: several modes, exact draws known";
  struct Settings {
    int dim = 2;
    std::string means = "-2; 2", weights, sds;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("dim", s.dim, between(1, 100000), "number of coordinates");
    visit("means", s.means,
          "means, components separated by semicolons, coordinates by commas; coordinates not given are 0");
    visit("weights", s.weights, "weights separated by commas, scaled to sum 1; equal when not given");
    visit("sds", s.sds, "standard deviations of the components separated by commas; 1 when not given");
  }

  struct Data {
    const Real *means, *precision, *log_weight;  ///< rows of `row` elements; log_weight: log w_k - dim log s_k
    double log_constant;
    Index n, row, components;
  };
  /// Throws an Error (usage) for texts that are no numbers, for counts that do not match and for weights or sds <= 0.
  static Data prepare(const Settings& settings, Arena<Real>& arena, TargetInfo& info);
  static KC_HD std::size_t scratch(const Data&) { return 0; }

  template <class Team>
  static KC_HD double log_component(const Team& team, const Data& d, const Real* x, Index k) {
    const Real* mean = d.means + static_cast<std::size_t>(k) * d.row;
    const double square = team.template sum<double>(d.n, [&](Index i) {
      const double c = double(x[i]) - double(mean[i]);
      return c * c;
    });
    return static_cast<double>(d.log_weight[k]) - 0.5 * square * static_cast<double>(d.precision[k]);
  }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real*) {
    const Real* x = query.point;
    double most = -std::numeric_limits<double>::infinity(), total = 0;  // log of the sum = most + log total
    for (Index k = 0; k < d.components; ++k) {
      const double q = log_component(team, d, x, k);
      total = q > most ? total * exp(most - q) + 1 : total + exp(q - most);
      most = q > most ? q : most;
    }
    const double log_sum = most + log(total);
    // The gradient goes to reply.gradient, or where a product is wanted stays in the sums below.
    Real* out = needs == Needs::hessian_vector ? reply.hessian_vector : reply.gradient;
    team.for_each(d.n, [&](Index i) { out[i] = 0; });
    double slope = 0;  // g^T v
    if (needs == Needs::hessian_vector) {
      for (Index k = 0; k < d.components; ++k)
        slope += exp(log_component(team, d, x, k) - log_sum) * along(team, d, query, k);
    }
    for (Index k = 0; k < d.components; ++k) {
      const Real* mean = d.means + static_cast<std::size_t>(k) * d.row;
      const double r = exp(log_component(team, d, x, k) - log_sum), each = r * static_cast<double>(d.precision[k]);
      if (needs == Needs::hessian_vector) {
        const double outer = each * (along(team, d, query, k) - slope);
        team.for_each(d.n, [&](Index i) {
          out[i] += static_cast<Real>(outer * (double(mean[i]) - double(x[i])) - each * double(query.direction[i]));
        });
      } else {
        team.for_each(d.n, [&](Index i) { out[i] += static_cast<Real>(each * (double(mean[i]) - double(x[i]))); });
      }
    }
    if (needs != Needs::hessian_vector) team.single([&] { *reply.lp = d.log_constant + log_sum; });
  }

  /// a_k^T v.
  template <class Team>
  static KC_HD double along(const Team& team, const Data& d, const Query<Real>& query, Index k) {
    const Real* mean = d.means + static_cast<std::size_t>(k) * d.row;
    return static_cast<double>(d.precision[k]) * team.template sum<double>(d.n, [&](Index i) {
      return (double(mean[i]) - double(query.point[i])) * double(query.direction[i]);
    });
  }
};

}  // namespace kilochain
