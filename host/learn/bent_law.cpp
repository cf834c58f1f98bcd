#include "host/learn/bent_law.hpp"

#include <algorithm>
#include <numeric>

#include "host/learn/learnt_metric.hpp"
#include "host/learn/logistic_lines.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd;
using RowMajor = LogisticRows::Matrix;

constexpr Eigen::Index fewest_draws = 200;

/// Some of the finite draws, (n, draw).
template <class Real>
MatrixXd some_of(const std::vector<Real>& draws, Eigen::Index n, Eigen::Index most) {
  const Eigen::Index all = std::ssize(draws) / n, every = (all + most - 1) / most;
  MatrixXd out(n, (all + every - 1) / every);
  Eigen::Index count = 0;
  for (Eigen::Index k = 0; k < all; k += every) {
    for (Eigen::Index i = 0; i < n; ++i)
      out(i, count) = static_cast<double>(draws[static_cast<std::size_t>(k * n + i)]);
    if (out.col(count).allFinite()) ++count;
  }
  return out.leftCols(count);
}

}  // namespace

template <class Real>
std::optional<BentLaw> bent_law(const Design& design, double prior_sd, const std::vector<Real>& draws, Index room) {
  const LogisticRows observed(design, prior_sd);
  const Eigen::Index n = observed.dim(), rows = observed.rows(), most = observed.most_draws();
  if (n > most_dense || most < std::max(fewest_draws, n)) return {};
  const MatrixXd x = some_of(draws, n, most);
  if (x.cols() < std::max(fewest_draws, n)) return {};
  const LogisticLines line = observed.lines(x);

  std::vector<Eigen::Index> bend(static_cast<std::size_t>(rows));
  std::iota(bend.begin(), bend.end(), 0);
  const auto count = std::min<Eigen::Index>(room, rows);
  std::nth_element(bend.begin(), bend.begin() + count, bend.end(),
                   [&](auto a, auto b) { return line.leaves[a] > line.leaves[b]; });
  bend.resize(static_cast<std::size_t>(count));
  std::sort(bend.begin(), bend.end());
  const auto normal = observed.normal(line, line.slope, x.rowwise().mean());
  if (!normal) return {};
  const auto& [F, mean] = *normal;

  BentLaw out;
  out.factor.resize(static_cast<std::size_t>(n * n));
  Eigen::Map<RowMajor>(out.factor.data(), n, n) = F;
  out.mean.assign(mean.data(), mean.data() + n);
  out.bending.lines.resize(static_cast<std::size_t>(count * n));
  Eigen::Map<RowMajor> lines(out.bending.lines.data(), count, n);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::Index i = bend[static_cast<std::size_t>(k)];
    lines.row(k) = observed.x().row(i) * F;
    const double logit = observed.x().row(i) * mean;
    out.bending.logit.push_back(logit), out.bending.sign.push_back(observed.sign()[i]),
        out.bending.slope.push_back(line.slope[i]);
    out.bending.offset.push_back(line.residual[i] + line.slope[i] * (logit - line.logit[i]));
  }
  return out;
}

template std::optional<BentLaw> bent_law(const Design&, double, const std::vector<float>&, Index);
template std::optional<BentLaw> bent_law(const Design&, double, const std::vector<double>&, Index);

}  // namespace kilochain
