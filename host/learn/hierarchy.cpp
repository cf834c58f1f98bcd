#include "host/learn/hierarchy.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"
#include "host/learn/least_squares.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;

// Of a direction's precision, at the parent's median: 1 where the data say nothing; beyond, it is no such model.
constexpr double least_share = 0.01, most_share = 1.3;
constexpr double trusted = 10;  // times a prior's precision: beyond, its error is more than what the data say

/// Of the prior of centred effects, where their parent is at its median.
MatrixXd effects_precision(const ScaledEffects& e, Eigen::Index n) {
  MatrixXd out = MatrixXd::Zero(n, n);
  if (e.precision.size() > 0) {
    out(e.effects, e.effects) = e.precision;
    return out;
  }
  for (std::size_t k = 0; k < e.effects.size(); ++k) {
    const Eigen::Index i = e.effects[k];
    out(i, i) += e.precisions[k];
    if (!e.mean) continue;
    out(*e.mean, *e.mean) += e.precisions[k];
    out(i, *e.mean) -= e.precisions[k], out(*e.mean, i) -= e.precisions[k];
  }
  return out;
}

VectorXd about_of(const ScaledEffects& e, Eigen::Index n) {
  VectorXd out = VectorXd::Zero(n);
  if (e.about.size() > 0) out(e.effects) = e.about;
  return out;
}

}  // namespace

std::optional<Given> given(Eigen::Index v, const ScaleLaw& scale, const DrawsAndGradients& d, const Whitened& w) {
  Given out{v, scale, scale.u(median(d.x.row(v))), {}, {}, {}, {}, {}, {}, {}};
  for (Eigen::Index i = 0; i < d.x.rows(); ++i)
    if (i != v) out.others.push_back(i);
  auto L = cholesky(times_own_transpose(w.L)(out.others, out.others));
  if (!L || !(robust_sd(d.x.row(v)) > 0)) return {};
  out.L = *std::move(L), out.mean = w.mean(out.others);
  out.t = scale.u(ArrayXd(d.x.row(v).transpose())) - out.centre;
  out.z = solve_lower(out.L, d.x(out.others, Eigen::all).colwise() - out.mean);
  out.h = transposed_times(out.L, d.g(out.others, Eigen::all));
  out.weights = (out.h.colwise().squaredNorm().cwiseMax(out.z.colwise().squaredNorm()).transpose().array() /
                 static_cast<double>(out.L.rows()))
                    .max(1)
                    .inverse();
  return out;
}

std::optional<Hierarchy> fitted(const Given& at, double c) {
  const Eigen::Index m = at.z.rows(), draws = at.z.cols();
  if (draws < 3 * (m + 1)) return {};
  const ArrayXd above = (-2 * c * at.t).min(30).exp();
  MatrixXd basis(2 * m + 3, draws);
  basis.topRows(m) = at.z * above.matrix().asDiagonal();
  basis.middleRows(m, m) = at.z;
  basis.row(2 * m) = above.matrix().transpose();
  basis.row(2 * m + 1) = above.sqrt().matrix().transpose();
  basis.row(2 * m + 2).setOnes();
  const auto root = at.weights.sqrt().matrix().asDiagonal();
  const MatrixXd weighted = basis * root, slopes = at.h * root;
  MatrixXd gram = times_own_transpose(weighted);
  gram.diagonal() *= 1 + 1e-6;
  MatrixXd right(2 * m + 3, 2 * m);
  right << times_transposed(weighted, slopes), MatrixXd::Identity(2 * m + 3, m);
  const auto solved = solve_symmetric(gram, right);
  if (!solved) return {};
  const MatrixXd fit = solved->leftCols(m);  // (2 m + 3, m)
  Hierarchy out{-(fit.topRows(m) + fit.topRows(m).transpose()) / 2,
                -(fit.middleRows(m, m) + fit.middleRows(m, m).transpose()) / 2, fit.row(2 * m).transpose(),
                fit.row(2 * m + 1).transpose(), fit.row(2 * m + 2).transpose()};
  // The largest eigenvalue of a symmetric matrix of independent errors.
  const MatrixXd left = slopes - transposed_times(fit, weighted);
  const double variance = solved->rightCols(m).diagonal().mean(),  // of a coefficient, times that of what is left
      error = left.squaredNorm() / static_cast<double>(m * (draws - 2 * m - 3)) * variance;
  out.noise = std::sqrt(2 * static_cast<double>(m) * error);
  return out;
}

std::optional<DataPrecision> data_precision(const DrawsAndGradients& draws, const std::vector<ScaledEffects>& groups) {
  const Eigen::Index n = draws.x.rows(), count = draws.x.cols();
  MatrixXd g = draws.g;
  std::vector<Eigen::Index> others;
  for (Eigen::Index i = 0; i < n; ++i)
    if (std::ranges::none_of(groups, [i](const ScaledEffects& e) { return e.parent == i; })) others.push_back(i);
  Eigen::RowVectorXd narrow = Eigen::RowVectorXd::Constant(count, trusted);  // the narrowest prior at each draw
  for (const ScaledEffects& e : groups) {
    const ArrayXd t = e.scale.u(ArrayXd(draws.x.row(e.parent).transpose())) - e.scale.u(median(draws.x.row(e.parent))),
                  scale = (-2 * e.scale.rate * t).min(60).exp();
    g += times(effects_precision(e, n), draws.x.colwise() - about_of(e, n)) * scale.matrix().asDiagonal();
    narrow = narrow.cwiseMax(scale.matrix().transpose());
  }
  const Eigen::Index m = std::ssize(others);
  if (m < 1 || count < 2 * m + 2) return {};
  MatrixXd x = draws.x(others, Eigen::all), rest = g(others, Eigen::all);
  const VectorXd mean = x.rowwise().mean();
  x.colwise() -= mean;
  const VectorXd sd = x.rowwise().norm().cwiseMax(1e-300) / std::sqrt(static_cast<double>(count));
  MatrixXd basis(m + 1, count);
  basis << sd.cwiseInverse().asDiagonal() * x, MatrixXd::Ones(1, count);
  rest = sd.asDiagonal() * rest;
  MatrixXd both(2 * m, count);
  both << basis.topRows(m), rest.colwise() - rest.rowwise().mean();
  const Eigen::RowVectorXd weights = weights_by_size(both).cwiseProduct(trusted * narrow.cwiseInverse());
  basis *= weights.asDiagonal(), rest *= weights.asDiagonal();
  MatrixXd gram = times_own_transpose(basis);
  gram.diagonal() *= 1 + 1e-9;
  const auto solved = solve_symmetric(gram, times_transposed(basis, rest));
  if (!solved) return {};
  // Without what noise makes negative of it.
  const auto eigen = symmetric_eigen(-(solved->topRows(m) + solved->topRows(m).transpose()) / 2);
  if (!eigen) return {};
  const VectorXd by_sd = sd.cwiseInverse();
  const MatrixXd R = by_sd.asDiagonal() * eigen->with_values(eigen->values.cwiseMax(0)) * by_sd.asDiagonal();
  DataPrecision out{MatrixXd::Zero(n, n), VectorXd::Zero(n)};
  out.precision(others, others) = R;
  out.pull(others) = by_sd.cwiseProduct(solved->row(m).transpose()) + VectorXd(times(R, mean));
  return out;
}

Hierarchy model_of(std::size_t k, const Given& at, const std::vector<ScaledEffects>& groups, const DataPrecision& data,
                   const VectorXd& origin) {
  const Eigen::Index n = data.pull.size();
  const VectorXd mean = at.mean + origin(at.others);
  const MatrixXd own = effects_precision(groups[k], n)(at.others, at.others);
  MatrixXd rest = data.precision;
  VectorXd pulls = data.pull;
  for (std::size_t other = 0; other < groups.size(); ++other)
    if (other != k) {
      const MatrixXd P = effects_precision(groups[other], n);
      rest += P, pulls += VectorXd(times(P, about_of(groups[other], n)));
    }
  // Other parents are left alone, as wide as they are.
  MatrixXd R = rest(at.others, at.others);
  VectorXd pull = pulls(at.others) - VectorXd(times(R, mean));
  for (const ScaledEffects& e : groups)
    if (e.parent != at.v) {
      const Eigen::Index i = e.parent - (e.parent > at.v);
      R(i, i) = 1 / at.L.row(i).squaredNorm(), pull[i] = 0;
    }
  const MatrixXd own_L = times(own, at.L);
  const VectorXd from = mean - about_of(groups[k], n)(at.others);
  return {transposed_times(at.L, own_L), transposed_times(at.L, times(R, at.L)), -transposed_times(own_L, from),
          VectorXd::Zero(n - 1), transposed_times(at.L, pull)};
}

std::optional<Noncentring> step_of(const Given& at, double c, const Hierarchy& model) {
  const Eigen::Index n = at.L.rows() + 1, m = n - 1;
  // B = P + R = C C^T; C^-1 P C^-T = U share U^T.
  const auto whole = symmetric_eigen(model.P + model.R);
  if (!whole) return {};
  const VectorXd roots = whole->values.cwiseMax(0.02).cwiseSqrt();
  const MatrixXd C = whole->with_values(roots), inverse = whole->with_values(roots.cwiseInverse());
  const auto eigen = symmetric_eigen(times(times(inverse, model.P), inverse));
  if (!eigen || !(eigen->values[m - 1] < most_share + model.noise)) return {};
  std::vector<Eigen::Index> kept;
  for (Eigen::Index k = 0; k < m; ++k)
    if (eigen->values[k] > std::max(least_share, model.noise)) kept.push_back(k);
  if (kept.empty()) return {};
  const auto count = static_cast<Eigen::Index>(kept.size());
  const MatrixXd U = eigen->vectors(Eigen::all, kept), W = times(inverse, U), CU = times(C, U);
  const ArrayXd share = eigen->values(kept).array().min(1);
  Noncentring step{at.v, at.centre, MatrixXd::Zero(n, count), MatrixXd::Zero(n, count), {}, {}, {}, {}, {}, at.scale};
  step.directions(at.others, Eigen::all) = times(at.L, W);
  const MatrixXd along = solve_lower_transposed(at.L, CU);
  step.along(at.others, Eigen::all) = along;
  const ArrayXd a = transposed_times(W, model.above).array(), b = transposed_times(W, model.data).array();
  step.rates = ArrayXd::Constant(count, c);
  step.data = (1 - share) / share;
  step.fixed = a / share;
  step.shifts = (share < 0.999).select(b / (1 - share).max(1e-3) - step.fixed, 0.0);
  step.between = transposed_times(W, model.between).array() / share;
  step.fixed += transposed_times(along, at.mean).array();
  return step;
}

}  // namespace kilochain
