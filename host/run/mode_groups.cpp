#include "host/run/mode_groups.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace kilochain {
namespace {

constexpr double gap_between_modes = 4;          // of both chains' standard deviations
constexpr int most_groups = 64, most_alone = 8;  // where more chains stand alone they are on their way: none is in any

template <class Real>
class Groups {
 public:
  explicit Groups(const FrozenDraws<Real>& draws) : draws_(draws) {
    for (std::int64_t c = 0; c < draws.chains; ++c) means_.push_back(of(c).rowwise().mean());
  }
  /// (chain) a group, -1 of those that are in none.
  std::vector<int> operator()(TargetGradients<Real>& gradients_at, std::int64_t& gradients) const {
    std::vector<std::int64_t> left = draws_.running;
    const auto lp_at = [&](auto&& point) {
      std::vector<Real> points;
      for (const std::int64_t c : left) {
        const Eigen::VectorXd at = point(c);
        std::ranges::transform(at, std::back_inserter(points), [](double v) { return static_cast<Real>(v); });
      }
      std::vector<double> lp;
      gradients_at(points, &lp);
      gradients += std::ssize(lp);
      return lp;
    };
    std::vector<double> lp(means_.size(), NAN);
    for (std::size_t k = 0; const double v : lp_at([&](std::int64_t c) { return mean(c); })) lp[left[k++]] = v;
    std::erase_if(left, [&](std::int64_t c) { return !std::isfinite(lp[c]); });
    std::ranges::sort(left, std::greater{}, [&](std::int64_t c) { return lp[c]; });
    std::vector<int> groups(means_.size(), -1);
    int alone = 0;
    for (int group = 0; !left.empty() && group < most_groups; ++group) {
      const std::int64_t first = left[0];
      std::vector<double> lowest(left.size(), INFINITY);  // a quarter, half and three quarters of the way
      for (const double part : {0.25, 0.5, 0.75}) {
        const auto there =
            lp_at([&](std::int64_t c) -> Eigen::VectorXd { return mean(first) + part * (mean(c) - mean(first)); });
        std::ranges::transform(there, lowest, lowest.begin(), [](double a, double b) { return a > b ? b : a; });
      }
      std::vector<std::int64_t> others;
      std::int64_t size = 0;
      for (std::size_t k = 0; k < left.size(); ++k) {
        const std::int64_t c = left[k];
        const bool same = c == first || (lowest[k] > lp[c] - wall_between_modes && !far(first, c));
        if (same) groups[c] = group, ++size;
        if (!same) others.push_back(c);
      }
      left = std::move(others);
      alone += size == 1;
      if (alone > most_alone) return std::vector<int>(means_.size(), -1);
    }
    return groups;
  }

 private:
  Eigen::MatrixXd of(std::int64_t chain) const {
    return Eigen::Map<const Eigen::Matrix<Real, -1, -1>>(draws_.row(chain, 0), draws_.dim, draws_.count)
        .template cast<double>();
  }
  const Eigen::VectorXd& mean(std::int64_t chain) const { return means_[static_cast<std::size_t>(chain)]; }
  /// As seen along the line from one mean to the other.
  bool far(std::int64_t a, std::int64_t b) const {
    const Eigen::VectorXd way = mean(b) - mean(a);
    const auto width = [&](std::int64_t c) {
      const Eigen::VectorXd along = (of(c).colwise() - mean(c)).transpose() * way;
      return std::sqrt(along.squaredNorm() / static_cast<double>(draws_.count));
    };
    return way.squaredNorm() > gap_between_modes * (width(a) + width(b));
  }
  const FrozenDraws<Real>& draws_;
  std::vector<Eigen::VectorXd> means_;
};

}  // namespace

template <class Real>
std::vector<int> mode_groups(const FrozenDraws<Real>& draws, TargetGradients<Real>& gradients_at,
                             std::int64_t& gradients) {
  return Groups<Real>(draws)(gradients_at, gradients);
}

template std::vector<int> mode_groups(const FrozenDraws<float>&, TargetGradients<float>&, std::int64_t&);
template std::vector<int> mode_groups(const FrozenDraws<double>&, TargetGradients<double>&, std::int64_t&);

}  // namespace kilochain
