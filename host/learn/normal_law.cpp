#include "host/learn/normal_law.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"
#include "base/units.hpp"
#include "host/learn/columns.hpp"
#include "host/learn/probes.hpp"
#include "host/learn/whitened.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr int full_rounds = 2, most_rounds = 25;
constexpr int patience = 5;                 // rounds in which nothing got better
constexpr int waits = 2;                    // rounds in which the others fit, for laws that are still on their way
constexpr double enough = 0.9, fair = 0.5;  // agreement, at once and of laws that stay
constexpr double better = 0.05;             // agreement
constexpr double still = 0.02;              // times n: a change of height, of laws that stay
constexpr double longest = 2, far = 1;      // times sqrt(n): of a mean's step, in its own law; of laws that stay
constexpr double normal = 50;               // times how curved a law is: of one nearly normal steps may be longer
constexpr double same_size = 2;             // an s_c beyond, or below its inverse, is of another law
constexpr double drop = 0.01, finer = 0.1;  // times n, of log density about a starting point: else draws are closer
constexpr Index draws_in_all = 256;

/// The laws of all points. A law's height is the mean log density of its draws and its log volume: what it falls short
/// of the density's own is their Kullback-Leibler divergence, but for a constant.
template <class Real>
class Laws {
 public:
  Laws(const GradientsAt<Real>& gradients_at, const std::vector<Real>& x, const std::vector<double>& factor, Index n)
      : gradients_at_(gradients_at),
        n_(n),
        laws_(std::ssize(x) / n),
        means_(columns_of(x, n)),
        factor_(factor_of(factor, n)) {
    constexpr double beyond_rounding = std::is_same_v<Real, double> ? 1e-3 : 0.05;
    gradients_at(x, &at_start_), gradients_ += laws_;
    sizes_.setConstant(laws_, beyond_rounding), steps_.setConstant(laws_, INFINITY);
    before_ = means_, reached_.setConstant(laws_, -INFINITY), felt_.resize(laws_);
  }

  /// What they are next, after round `round`; false: there is none.
  bool next(int round, const Rng& rng) {
    draw({rng.seed, rng.chain, rng.iteration + round});
    if (!(heights_.maxCoeff() > -INFINITY)) return false;
    reshape(round < full_rounds);
    for (Index c = 0; c < laws_; ++c)
      if (too_far(c))
        sizes_[c] *= finer;
      else
        move(c);
    return factor_.allFinite() && means_.allFinite();
  }

  /// By the draws that were looked at last.
  NormalLaw<Real> found() const {
    NormalLaw<Real> out;
    NormalStart<Real>& start = out.start;
    start.gradients = gradients_, start.seconds_of_gradient = seconds_ / static_cast<double>(each_ * laws_);
    start.factor = values_of<double>(factor_.transpose());
    const double top = heights_.maxCoeff(), bar = top - far_below(n_, std::sqrt(0.5 * static_cast<double>(n_)));
    std::vector<Real> points, slopes;
    start.fits = true;
    for (Index c = 0; c < laws_; ++c) {
      if (!(heights_[c] > bar)) {
        start.left.push_back(c), start.left_below = std::max(start.left_below, top - heights_[c]);
        continue;
      }
      const auto from = c * each_ * n_, to = from + each_ * n_;
      start.points.emplace_back(points_.begin() + from, points_.begin() + to);
      points.insert(points.end(), points_.begin() + from, points_.begin() + to);
      slopes.insert(slopes.end(), slopes_.begin() + from, slopes_.begin() + to);
      start.fits &= same(sizes_[c]) && steps_[c] < far;
    }
    start.fits &= 2 * std::ssize(start.points) >= laws_;
    out.agreement = agreement(points, slopes, start.factor, n_);
    out.height = height();
    return out;
  }

  /// Whether no law moves on, wherever it is.
  bool rest() const { return steps_.maxCoeff() < far; }
  /// Whether all have moved, so that their heights are known.
  bool felt() const { return steps_.allFinite(); }
  std::int64_t gradients() const { return gradients_; }

  /// Of the middle one of them.
  double height() const { return median(heights_); }

 private:
  auto own(MatrixXd& all, Index c) const { return all.middleCols(c * each_, each_); }
  static bool same(double size) { return std::abs(std::log(size)) < std::log(same_size); }
  /// Of a law's gradients, about their mean.
  double spread(Index c) { return (own(u_, c).colwise() - own(u_, c).rowwise().mean().eval()).norm(); }

  void draw(const Rng& rng) {
    z_ = normals_of(n_, each_ * laws_, rng);
    for (Index c = 0; c < laws_; ++c)  // about their own mean: so a normal's mean is found exactly
      own(z_, c).colwise() -= own(z_, c).rowwise().mean().eval();
    MatrixXd draws = times(factor_, z_);
    for (Index c = 0; c < laws_; ++c) own(draws, c) = (sizes_[c] * own(draws, c)).colwise() + means_.col(c);
    points_ = values_of<Real>(draws);
    std::vector<double> lp;
    const auto begin = std::chrono::steady_clock::now();
    slopes_ = gradients_at_(points_, &lp);
    seconds_ = seconds_since(begin), gradients_ += draws.cols();
    u_ = transposed_times(factor_, columns_of(slopes_, n_));
    mean_lp_.setConstant(laws_, -INFINITY);
    for (Index c = 0; c < laws_; ++c) {
      const double mean = Eigen::Map<const VectorXd>(lp.data() + c * each_, each_).mean();
      if (own(u_, c).allFinite() && std::isfinite(mean)) mean_lp_[c] = mean;
      own(u_, c) /= sizes_[c];
    }
    const double log_volume = factor_.diagonal().array().log().sum();
    heights_ = mean_lp_.array() + static_cast<double>(n_) * sizes_.array().log() + log_volume;
  }

  /// Draws are, of a law that has felt nothing yet: what is about its starting point is narrower. Or of any law, where
  /// one of them has no density.
  bool too_far(Index c) const {
    return !std::isfinite(mean_lp_[c]) ||
           (!felt_[c] && at_start_[static_cast<std::size_t>(c)] - mean_lp_[c] > drop * static_cast<double>(n_) + 1);
  }

  /// A, from the upper half of the laws and those that are all but as high, but not from those of another size.
  /// full: else half of the way, for else they go back and forth.
  void reshape(bool full) {
    const double bar = median(heights_) - static_cast<double>(n_);
    VectorXd sizes(laws_);
    for (Index c = 0; c < laws_; ++c) sizes[c] = std::sqrt(own(z_, c).norm() / spread(c));
    const double usual = median(sizes);
    MetricLearner learner(n_);
    for (Index c = 0; c < laws_; ++c)
      if (heights_[c] >= bar && same(sizes[c] / usual)) learner.add(&z_(0, c * each_), &u_(0, c * each_), each_);
    const MatrixXd as_before = -z_;
    if (!full) learner.add(z_.data(), as_before.data(), learner.freedom());
    const MatrixXd change = factor_of(learner, n_);
    factor_ = times(factor_, change);
    z_ = solve_lower(change, z_), u_ = transposed_times(change, u_);
  }

  /// A mean that went too far goes back half of the way.
  void move(Index c) {
    const bool first = !std::exchange(felt_[c], true);
    const VectorXd slope = own(u_, c).rowwise().mean();
    const double out = own(z_, c).norm(), in = spread(c), size = std::sqrt(out / in),
                 curved = std::max(1e-12, 1 + own(z_, c).cwiseProduct(own(u_, c)).sum() / (out * in));  // 0 of a normal
    const VectorXd way = size * size * sizes_[c] * slope;
    steps_[c] = first ? INFINITY : way.norm() / (size * std::sqrt(n_));
    sizes_[c] = size;
    if (heights_[c] < reached_[c] - static_cast<double>(n_)) {
      means_.col(c) = (means_.col(c) + before_.col(c)) / 2;
      return;
    }
    reached_[c] = heights_[c], before_.col(c) = means_.col(c);
    if (!first)
      means_.col(c) += times(factor_, way) * std::min(1.0, longest / (steps_[c] * std::min(1.0, normal * curved)));
  }

  const GradientsAt<Real>& gradients_at_;
  const Index n_, laws_, each_ = std::max(draws_in_all, 3 * n_ / 2) / laws_ + 2;
  MatrixXd means_, factor_;               ///< m_c, (n, law); F with A = F F^T
  VectorXd sizes_, steps_;                ///< s_c; how far its mean moved, in its law, over sqrt(n)
  std::vector<double> at_start_;          ///< log densities at starting points
  std::vector<std::uint8_t> felt_;        ///< whether draws were close enough to tell what is about them
  std::vector<Real> points_, slopes_;     ///< draws of all laws, and gradients there
  MatrixXd z_, u_;                        ///< the same, less s_c, in coordinates in which A is I
  VectorXd mean_lp_, heights_, reached_;  ///< of those draws; before the last steps that were not too far,
  MatrixXd before_;                       ///< and means there
  double seconds_ = 0;
  std::int64_t gradients_ = 0;
};

}  // namespace

template <class Real>
NormalLaw<Real> normal_law(const GradientsAt<Real>& gradients_at, const std::vector<Real>& x,
                           const std::vector<double>& factor, Index n, const Rng& rng, const std::atomic<bool>& stop) {
  NormalLaw<Real> out;
  if (n > most_dense || x.empty()) return out;
  Laws<Real> laws(gradients_at, x, factor, n);
  const double little = still * static_cast<double>(n) + 1;
  double last = -INFINITY, best = -INFINITY, agreed = 0;
  for (int round = 0, since = 0, alone = 0; round < most_rounds && since < patience && !stop; ++round) {
    if (!laws.next(round, rng)) break;
    if (round < full_rounds) continue;  // no mean has moved
    out = laws.found();
    const double height = out.height, agrees = std::ranges::min(out.agreement);
    const bool stays = std::abs(height - std::exchange(last, height)) < little;
    const bool fits = out.start.fits && agrees > (stays ? fair : enough);
    const bool few_left = 4 * std::ssize(out.start.left) * n <= std::ssize(x);
    if (fits && laws.felt() && (laws.rest() || (few_left && ++alone == waits))) return out;
    since = height > best + little || agrees > agreed + better ? 0 : since + 1;
    best = std::max(best, height), agreed = std::max(agreed, agrees);
  }
  out.start.fits = false, out.start.gradients = laws.gradients();
  return out;
}

template NormalLaw<float> normal_law(const GradientsAt<float>&, const std::vector<float>&, const std::vector<double>&,
                                     Index, const Rng&, const std::atomic<bool>&);
template NormalLaw<double> normal_law(const GradientsAt<double>&, const std::vector<double>&,
                                      const std::vector<double>&, Index, const Rng&, const std::atomic<bool>&);

}  // namespace kilochain
