#include "host/learn/centred_effects.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "base/dense.hpp"
#include "host/learn/least_squares.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

constexpr double told = 0.98, told_of_mean = 0.95;  // of the variance of g_v; of g_m, but for its prior
constexpr double of_largest = 1e-3;                 // of what an effect tells: less is noise
constexpr double of_precision = 0.05;               // of that of the effect that tells most: less is noise
constexpr double worth_a_mean = 0.8;                // of the variance, left without one
constexpr double least_of_effects = 0.1;            // of the variance, left without any
constexpr std::size_t most_means = 2;
constexpr Eigen::Index fewest_scales = 6, most_scales = 16;  // looked at: fewer where each is dear
constexpr double work = 3e8;                                 // multiply-adds

class Regression {
 public:
  explicit Regression(const DrawsAndGradients& draws)
      : x_(draws.x), g_(draws.g), squares_(draws.x.cwiseAbs2()), n_(x_.rows()) {}

  /// The coordinates whose gradients correlate most with e^{-2 c t} x_i^2, or (x_i - its mean)^2, beside what smooth
  /// functions of v tell: summed over i.
  std::vector<Eigen::Index> likely() const {
    const double cost = static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(x_.cols());
    const Eigen::Index most =
        std::min(n_, std::clamp(static_cast<Eigen::Index>(work / cost), fewest_scales, most_scales));
    const std::vector<Eigen::Index> of_squares = by_correlation(squares_),
                                    of_deviations =
                                        by_correlation((x_.colwise() - VectorXd(x_.rowwise().mean())).cwiseAbs2());
    std::vector<Eigen::Index> out;
    for (std::size_t k = 0; std::ssize(out) < most; ++k)
      for (const Eigen::Index v : {of_squares[k], of_deviations[k]})
        if (std::ranges::find(out, v) == out.end()) out.push_back(v);
    return out;
  }

  /// About 0, or about a coordinate that is their mean.
  std::optional<ScaledEffects> of(Eigen::Index v) const {
    double least = worth_a_mean, rate_of_least = 0;
    Best best;
    for (const ScaleLaw& scale : scale_laws) {
      const double left = best.look(*this, {}, v, scale);
      if (left < least) least = left, rate_of_least = scale.rate;
    }
    if (best.found || rate_of_least == 0) return best.found;
    for (const ScaleLaw& scale : scale_laws)
      if (std::signbit(scale.rate) == std::signbit(rate_of_least))
        for (const Eigen::Index mean : means(v, scale)) best.look(*this, mean, v, scale);
    return best.found;
  }

 private:
  /// What leaves least of the variance, of those that were looked at. Near its lower end a scale between bounds is all
  /// but one without.
  struct Best {
    std::optional<ScaledEffects> found;
    double left = 1;
    double look(const Regression& regression, std::optional<Eigen::Index> mean, Eigen::Index v, const ScaleLaw& scale) {
      double leaves = 1;
      if (auto one = regression.about(mean, v, scale, leaves); one && leaves < left)
        found = std::move(one), left = leaves;
      return leaves;
    }
  };
  struct Features {
    MatrixXd rows;
    RowVectorXd response;
    MatrixXd smooth;
    VectorXd lengths;  ///< of rows, as they were
    double size;       ///< of the response
  };
  /// e^{-2 c t}, t = u(v) - its median.
  ArrayXd scale_of(Eigen::Index v, const ScaleLaw& law) const {
    const ArrayXd t = law.u(ArrayXd(x_.row(v).transpose())) - law.u(median(x_.row(v)));
    return (-2 * law.rate * t).min(60).exp();
  }
  /// All coordinates, by how much features of these squares tell of their gradients.
  std::vector<Eigen::Index> by_correlation(const MatrixXd& squares) const {
    const Eigen::Index draws = x_.cols();
    const MatrixXd fourth = squares.cwiseAbs2();
    const RowVectorXd usual = squares.rowwise().mean().cwiseMax(1e-300).cwiseInverse().transpose(),
                      sizes = usual * squares;
    constexpr Eigen::Index smooth = powers + 2;
    MatrixXd by(draws, n_ * (smooth + 1)), twice(draws, n_);
    std::vector<std::pair<double, Eigen::Index>> told_of;
    for (Eigen::Index v = 0; v < n_; ++v) told_of.emplace_back(0, v);
    for (const double rate : {1.0, -1.0}) {
      for (Eigen::Index v = 0; v < n_; ++v) {
        const RowVectorXd scale = scale_of(v, {rate}).matrix().transpose(),
                          weights = weights_by_size(scale.cwiseProduct(sizes)), both = scale.cwiseProduct(weights);
        MatrixXd functions(smooth, draws);
        functions << smooth_functions(x_.row(v), weights), both;
        const MatrixXd Q = orthonormal(functions.transpose());
        VectorXd g = g_.row(v).cwiseProduct(weights).transpose();
        g -= times(Q, transposed_times(Q, g));
        by.col(v * (smooth + 1)) = both.transpose().cwiseProduct(g) / std::max(g.norm(), 1e-300);
        by.middleCols(v * (smooth + 1) + 1, smooth) = both.transpose().asDiagonal() * Q;
        twice.col(v) = both.cwiseAbs2().transpose();
      }
      const MatrixXd products = times(squares, by), lengths = times(fourth, twice);
      for (Eigen::Index v = 0; v < n_; ++v) {
        const auto of_v = products.middleCols(v * (smooth + 1), smooth + 1);
        double sum = 0;
        for (Eigen::Index i = 0; i < n_; ++i) {
          const double left = lengths(i, v) - of_v.row(i).tail(smooth).squaredNorm();
          if (i != v && left > 1e-9 * lengths(i, v)) sum += of_v(i, 0) * of_v(i, 0) / left;
        }
        told_of[std::size_t(v)].first = std::max(told_of[std::size_t(v)].first, sum);
      }
    }
    std::ranges::sort(told_of, std::greater<>());
    std::vector<Eigen::Index> out;
    for (const auto& [told_by, v] : told_of) out.push_back(v);
    return out;
  }
  Features features(std::optional<Eigen::Index> mean, Eigen::Index v, const ScaleLaw& law) const {
    Features out{squares_, g_.row(v), {}, {}, 0};
    if (mean) out.rows = (x_.rowwise() - x_.row(*mean)).cwiseAbs2();
    out.rows *= (scale_of(v, law) * law.slope(ArrayXd(x_.row(v).transpose()))).matrix().asDiagonal();
    out.rows.row(v).setZero();
    const RowVectorXd weights = weights_by_size(out.rows);
    out.rows *= weights.asDiagonal(), out.response.array() *= weights.array();
    out.smooth = smooth_functions(x_.row(v), weights);
    out.lengths = standardise(out.rows);
    out.size = standardise(out.response)[0];
    return out;
  }
  /// left: of the variance by all others, with an allowance for their number.
  std::optional<ScaledEffects> about(std::optional<Eigen::Index> mean, Eigen::Index v, const ScaleLaw& law,
                                     double& left) const {
    const Features at = features(mean, v, law);
    std::vector<Eigen::Index> effects;
    for (Eigen::Index i = 0; i < n_; ++i)
      if (i != v && i != mean) effects.push_back(i);
    if (effects.empty() || told_by(at, {}).left < least_of_effects) return {};
    Fit by = told_by(at, effects);
    left = by.left;
    // Those that tell next to nothing are none; nor are those of quite another precision, which is noise's.
    for (const bool precision : {false, true}) {
      if (!(by.left <= 1 - told)) return {};
      VectorXd sizes = by.coefficients.head(std::ssize(effects)).cwiseAbs();
      Eigen::Index largest = 0;
      sizes.maxCoeff(&largest);
      if (precision) sizes.array() /= at.lengths(effects).array().max(1e-300);
      std::vector<Eigen::Index> kept;
      for (Eigen::Index k = 0; k < sizes.size(); ++k)
        if (sizes[k] > (precision ? of_precision : of_largest) * sizes[largest])
          kept.push_back(effects[static_cast<std::size_t>(k)]);
      effects = std::move(kept);
      by = told_by(at, effects);
    }
    if (!(by.left <= 1 - told)) return {};
    ScaledEffects found{v, law, effects, {}, mean, {}, {}};
    for (Eigen::Index k = 0; const Eigen::Index i : effects) {
      const double precision = by.coefficients[k++] * at.size / at.lengths[i] / law.rate;
      if (!(precision > 0)) return {};
      found.precisions.push_back(precision);
    }
    return found;
  }
  /// Coordinates whose gradient is linear in e^{-2 c t} x.
  std::vector<Eigen::Index> means(Eigen::Index v, const ScaleLaw& law) const {
    MatrixXd features(n_ + 2, x_.cols()), responses = g_;
    features << x_, MatrixXd::Ones(2, x_.cols());
    features.row(v).setZero();
    features.topRows(n_ + 1) *= scale_of(v, law).matrix().asDiagonal();
    const RowVectorXd weights = weights_by_size(features.topRows(n_ + 1));
    features *= weights.asDiagonal(), responses *= weights.asDiagonal();
    standardise(features), standardise(responses);
    MatrixXd gram = times_own_transpose(features);
    gram.diagonal().array() += ridge;
    const MatrixXd with = times_transposed(features, responses);
    const auto solved = solve_symmetric(gram, with);
    if (!solved) return {};
    std::vector<std::pair<double, Eigen::Index>> told_of;
    for (Eigen::Index j = 0; j < n_; ++j)
      if (const double by = solved->col(j).dot(with.col(j)); j != v && by > told_of_mean) told_of.emplace_back(by, j);
    std::ranges::sort(told_of, std::greater<>());
    told_of.resize(std::min(told_of.size(), most_means));
    std::vector<Eigen::Index> out;
    for (const auto& [by, j] : told_of) out.push_back(j);
    return out;
  }
  static Fit told_by(const Features& at, const std::vector<Eigen::Index>& rows) {
    MatrixXd basis(std::ssize(rows) + at.smooth.rows(), at.smooth.cols());
    basis << at.rows(rows, Eigen::all), at.smooth;
    Fit out = fit(times_own_transpose(basis), times(basis, at.response.transpose()), 1);
    out.left /= 1 - static_cast<double>(basis.rows()) / static_cast<double>(basis.cols());
    return out;
  }

  const MatrixXd &x_, &g_;
  const MatrixXd squares_;
  const Eigen::Index n_;
};

}  // namespace

std::vector<ScaledEffects> centred_effects(const DrawsAndGradients& draws, const std::vector<ScaledEffects>& known,
                                           int threads) {
  const Eigen::Index n = draws.x.rows(), count = draws.x.cols();
  if (n < 2 || count < 3 * n || count < 2 * (n + powers + 1)) return {};
  const Regression regression(draws);
  std::vector<Eigen::Index> scales = regression.likely();
  std::erase_if(scales, [&](Eigen::Index v) {
    return std::ranges::any_of(known, [v](const ScaledEffects& e) { return e.parent == v; });
  });
  return found_by(regression, scales, threads);
}

}  // namespace kilochain
