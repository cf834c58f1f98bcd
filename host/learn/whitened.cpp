#include "host/learn/whitened.hpp"

#include "base/dense.hpp"

namespace kilochain {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;

ArrayXd weights_of(const MatrixXd& z, const MatrixXd& h) {
  const ArrayXd longest = z.colwise().squaredNorm().cwiseMax(h.colwise().squaredNorm()).transpose();
  return (longest / (4 * static_cast<double>(z.rows()))).max(1).inverse();
}

template <class Real>
DrawsAndGradients finite_of(const std::vector<Real>& x, const std::vector<Real>& g, Eigen::Index n) {
  using Columns = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  const auto count = static_cast<Eigen::Index>(std::ssize(x) / n);
  const Eigen::Map<const Columns> points(x.data(), n, count), slopes(g.data(), n, count);
  std::vector<Eigen::Index> finite;
  for (Eigen::Index k = 0; k < count; ++k)
    if (points.col(k).allFinite() && slopes.col(k).allFinite()) finite.push_back(k);
  return {points(Eigen::all, finite).template cast<double>(), slopes(Eigen::all, finite).template cast<double>()};
}
template DrawsAndGradients finite_of(const std::vector<float>&, const std::vector<float>&, Eigen::Index);
template DrawsAndGradients finite_of(const std::vector<double>&, const std::vector<double>&, Eigen::Index);

std::optional<Whitened> whitened(const DrawsAndGradients& d) {
  const Eigen::Index n = d.x.rows();
  Whitened out;
  VectorXd scale(n), middle(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    middle[i] = median(d.x.row(i));
    const double s = std::sqrt(robust_sd(d.x.row(i)) / median(d.g.row(i).cwiseAbs()));
    if (!(s > 0 && std::isfinite(s))) return {};
    scale[i] = s;
  }
  const MatrixXd x = scale.cwiseInverse().asDiagonal() * (d.x.colwise() - middle), g = scale.asDiagonal() * d.g;
  ArrayXd weights = weights_of(x, g);
  for (int round = 0; round < 3; ++round) {
    const double sum = weights.sum();
    out.mean = times(x, weights.matrix()) / sum;
    const VectorXd root = (weights / sum).sqrt();
    MatrixXd Sx = times_own_transpose((x.colwise() - out.mean) * root.asDiagonal()),
             Sg = times_own_transpose(g * root.asDiagonal());
    Sx.diagonal().array() += 1e-9, Sg.diagonal().array() += 1e-9;
    const auto lower = cholesky(Sx);
    const auto eigen = lower ? symmetric_eigen(transposed_times(*lower, times(Sg, *lower))) : std::nullopt;
    if (!eigen || !(eigen->values[0] > 0)) return {};
    const MatrixXd half = times(*lower, eigen->vectors) * eigen->values.array().pow(-0.25).matrix().asDiagonal();
    auto L = cholesky(times_own_transpose(half));
    if (!L) return {};
    out.L = *std::move(L);
    out.z = solve_lower(out.L, x.colwise() - out.mean);
    out.h = transposed_times(out.L, g);
    out.divergence = eigen->values.array().log().sum();  // that of lower^T Sg lower is det Sx det Sg
    weights = weights_of(out.z, out.h);
  }
  out.mean = middle + scale.cwiseProduct(out.mean);
  out.L = scale.asDiagonal() * out.L;
  return out;
}

double nonlinearity(const Whitened& white) {
  const MatrixXd &z = white.z, &h = white.h;
  const VectorXd root = weights_of(z, h).sqrt();
  MatrixXd basis(z.rows() + 1, z.cols());
  basis.topRows(z.rows()) = z, basis.row(z.rows()).setOnes();
  basis = (basis * root.asDiagonal()).eval();
  const MatrixXd weighted = h * root.asDiagonal();
  MatrixXd gram = times_own_transpose(basis);
  gram.diagonal() *= 1 + 1e-9;
  const auto fit = solve_symmetric(gram, times_transposed(basis, weighted));
  if (!fit) return NAN;
  const VectorXd mean = times(weighted, root) / root.squaredNorm();
  return (weighted - transposed_times(*fit, basis)).squaredNorm() /
         (weighted - times_transposed(mean, root)).squaredNorm();
}

}  // namespace kilochain
