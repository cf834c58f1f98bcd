// Gaussian N(mean, covariance), covariance = C C^T:
//   lp = -|z|^2/2 - sum_i log C_ii - n/2 log 2pi,  C z = x - mean;  gradient = -precision (x - mean)
// mean: (n), covariance: (n, n) from files, or a preset of Titsias & Dellaportas (2019).
// A diagonal covariance is recognised and costs O(n); else the precision matrix is read once a call: n^2 multiply-adds.
#pragma once
#include "targets/target.hpp"

namespace kilochain {

template <class Real>
struct Gaussian {
  static constexpr const char* meaning = "Gaussian with mean and covariance from files, or a preset of the 2019 paper";
  struct Settings {
    std::string preset, mean, covariance;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("preset", s.preset,
          "gauss2d_corr (2-D, correlation 0.99), gp51_gaussian (51-D) or neal_gaussian (100-D); instead of files");
    visit("mean", s.mean, "file with the mean, one number a line; zeros when only a covariance is given");
    visit("covariance", s.covariance, "file with the covariance matrix, one row a line");
  }

  struct Data {
    const Real *mean, *precision;  ///< precision: (n) when diagonal, else rows of `row` elements
    double log_constant;
    Index n, row;
    bool diagonal;
  };
  /// Reads the files. Throws an Error for a missing file, a dimension mismatch or a covariance that is not positive
  /// definite.
  static Data prepare(const Settings& settings, Arena<Real>& arena, TargetInfo& info);

  static KC_HD std::size_t scratch(const Data& d) { return static_cast<std::size_t>(d.row); }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real* centred) {
    const bool product = needs == Needs::hessian_vector;
    Real* out = product ? reply.hessian_vector : reply.gradient;
    team.for_each(d.n, [&](Index i) { centred[i] = product ? query.direction[i] : query.point[i] - d.mean[i]; });
    if (d.diagonal) {
      team.for_each(d.n, [&](Index i) { out[i] = -d.precision[i] * centred[i]; });
    } else {
      // Row k of the (symmetric) precision times centred[k], summed: every access is contiguous.
      team.for_each(d.n, [&](Index i) { out[i] = 0; });
      team.sync();
      for (Index k = 0; k < d.n; ++k) {
        const Real* row = d.precision + static_cast<std::size_t>(k) * d.row;
        const Real c = -centred[k];
        team.for_each(d.n, [&](Index i) { out[i] += row[i] * c; });
      }
    }
    if (!product) {
      const double square =
          team.template sum<double>(d.n, [&](Index i) { return double(centred[i]) * double(out[i]); });
      team.single([&] { *reply.lp = d.log_constant + 0.5 * square; });
    }
  }
};

}  // namespace kilochain
