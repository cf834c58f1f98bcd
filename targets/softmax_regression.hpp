// Softmax (multinomial logistic) regression, y_i in {0, ..., K - 1}, W = (w_0, ..., w_{K-1}) ~ N(0, s^2 I):
//   t_ik = x_i.w_k
//   p_ik = e^t_ik / sum_l e^t_il;   lp = sum_i log p_{i,y_i} - |W|^2/(2 s^2) - K n log s - K n/2 log 2pi
//   gradient_k = X^T (1[y = k] - p_k) - w_k/s^2;   (H V)_k = -X^T (p_k (a_k - sum_l p_l a_l)) - v_k/s^2,  a = X V
// All K classes have weights; the prior makes the posterior proper. Coordinates: class after class, (K, n).
// Here: the data, and the function of one team (one chain), which every backend can run. For many chains, matrix
// products: softmax_products.hpp and softmax_cuda.cu. Cost: 4 N n K operations a gradient; X is read twice. lp is a sum
// in double.
#pragma once
#include "targets/matmul.hpp"
#include "targets/regression_data.hpp"

namespace kilochain {

enum class SoftmaxEvaluator { automatic, team };

struct SoftmaxSettings : RegressionSettings {
  SoftmaxEvaluator evaluator = SoftmaxEvaluator::automatic;
  Matmul matmul = Matmul::automatic;
};
/// The design that the settings name; it lives as long as they do. Throws an Error for neither or both kinds of data,
/// and as dataset.hpp does.
const Design& read_softmax_design(const SoftmaxSettings& settings);
/// Names w[class, feature], constants and costs of a design; `element` is the size of a number.
TargetInfo describe_softmax(const Design& design, const SoftmaxSettings& settings, std::size_t element);

/// log sum exp of K logits that are `stride` apart, and their softmax in place. One observation of one chain.
template <class Real>
KC_INLINE Real softmax_in_place(Real* t, Index classes, std::size_t stride) {
  Real most = t[0];
  for (Index k = 1; k < classes; ++k) most = t[k * stride] > most ? t[k * stride] : most;
  Real sum = 0;
  for (Index k = 0; k < classes; ++k) sum += t[k * stride] = math::exp(t[k * stride] - most);
  const Real inverse = Real(1) / sum;
  for (Index k = 0; k < classes; ++k) t[k * stride] *= inverse;
  return most + math::log(sum);
}

template <class Real>
struct SoftmaxRegression {
  static constexpr const char* meaning =
      "Bayesian multinomial logistic regression on a CSV table or the digits of an image set";
  using Settings = SoftmaxSettings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    table_fields(visit, s, "CSV table with a header; one column names the class, as a word or a whole number");
    regression_fields(visit, s);
    visit("digits", s.digits, "digits of the image set, \"3,5,8\"; all of them when not given");
    visit("evaluator", s.evaluator, Names{"auto", "team"},
          "team: one chain at a time; auto: products over chains, on the CPU without the zeros of X");
    matmul_field(visit, s.matmul);
  }

  struct Data {
    const Real* x_columns;  ///< (n, num_padded): one feature after another; null when not kept
    const Real* x_rows;     ///< (num_padded, row): one observation after another; null when not kept
    const Real* y;          ///< (num_padded): the class of each observation
    double log_constant, inverse_variance;
    Index n, classes, row, num_rows, num_padded;
  };
  static Data prepare(const Settings& settings, Arena<Real>& arena, TargetInfo& info) {
    const Design& design = read_softmax_design(settings);
    info = describe_softmax(design, settings, sizeof(Real));
    return place(design, settings.prior_sd, arena, true, false);
  }
  /// The same from a design in memory; only the copies of X that are asked for.
  static Data place(const Design& design, double prior_sd, Arena<Real>& arena, bool columns, bool rows);
  /// The target on the CPU, for many chains at once.
  static std::unique_ptr<Target<Real>> make_cpu(const Context& context, const Settings& settings);
  /// The same on CUDA; null where a block's memory holds the data.
  static std::unique_ptr<Target<Real>> make_cuda(const Context& context, const Settings& settings);

  /// (2, classes, num_padded): logits or residuals, and slopes for a Hessian product.
  static KC_HD std::size_t scratch(const Data& d) {
    return 2 * static_cast<std::size_t>(d.classes) * static_cast<std::size_t>(d.num_padded);
  }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real* t) {
    const std::size_t column = static_cast<std::size_t>(d.num_padded);
    const bool product = needs == Needs::hessian_vector;
    const Index size = d.n * d.classes;
    Real* slope = t + column * static_cast<std::size_t>(d.classes);
    for (Index k = 0; k < d.classes; ++k) {
      team.for_each(d.num_rows, [&](Index i) {
        Real logit = 0, along = 0;
        for (Index j = 0; j < d.n; ++j) {
          const Real x = d.x_columns[column * j + i];
          logit += x * query.point[k * d.n + j];
          if (product) along += x * query.direction[k * d.n + j];
        }
        t[column * k + i] = logit;
        if (product) slope[column * k + i] = along;
      });
    }
    if (product) {
      team.for_each(d.num_rows, [&](Index i) { curvature(d, t + i, slope + i, column); });
    } else {
      const double likelihood =
          team.template sum<double>(d.num_rows, [&](Index i) { return residual(d, t, i, column); });
      const double square =
          team.template sum<double>(size, [&](Index j) { return double(query.point[j]) * double(query.point[j]); });
      team.single([&] { *reply.lp = likelihood - 0.5 * d.inverse_variance * square + d.log_constant; });
    }
    if (needs == Needs::value) return;
    const Real* prior = product ? query.direction : query.point;
    Real* out = product ? reply.hessian_vector : reply.gradient;
    for (Index k = 0; k < d.classes; ++k) {
      for (Index j = 0; j < d.n; ++j) {
        const Real *x = d.x_columns + column * j, *r = t + column * k;
        const Real sum = team.template sum<Real>(d.num_rows, [&](Index i) { return x[i] * r[i]; });
        team.single([&] { out[k * d.n + j] = sum - Real(d.inverse_variance) * prior[k * d.n + j]; });
      }
    }
  }

  /// Logits t, (classes, column), of observation i become residuals. Returns log p_{i, y_i}.
  static KC_INLINE double residual(const Data& d, Real* t, Index i, std::size_t column) {
    Real* own = t + column * static_cast<std::size_t>(d.y[i]) + i;
    const double at = double(*own);
    const double log_sum = double(softmax_in_place(t + i, d.classes, column));
    for (Index k = 0; k < d.classes; ++k) t[column * k + i] = -t[column * k + i];
    *own += Real(1);
    return at - log_sum;
  }
  /// Logits t and slopes a of one observation, `stride` apart: t becomes -p (a - sum p a).
  static KC_INLINE void curvature(const Data& d, Real* t, const Real* a, std::size_t stride) {
    softmax_in_place(t, d.classes, stride);
    Real mean = 0;
    for (Index k = 0; k < d.classes; ++k) mean += t[k * stride] * a[k * stride];
    for (Index k = 0; k < d.classes; ++k) t[k * stride] *= mean - a[k * stride];
  }
};

}  // namespace kilochain
