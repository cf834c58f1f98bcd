#include "host/learn/normal_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/dense.hpp"

namespace kilochain {
namespace {

constexpr int most_rounds_of_em = 50;
constexpr double gain = 1e-3;             // nats a draw, of a round
constexpr double least_draws_of_law = 3;  // a coordinate
constexpr double narrowest = 1e-10;       // of all draws' variances

/// Of draws that count `weights` each.
std::optional<Overlay::Law> weighted_law(const Eigen::MatrixXd& x, const Eigen::VectorXd& weights) {
  const double sum = weights.sum();
  Overlay::Law law{x * weights / sum, {}, std::log(sum)};
  const Eigen::MatrixXd off = (x.colwise() - law.mean) * weights.cwiseSqrt().asDiagonal();
  auto factor = cholesky(times_own_transpose(off) / sum);
  if (!factor) return {};
  law.factor = std::move(*factor);
  return law;
}

/// (draw, law): log of each law's share and density, but for a constant of all.
Eigen::MatrixXd heights(const Eigen::MatrixXd& x, const std::vector<Overlay::Law>& laws) {
  Eigen::MatrixXd out(x.cols(), std::ssize(laws));
  for (Eigen::Index k = 0; const Overlay::Law& law : laws) {
    const Eigen::MatrixXd z = solve_lower(law.factor, x.colwise() - law.mean);
    out.col(k++) =
        (law.log_share - law.factor.diagonal().array().log().sum() - 0.5 * z.colwise().squaredNorm().array()).matrix();
  }
  return out;
}

struct Fitted {
  std::vector<Overlay::Law> laws;  ///< the largest share first
  double height = -INFINITY;       ///< mean log density of a draw
};

Fitted fit(const Eigen::MatrixXd& x, std::vector<Overlay::Law> laws) {
  const auto draws = static_cast<double>(x.cols());
  const Eigen::VectorXd least = narrowest * (x.colwise() - x.rowwise().mean()).rowwise().squaredNorm() / draws;
  double before = -INFINITY;
  for (int round = 0; round < most_rounds_of_em && !laws.empty(); ++round) {
    Eigen::MatrixXd parts = heights(x, laws);
    const Eigen::VectorXd top = parts.rowwise().maxCoeff();
    parts = (parts.colwise() - top).array().exp();
    const Eigen::VectorXd all = parts.rowwise().sum();
    double share = 0;
    for (const Overlay::Law& law : laws) share += std::exp(law.log_share);
    const double now = (top.array() + all.array().log()).mean() - std::log(share);
    parts = all.cwiseInverse().asDiagonal() * parts;
    std::vector<Overlay::Law> next;
    for (Eigen::Index k = 0; k < parts.cols(); ++k) {
      if (parts.col(k).sum() < least_draws_of_law * static_cast<double>(x.rows())) continue;
      auto law = weighted_law(x, parts.col(k));
      if (law && (law->factor.rowwise().squaredNorm().array() > least.array()).all()) next.push_back(std::move(*law));
    }
    const bool ends = next.size() == laws.size() && now < before + gain;
    laws = std::move(next), before = now;
    if (ends) break;
  }
  std::ranges::stable_sort(laws, std::greater{}, &Overlay::Law::log_share);
  return {std::move(laws), before};
}

}  // namespace

std::optional<Overlay::Law> law_of_all(const Eigen::MatrixXd& x) {
  return weighted_law(x, Eigen::VectorXd::Ones(x.cols()));
}

std::vector<Overlay::Law> fit_mixture(const Eigen::MatrixXd& x, std::vector<Overlay::Law> laws) {
  Fitted best = fit(x, std::move(laws));
  const auto n = static_cast<double>(x.rows()), draws = static_cast<double>(x.cols()),
             of_law = 0.5 * std::log(draws) * (1 + n + n * (n + 1) / 2) / draws;
  for (std::size_t k = best.laws.size(); k-- > 0 && best.laws.size() > 1;) {
    std::vector<Overlay::Law> fewer = best.laws;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    Fitted next = fit(x, std::move(fewer));
    const auto dropped = static_cast<double>(best.laws.size() - next.laws.size());
    if (best.height - next.height > of_law * dropped) continue;
    best = std::move(next), k = best.laws.size();
  }
  return std::move(best.laws);
}

}  // namespace kilochain
