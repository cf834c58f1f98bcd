#include "host/run/learn_coordinates.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double least_gain = 1, of_coordinate = 0.05, of_direction = 0.1;  // of log det Cov(y) + log det Cov(g_y)
constexpr double stands_out = 3;                                            // a parent's score, of the median
// Of a direction's precision, at the parent's median: 1 where the data say nothing; beyond, it is no such model.
constexpr double least_share = 0.01, most_share = 1.3;
constexpr int candidates = 3, probes = 8;
constexpr std::size_t most_steps = 8;

double median(VectorXd v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}
/// About the median, as a Gaussian's standard deviation.
double robust_sd(const VectorXd& v) { return 1.4826 * median((v.array() - median(v)).abs()); }

/// A draw far out, in position or gradient, counts less: beyond twice the usual length as the inverse square.
ArrayXd weights_of(const MatrixXd& z, const MatrixXd& h) {
  const ArrayXd longest = z.colwise().squaredNorm().cwiseMax(h.colwise().squaredNorm()).transpose();
  return (longest / (4 * static_cast<double>(z.rows()))).max(1).inverse();
}

/// x = mean + L z, g = L^-T h, where Cov(z) Cov(h) is as near to I as a metric gets.
struct Whitened {
  VectorXd mean;
  MatrixXd L, z, h;
  double divergence = INFINITY;  ///< log det Cov(x) + log det Cov(g)
};

std::optional<Whitened> whitened(const DrawsAndGradients& d) {
  const Index n = d.x.rows();
  Whitened out;
  VectorXd scale(n), middle(n);
  for (Index i = 0; i < n; ++i) {
    middle[i] = median(d.x.row(i));
    const double s = std::sqrt(robust_sd(d.x.row(i)) / median(d.g.row(i).cwiseAbs()));
    if (!(s > 0 && std::isfinite(s))) return {};
    scale[i] = s;
  }
  const MatrixXd x = scale.cwiseInverse().asDiagonal() * (d.x.colwise() - middle), g = scale.asDiagonal() * d.g;
  ArrayXd weights = weights_of(x, g);
  for (int round = 0; round < 3; ++round) {
    const double sum = weights.sum();
    out.mean = x * weights.matrix() / sum;
    const VectorXd root = weights.sqrt();
    MatrixXd Sx = MatrixXd::Zero(n, n), Sg = Sx;
    Sx.selfadjointView<Eigen::Lower>().rankUpdate(MatrixXd((x.colwise() - out.mean) * root.asDiagonal()), 1 / sum);
    Sg.selfadjointView<Eigen::Lower>().rankUpdate(MatrixXd(g * root.asDiagonal()), 1 / sum);
    Sx.diagonal().array() += 1e-9, Sg.diagonal().array() += 1e-9;
    Sg = MatrixXd(Sg.selfadjointView<Eigen::Lower>());
    const Eigen::LLT<MatrixXd> llt(Sx);
    const MatrixXd lower = llt.matrixL();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(lower.transpose() * Sg * lower);
    if (llt.info() != Eigen::Success || eigen.info() != Eigen::Success || !(eigen.eigenvalues()[0] > 0)) return {};
    const VectorXd values = eigen.eigenvalues();
    const MatrixXd half = lower * eigen.eigenvectors() * values.array().pow(-0.25).matrix().asDiagonal();
    const Eigen::LLT<MatrixXd> metric(half * half.transpose());
    if (metric.info() != Eigen::Success) return {};
    out.L = metric.matrixL();
    out.z = out.L.triangularView<Eigen::Lower>().solve(MatrixXd(x.colwise() - out.mean));
    out.h = out.L.transpose() * g;
    out.divergence = values.array().log().sum();  // that of lower^T Sg lower is det Sx det Sg
    weights = weights_of(out.z, out.h);
  }
  out.mean = middle + scale.cwiseProduct(out.mean);
  out.L = scale.asDiagonal() * out.L;
  return out;
}

/// v about its median, in standard deviations, with what lies far out drawn in.
ArrayXd along(const VectorXd& v) {
  const ArrayXd t = (v.array() - median(v)) / std::max(robust_sd(v), 1e-300);
  return t.max(-2.5).min(2.5);
}

/// For each coordinate v the squared size of its covariance with z z^T - h h^T, estimated by random signs.
VectorXd scores(const MatrixXd& x, const Whitened& w) {
  const Index n = x.rows(), draws = x.cols();
  MatrixXd t(n, draws);
  for (Index i = 0; i < n; ++i) t.row(i) = along(x.row(i)).matrix().transpose();
  t.colwise() -= t.rowwise().mean();
  t *= weights_of(w.z, w.h).matrix().asDiagonal();
  std::mt19937_64 random(1);
  VectorXd out = VectorXd::Zero(n);
  for (int k = 0; k < probes; ++k) {
    VectorXd signs(n);
    for (double& s : signs) s = (random() >> 63) ? 1 : -1;
    const VectorXd by_z = w.z.transpose() * signs, by_h = w.h.transpose() * signs;
    const MatrixXd product = w.z * by_z.asDiagonal() - w.h * by_h.asDiagonal();
    out += (t * product.transpose()).rowwise().squaredNorm();
  }
  return out;
}

/// The step by coordinate v as a conjugate hierarchical model has it, whose scales go with e^{c t}: given v
///   h = -(e^{-2 c t} P + R) z + e^{-2 c t} a + e^{-c t} m + b
/// is linear in P, R, a, m and b; of a Gaussian model these are exact, whatever the draws.
std::optional<Noncentring> step_by(Index v, double c, const DrawsAndGradients& d, const Whitened& w) {
  const Index n = d.x.rows(), draws = d.x.cols(), m = n - 1;
  std::vector<Index> others;
  for (Index i = 0; i < n; ++i)
    if (i != v) others.push_back(i);
  const MatrixXd A = (w.L * w.L.transpose())(others, others);
  const Eigen::LLT<MatrixXd> llt(A);
  const double sd = robust_sd(d.x.row(v)), centre = median(d.x.row(v));
  if (llt.info() != Eigen::Success || !(sd > 0) || draws < 3 * n) return {};
  const MatrixXd L = llt.matrixL();
  const ArrayXd t = (d.x.row(v).array() - centre).transpose();
  MatrixXd about = d.x(others, Eigen::all);
  about.colwise() -= VectorXd(w.mean(others));
  const MatrixXd z = L.triangularView<Eigen::Lower>().solve(about), h = L.transpose() * d.g(others, Eigen::all);
  const ArrayXd above = (-2 * c * t).min(30).exp();
  const ArrayXd weights = (h.colwise().squaredNorm().transpose().array() / m)
                              .max(z.colwise().squaredNorm().transpose().array() / m)
                              .max(1)
                              .inverse();
  MatrixXd basis(2 * m + 3, draws);
  basis.topRows(m) = z * above.matrix().asDiagonal();
  basis.middleRows(m, m) = z;
  basis.row(2 * m) = above.matrix().transpose();
  basis.row(2 * m + 1) = above.sqrt().matrix().transpose();
  basis.row(2 * m + 2).setOnes();
  const MatrixXd weighted = basis * weights.matrix().asDiagonal();
  MatrixXd gram = weighted * basis.transpose();
  gram.diagonal() *= 1 + 1e-6;
  const Eigen::LDLT<MatrixXd> ldlt(gram);
  if (ldlt.info() != Eigen::Success) return {};
  const MatrixXd fit = ldlt.solve(weighted * h.transpose());  // (2 m + 3, m)
  if (!fit.allFinite()) return {};
  const MatrixXd P = -(fit.topRows(m) + fit.topRows(m).transpose()) / 2,
                 R = -(fit.middleRows(m, m) + fit.middleRows(m, m).transpose()) / 2;
  // B = P + R = C C^T; C^-1 P C^-T = U share U^T.
  Eigen::SelfAdjointEigenSolver<MatrixXd> whole(P + R);
  const VectorXd values = whole.eigenvalues();
  const MatrixXd C = whole.eigenvectors() * values.cwiseMax(0.02).cwiseSqrt().asDiagonal() *
                     whole.eigenvectors().transpose(),
                 inverse = whole.eigenvectors() * values.cwiseMax(0.02).cwiseSqrt().cwiseInverse().asDiagonal() *
                           whole.eigenvectors().transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(inverse * P * inverse);
  // What the noise of P alone would show: the largest eigenvalue of a symmetric matrix of independent errors.
  const MatrixXd left = (h - fit.transpose() * basis) * weights.sqrt().matrix().asDiagonal();
  const MatrixXd covariance = ldlt.solve(MatrixXd::Identity(2 * m + 3, m));
  const double error = left.squaredNorm() / static_cast<double>(m * (draws - 2 * m - 3)) *
                       covariance.topRows(m).diagonal().mean(),
               noise = std::sqrt(2 * static_cast<double>(m) * error);
  std::vector<Index> kept;
  if (!(eigen.eigenvalues()[m - 1] < most_share + noise)) return {};
  for (Index k = 0; k < m; ++k)
    if (eigen.eigenvalues()[k] > std::max(least_share, noise)) kept.push_back(k);
  if (kept.empty()) return {};
  const auto count = static_cast<Index>(kept.size());
  const MatrixXd U = eigen.eigenvectors()(Eigen::all, kept), W = inverse * U, D = U.transpose() * C;
  const ArrayXd share = eigen.eigenvalues()(kept).array().min(1);
  Noncentring step{v, centre, MatrixXd::Zero(n, count), MatrixXd::Zero(n, count), {}, {}, {}, {}, {}};
  step.directions(others, Eigen::all) = L * W;
  step.along(others, Eigen::all) = MatrixXd(L.transpose().triangularView<Eigen::Upper>().solve(D.transpose()));
  const ArrayXd a = (W.transpose() * fit.row(2 * m).transpose()).array(),
                between = (W.transpose() * fit.row(2 * m + 1).transpose()).array(),
                b = (W.transpose() * fit.row(2 * m + 2).transpose()).array();
  step.rates = ArrayXd::Constant(count, c);
  step.data = (1 - share) / share;
  step.fixed = a / share;
  step.shifts = (share < 0.999).select(b / (1 - share).max(1e-3) - step.fixed, 0.0);
  step.between = between / share;
  step.fixed += (step.along.transpose() * w.mean).array();
  return step;
}

DrawsAndGradients in(const LearntCoordinates& coordinates, const DrawsAndGradients& d) {
  LearntCoordinates::Trace trace;
  DrawsAndGradients out = d;
  for (Index k = 0; k < d.x.cols(); ++k) {
    VectorXd y = d.x.col(k);
    coordinates.from_target(y);
    out.x.col(k) = y;
    coordinates.to_target(y, trace);
    coordinates.pull_back(out.g.col(k), trace);
  }
  return out;
}

/// The draws as the target has them.
DrawsAndGradients out_of(const LearntCoordinates& coordinates, DrawsAndGradients d) {
  LearntCoordinates::Trace trace;
  for (Index k = 0; k < d.x.cols(); ++k) {
    coordinates.to_target(d.x.col(k), trace);
    coordinates.push_forward(d.g.col(k), trace);
  }
  return d;
}

struct Learnt {
  LearntCoordinates coordinates;
  DrawsAndGradients draws;  ///< in them
  Whitened white;
};

/// One step more, by the parent that stands out most among those with which it pays.
bool improve(Learnt& so_far) {
  const Index n = so_far.draws.x.rows();
  const VectorXd score = scores(so_far.draws.x, so_far.white);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return score[a] > score[b]; });
  const double usual = score[order[static_cast<std::size_t>(n / 2)]];
  order.resize(static_cast<std::size_t>(std::min<Index>(candidates, n)));
  for (const Index parent : order) {
    if (score[parent] < stands_out * usual) return false;
    std::optional<Learnt> best;
    for (const double rate : {1.0, 0.5, -1.0, -0.5}) {
      const auto step = step_by(parent, rate, so_far.draws, so_far.white);
      if (!step) continue;
      LearntCoordinates one;
      one.add(*step);
      Learnt next{so_far.coordinates, in(one, so_far.draws), {}};
      const double gain =
          least_gain + of_coordinate * static_cast<double>(n) + of_direction * static_cast<double>(step->rates.size());
      if (!next.draws.x.allFinite() || !next.draws.g.allFinite()) continue;
      const auto white = whitened(next.draws);
      if (!white || white->divergence > (best ? best->white.divergence : so_far.white.divergence - gain)) continue;
      next.white = *white;
      next.coordinates.add(*step);
      best = std::move(next);
    }
    if (!best) continue;
    so_far = *std::move(best);
    return true;
  }
  return false;
}

}  // namespace

bool learn_coordinates(LearntCoordinates& coordinates, DrawsAndGradients& draws) {
  const Index n = draws.x.rows();
  if (n < 2 || n > most_coordinates || draws.x.cols() < 3 * n) return false;
  const std::optional<Whitened> now = whitened(draws);
  Learnt learnt{{}, out_of(coordinates, draws), {}};
  auto white = whitened(learnt.draws);
  if (!now || !white) return false;
  learnt.white = *std::move(white);
  while (learnt.coordinates.size() < most_steps && improve(learnt)) continue;
  if (!(learnt.white.divergence < now->divergence - least_gain)) return false;
  coordinates = std::move(learnt.coordinates), draws = std::move(learnt.draws);
  return true;
}

}  // namespace kilochain
