// Bayesian logistic regression, y_i in {0, 1}, w ~ N(0, s^2 I):   u_i = t_i x_i.w,  t_i = 2 y_i - 1
//   lp = sum_i log sigma(u_i) - |w|^2/(2 s^2) - n log s - n/2 log 2pi,  log sigma(u) = min(u, 0) - log(1 + e^-|u|)
//   gradient = X^T r - w/s^2, r_i = t_i sigma(-u_i);   H v = -X^T (p (1-p) Xv) - v/s^2
// Here: the data, and the function of one team (one chain), which every backend can run. The CPU's evaluators for many
// chains are logistic_blocked.hpp and logistic_sparse.hpp; docs/decisions/0002-logistic-evaluators.md says which runs
// when. Cost: 4 N n operations a gradient; X is read twice. lp is a sum in double in both precisions.
#pragma once
#include "targets/glm.hpp"
#include "targets/matmul.hpp"
#include "targets/regression_data.hpp"

namespace kilochain {

/// One observation's share, from its logit t = x.w and its sign (+-1; 0: a row of padding, which counts for nothing).
template <class Real>
struct LogisticTerm {
  Real residual;  ///< sign sigma(-u): the factor of x in the gradient
  Real weight;    ///< p (1 - p): the factor of x x^T in minus the Hessian
  Real linear;    ///< min(u, 0); log sigma(u) = linear - log(factor)
  Real factor;    ///< 1 + e^-|u|, in [1, 2]
};
template <class Real>
KC_INLINE LogisticTerm<Real> logistic_term(Real logit, Real sign) {
  const Real u = sign * logit, size = u > 0 ? u : -u;
  const Real e = math::exp(-size);
  const Real factor = e * (sign * sign) + Real(1), inverse = Real(1) / factor;
  return {sign * (u > 0 ? e * inverse : inverse), sign * sign * e * inverse * inverse, u > 0 ? Real(0) : u, factor};
}

enum class LogisticEvaluator { automatic, team, blocked, sparse };
inline constexpr Names logistic_evaluator_names{"auto", "team", "blocked", "sparse"};

struct LogisticSettings : RegressionSettings {
  LogisticEvaluator evaluator = LogisticEvaluator::automatic;
  Matmul matmul = Matmul::automatic;
};
/// The design that the settings name; it lives as long as they do. Throws an Error for neither or both kinds of data,
/// and as dataset.hpp does.
const Design& read_logistic_design(const LogisticSettings& settings);
/// Names, constants and costs of a design; `element` is the size of a number.
TargetInfo describe_logistic(const Design& design, const LogisticSettings& settings, std::size_t element);

template <class Real>
struct LogisticRegression {
  static constexpr const char* meaning = "Bayesian logistic regression on a CSV table or two digits of an image set";
  using Settings = LogisticSettings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    table_fields(visit, s, "CSV table with a header; one column holds the labels 0 and 1");
    visit("positive", s.positive, "the label that counts as 1, where labels are words or other numbers");
    groups_field(visit, s);
    regression_fields(visit, s);
    visit("digits", s.digits,
          "two digits of the image set, \"5,6\" when not given: the first has y = 1, the second y = 0");
    visit(
        "evaluator", s.evaluator, logistic_evaluator_names,
        "how gradients are computed: team, one chain at a time; blocked and sparse, many chains on the CPU; auto picks "
        "by data and device");
    matmul_field(visit, s.matmul);
  }

  using Grouped = Glm<Real, BernoulliFamily>;
  /// Whether the model is that one. Throws Error (usage) for what goes with tables without groups alone.
  static bool is_grouped(const Settings& s) {
    const bool plain = names_a_table("logistic_regression", s) && s.evaluator == LogisticEvaluator::automatic &&
                       s.matmul == Matmul::automatic;
    require(s.groups.empty() || plain, ExitStatus::usage, "logistic_regression: groups = " + s.groups,
            "groups are a table's, and have neither evaluator nor matmul", "Leave one of them out?");
    return !s.groups.empty();
  }

  struct Data {
    const Real* x_columns;  ///< (n, num_padded): one feature after another; lanes of a team are observations
    const Real* x_rows;  ///< (num_padded, row): one observation after another, for matrix products; null when not kept
    const Real* sign;    ///< (num_padded): 2 y - 1, then zeros
    double log_constant, inverse_variance;
    Index n, row, num_rows, num_padded;
  };
  static Data prepare(const Settings& settings, Arena<Real>& arena, TargetInfo& info) {
    const Design& design = read_logistic_design(settings);
    info = describe_logistic(design, settings, sizeof(Real));
    return place(design, settings.prior_sd, arena, true, true);
  }
  /// The same from a design in memory; only the copies of X that are asked for.
  static Data place(const Design& design, double prior_sd, Arena<Real>& arena, bool columns, bool rows);
  /// The target on the CPU, for many chains at once.
  static std::unique_ptr<Target<Real>> make_cpu(const Context& context, const Settings& settings);
  /// The target on CUDA as matrix products over all chains (logistic_cuda.cu); null where it fits into a block.
  static std::unique_ptr<Target<Real>> make_cuda(const Context& context, const Settings& settings);

  static KC_HD std::size_t scratch(const Data& d) { return static_cast<std::size_t>(d.num_padded); }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real* residual) {
    const std::size_t column = static_cast<std::size_t>(d.num_padded);
    if (needs == Needs::hessian_vector) {
      team.for_each(d.num_rows, [&](Index i) {
        Real logit = 0, slope = 0;
        for (Index j = 0; j < d.n; ++j) {
          const Real x = d.x_columns[column * j + i];
          logit += x * query.point[j], slope += x * query.direction[j];
        }
        residual[i] = -logistic_term(logit, d.sign[i]).weight * slope;
      });
    } else {
      const double likelihood = team.template sum<double>(d.num_rows, [&](Index i) {
        Real logit = 0;
        for (Index j = 0; j < d.n; ++j) logit += d.x_columns[column * j + i] * query.point[j];
        const LogisticTerm<Real> term = logistic_term(logit, d.sign[i]);
        residual[i] = term.residual;
        return double(term.linear) - double(math::log(term.factor));
      });
      const double square =
          team.template sum<double>(d.n, [&](Index j) { return double(query.point[j]) * double(query.point[j]); });
      team.single([&] { *reply.lp = likelihood - 0.5 * d.inverse_variance * square + d.log_constant; });
    }
    if (needs == Needs::value) return;
    const bool product = needs == Needs::hessian_vector;
    const Real* prior = product ? query.direction : query.point;
    Real* out = product ? reply.hessian_vector : reply.gradient;
    for (Index j = 0; j < d.n; ++j) {
      const Real* x = d.x_columns + column * j;
      const Real sum = team.template sum<Real>(d.num_rows, [&](Index i) { return x[i] * residual[i]; });
      team.single([&] { out[j] = sum - Real(d.inverse_variance) * prior[j]; });
    }
  }
};

}  // namespace kilochain
