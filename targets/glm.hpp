// Generalised linear models with a family as a parameter, and intercepts of groups:
//   t_i = shift + x_i.w + alpha_g(i),   y_i ~ family(t_i, e^s),   w_j ~ N(0, prior_sd^2)
//   alpha_g = sigma_alpha z_g,  z_g ~ N(0, 1),  sigma_alpha = e^tau ~ N+(0, 1)     (with --groups alone)
// A Gaussian y is first divided by its standard deviation, and centred where there is an intercept (`bias`); for counts
// shift = log mean y there, else 0. Draws are in y's units: the intercept takes centre and shift back.
// Coordinates: w (n), s (of a family with a parameter), z (groups), tau. Recorded: w, sigma or phi, alpha, sigma_alpha.
// Here: one chain's function, for CUDA; for many chains on the CPU products over blocks of the data (glm_cpu.cpp).
// Logits and products are in the run's precision, what follows from a logit in double.
// Cost: 4 N n operations a gradient, and N times the family's.
#pragma once
#include <algorithm>
#include <numeric>

#include "targets/glm_families.hpp"
#include "targets/regression_data.hpp"

namespace kilochain {

struct GlmSettings : RegressionSettings {
  GlmSettings() { prior_sd = 2.5; }
};

/// What a family says of itself to those who read and name.
struct GlmFamily {
  const char *model, *parameter;  ///< "" where the family has none
  Response response;
  bool binary, log_link;
};
template <class Family>
constexpr GlmFamily family_of() {
  return {Family::model, Family::parameter, Family::response, Family::binary, Family::log_link};
}

/// The design that the settings name; it lives as long as they do. Throws an Error as dataset.hpp does.
const Design& read_glm_design(const GlmFamily& family, const RegressionSettings& settings);
/// How y and the draws' units go together: y' = (y - centre) / scale, t' = t - shift.
struct GlmUnits {
  double centre = 0, scale = 1, shift = 0;
};
GlmUnits glm_units(const GlmFamily& family, const RegressionSettings& settings, const Design& design);
TargetInfo describe_glm(const GlmFamily& family, const RegressionSettings& settings, const Design& design,
                        std::size_t element);

/// Of everything but the rows: what both ways of evaluating have.
struct GlmShape {
  Index n, groups, num_rows, num_distinct;
  double inverse_variance, log_constant, shift;
  const double *distinct, *times;  ///< counts that occur, and how often
};
GlmShape glm_shape(const GlmFamily& family, const RegressionSettings& settings, const Design& design,
                   Arena<double>& arena);
/// y as the family has it, and the groups, of the rows in this order.
const double* glm_response(const GlmUnits& units, const Design& design, const std::vector<std::size_t>& order,
                           Arena<double>& arena);
const double* glm_groups(const Design& design, const std::vector<std::size_t>& order, Arena<double>& arena);

/// The sums over rows of one chain whose logits t without shift and groups are given; t becomes residuals.
/// alpha(i): what is added to logit i.
template <class Family, class Team, class Real, class Alpha>
KC_HD double glm_rows(const Team& team, const GlmShape& d, Index rows, const double* y, Real* t, double s, bool slopes,
                      double& slope, Alpha&& alpha) {
  const typename Family::Own own(s);
  if (Family::has_parameter && slopes)
    slope += team.template sum<double>(
        rows, [&](Index i) { return Family::observe(y[i], double(t[i]) + alpha(i) + d.shift, own).slope; });
  return team.template sum<double>(rows, [&](Index i) {
    const GlmTerm term = Family::observe(y[i], double(t[i]) + alpha(i) + d.shift, own);
    t[i] = Real(term.residual);
    return term.lp;
  });
}

/// Everything of an answer but the gradient of w, from the sums over rows; along(g): residuals of group g.
template <class Family, class Team, class Real, class Along>
KC_HD void glm_answer(const Team& team, const GlmShape& d, Needs needs, const Query<Real>& query,
                      const Reply<Real>& reply, double lp, double slope, Along&& along) {
  const bool gradient = needs != Needs::value;
  lp += d.log_constant - 0.5 * d.inverse_variance * team.template sum<double>(d.n, [&](Index j) {
    return double(query.point[j]) * double(query.point[j]);
  });
  if (Family::has_parameter) {
    const double s = double(query.point[d.n]), value = exp(s);
    const auto of_counts = [&](bool slopes) {
      return team.template sum<double>(d.num_distinct, [&](Index k) {
        const GlmTerm term = Family::of_count(d.distinct[k], value);
        return d.times[k] * (slopes ? term.slope : term.lp);
      });
    };
    const GlmTerm prior = Family::prior(s, value);
    lp += prior.lp + of_counts(false);
    if (gradient) {
      slope += prior.slope + of_counts(true);
      team.single([&] { reply.gradient[d.n] = Real(slope); });
    }
  }
  if (d.groups > 0) {
    const Index first = d.n + (Family::has_parameter ? 1 : 0), last = first + d.groups;
    const double tau = double(query.point[last]), sigma = exp(tau);
    lp += tau - 0.5 * sigma * sigma - 0.5 * team.template sum<double>(d.groups, [&](Index g) {
      return double(query.point[first + g]) * double(query.point[first + g]);
    });
    if (gradient) {
      const double sum = team.template sum<double>(d.groups, [&](Index g) {
        const double z = double(query.point[first + g]), of_alpha = sigma * along(g);
        reply.gradient[first + g] = Real(of_alpha - z);
        return z * of_alpha;
      });
      team.single([&] { reply.gradient[last] = Real(sum + 1 - sigma * sigma); });
    }
  }
  team.single([&] { *reply.lp = lp; });
}

template <class Real, class Family>
struct Glm {
  static constexpr const char* meaning = Family::meaning;
  using Settings = std::conditional_t<Family::binary, RegressionSettings, GlmSettings>;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    table_fields(visit, s, Family::observation);
    groups_field(visit, s);
    weight_fields(visit, s);
  }

  struct Data {
    GlmShape shape;
    const Real* x_columns;    ///< (n, num_padded), rows by their groups
    const double *y, *group;  ///< (num_rows)
    const double* begin;      ///< (groups + 1): first row of each group
    Index num_padded;
  };
  static Data prepare(const RegressionSettings& settings, Arena<Real>& arena, TargetInfo& info) {
    constexpr GlmFamily family = family_of<Family>();
    const Design& design = read_glm_design(family, settings);
    info = describe_glm(family, settings, design, sizeof(Real));
    std::vector<std::size_t> order(design.rows);
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::vector<double> begin(design.groups.size() + 1);
    if (!design.groups.empty()) {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return design.group[a] < design.group[b]; });
      for (const double g : design.group) ++begin[static_cast<std::size_t>(g) + 1];
      std::partial_sum(begin.begin(), begin.end(), begin.begin());
    }
    const std::size_t padded = (design.rows + 31) / 32 * 32, n = design.columns;
    const Real* const x = arena.place(padded * n, [&](Real* to) {
      for (std::size_t i = 0; i < design.rows; ++i)
        for (std::size_t j = 0; j < n; ++j) to[j * padded + i] = Real(design.x[order[i] * n + j]);
    });
    Arena<double>& doubles = arena.doubles();
    return {glm_shape(family, settings, design, doubles),
            x,
            glm_response(glm_units(family, settings, design), design, order, doubles),
            glm_groups(design, order, doubles),
            doubles.put(begin),
            static_cast<Index>(padded)};
  }
  static std::unique_ptr<Target<Real>> make_cpu(const Context& context, const RegressionSettings& settings);
  static std::unique_ptr<Target<Real>> make_cuda(const Context&, const RegressionSettings&) { return nullptr; }
  static KC_HD std::size_t scratch(const Data& d) { return static_cast<std::size_t>(d.num_padded); }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real* t) {
    const GlmShape& shape = d.shape;
    const std::size_t column = static_cast<std::size_t>(d.num_padded);
    const bool gradient = needs != Needs::value;
    const Index first = shape.n + (Family::has_parameter ? 1 : 0);
    const double s = Family::has_parameter ? double(query.point[shape.n]) : 0,
                 sigma = shape.groups > 0 ? double(exp(double(query.point[first + shape.groups]))) : 0;
    team.for_each(shape.num_rows, [&](Index i) {
      Real logit = 0;
      for (Index j = 0; j < shape.n; ++j) logit += d.x_columns[column * j + i] * query.point[j];
      t[i] = logit;
    });
    double slope = 0;
    const double lp = glm_rows<Family>(team, shape, shape.num_rows, d.y, t, s, gradient, slope, [&](Index i) {
      return sigma > 0 ? sigma * double(query.point[first + Index(d.group[i])]) : 0.0;
    });
    team.sync();
    glm_answer<Family>(team, shape, needs, query, reply, lp, slope, [&](Index g) {
      double sum = 0;
      for (Index i = Index(d.begin[g]); i < Index(d.begin[g + 1]); ++i) sum += double(t[i]);
      return sum;
    });
    if (!gradient) return;
    for (Index j = 0; j < shape.n; ++j) {
      const Real* x = d.x_columns + column * j;
      const Real sum = team.template sum<Real>(shape.num_rows, [&](Index i) { return x[i] * t[i]; });
      team.single([&] { reply.gradient[j] = sum - Real(shape.inverse_variance) * query.point[j]; });
    }
  }
};

}  // namespace kilochain
