#include "host/run/target_in_coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/learn/learnt_coordinates.hpp"

namespace kilochain {
namespace {

constexpr Index most_together = 8;  // chains whose points are taken to the target's coordinates together
constexpr Eigen::Index block = 64;  // points, where there are many

/// Memory of one thread.
template <class Real>
struct Scratch {
  LearntCoordinates::Trace trace;
  std::vector<Index> asking;  ///< chains of a tile, from its first one
  Eigen::MatrixXd columns;    ///< points of those, or gradients
  Eigen::VectorXd point, image, slope;
  Eigen::Matrix<Real, Eigen::Dynamic, 1> points;
  Eigen::Matrix<Real, Eigen::Dynamic, 1> images, gradients;  ///< in one mode
  Eigen::MatrixXd slopes;                                    ///< (n, point * modes)
  std::vector<double> lp, terms;                             ///< (point); (point, modes)
};

constexpr Eigen::Index beyond(Eigen::Index size, std::size_t of_value) {  // a row may be read a little past its end
  return size + static_cast<Eigen::Index>(128 / of_value);
}

template <class Real>
Scratch<Real>& scratch() {
  thread_local Scratch<Real> memory;
  return memory;
}

}  // namespace

template <class Real>
TargetInCoordinates<Real>::TargetInCoordinates(Target<Real>& target)
    : target_(target), coordinates_(std::make_unique<LearntCoordinates>()) {
  this->info_ = target.info();
}

template <class Real>
TargetInCoordinates<Real>::~TargetInCoordinates() = default;

template <class Real>
void TargetInCoordinates<Real>::set(LearntCoordinates coordinates) {
  *coordinates_ = std::move(coordinates);
}

template <class Real>
void TargetInCoordinates<Real>::set(const std::vector<double>& numbers) {
  set(LearntCoordinates::of_numbers(numbers));
}

template <class Real>
bool TargetInCoordinates<Real>::moves() const {
  return coordinates_->size() > 0;
}

template <class Real>
void TargetInCoordinates<Real>::to_target(double* y, Eigen::Index points, double* added) const {
  const Eigen::Index n = this->info_.dim;
  LearntCoordinates::Trace trace;
  for (Eigen::Index first = 0; first < points; first += block) {
    const Eigen::Index count = std::min(block, points - first);
    coordinates_->to_target(Eigen::Map<Eigen::MatrixXd>(y + n * first, n, count), trace);
    if (added) std::copy_n(trace.log_jacobian.data(), count, added + first);
  }
}

template <class Real>
void TargetInCoordinates<Real>::to_target(std::vector<Real>& points) const {
  if (!moves()) return;
  std::vector<double> y(points.begin(), points.end());
  to_target(y.data(), std::ssize(y) / this->info_.dim);
  std::ranges::transform(y, points.begin(), [](double v) { return static_cast<Real>(v); });
}

template <class Real>
void TargetInCoordinates<Real>::from_target(std::vector<Real>& points) const {
  if (!moves()) return;
  const Eigen::Index n = this->info_.dim;
  Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>> x(points.data(), n, std::ssize(points) / n);
  for (Eigen::Index first = 0; first < x.cols(); first += block) {
    auto some = x.middleCols(first, std::min(block, x.cols() - first));
    Eigen::MatrixXd y = some.template cast<double>();
    coordinates_->from_target(y);
    some = y.cast<Real>();
  }
}

template <class Real>
Index TargetInCoordinates<Real>::tile(Index num_chains, int threads) const {
  const Index each = std::clamp<Index>(num_chains / (2 * threads), 1, most_together);  // threads take tiles of others
  return std::max(target_.tile(num_chains, threads), each);
}

template <class Real>
bool TargetInCoordinates<Real>::gather_of_target(std::vector<Real>& x) const {
  if (!symmetries_.any() || overlay_.any()) return false;
  const auto n = static_cast<std::size_t>(this->info_.dim);
  std::vector<double> at(n);
  bool moved = false;
  for (std::size_t k = 0; k + n <= x.size(); k += n) {
    std::copy_n(x.data() + k, n, at.data());
    if (symmetries_.gather(at.data()).empty()) continue;
    moved = true;
    std::transform(at.begin(), at.end(), x.data() + k, [](double v) { return static_cast<Real>(v); });
  }
  return moved;
}

template <class Real>
bool TargetInCoordinates<Real>::gather(std::vector<Real>& points) const {
  if (!symmetries_.any()) return false;
  std::vector<Real> x = points;
  to_target(x);
  if (!gather_of_target(x)) return false;
  from_target(x);
  points = std::move(x);
  return true;
}

template <class Real>
void TargetInCoordinates<Real>::evaluate(const Exchange<Real>& exchange, Index first, Index last) {
  if (!moves() && !overlay_.any()) return target_.evaluate(exchange, first, last);
  using Point = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
  const Index count = last - first;
  const auto n = static_cast<Eigen::Index>(this->info_.dim), row = static_cast<Eigen::Index>(exchange.row);
  const Eigen::Index offset = row * first;
  Scratch<Real>& memory = scratch<Real>();
  LearntCoordinates::Trace& trace = memory.trace;
  std::vector<Index>& asking = memory.asking;
  Eigen::MatrixXd& columns = memory.columns;
  Eigen::Matrix<Real, Eigen::Dynamic, 1>& points = memory.points;
  if (const auto size = beyond(row * count, sizeof(Real)); points.size() < size) points.setZero(size);
  Exchange<Real> inside = exchange;
  inside.point = points.data();
  inside.direction += offset, inside.gradient += offset, inside.hessian_vector += offset;
  inside.lp += first, inside.adaptation_signal += first, inside.needs += first;
  asking.clear();
  for (Index c = 0; c < count; ++c)
    if (inside.needs[c] != Needs::nothing) asking.push_back(c);
  columns.resize(n, std::ssize(asking));
  for (Eigen::Index k = 0; const Index c : asking)
    columns.col(k++) = Point(exchange.point + offset + row * c, n).template cast<double>();
  coordinates_->to_target(columns, trace);
  for (Eigen::Index k = 0; const Index c : asking)
    Point(points.data() + row * c, n) = columns.col(k++).template cast<Real>();
  if (overlay_.any())
    evaluate_overlay(inside, count);
  else
    target_.evaluate(inside, 0, count);
  const auto has_slope = [&](Index c) { return inside.needs[c] != Needs::value; };
  for (Eigen::Index k = 0; const Index c : asking) {
    inside.lp[c] += trace.log_jacobian[k];
    if (has_slope(c)) columns.col(k) = Point(inside.gradient + row * c, n).template cast<double>();
    ++k;
  }
  if (std::ranges::none_of(asking, has_slope)) return;
  coordinates_->pull_back(columns, trace);
  for (Eigen::Index k = 0; const Index c : asking) {
    if (has_slope(c)) Point(inside.gradient + row * c, n) = columns.col(k).template cast<Real>();
    ++k;
  }
}

/// Of the points of chains 0 .. count - 1: all their images in one mode after the other.
template <class Real>
void TargetInCoordinates<Real>::evaluate_overlay(const Exchange<Real>& exchange, Index count) {
  using Point = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
  Scratch<Real>& memory = scratch<Real>();
  const auto n = static_cast<Eigen::Index>(this->info_.dim), row = static_cast<Eigen::Index>(exchange.row);
  const auto modes = static_cast<Index>(overlay_.size());
  if (const auto size = beyond(row * count, sizeof(Real)); memory.images.size() < size)
    memory.images.setZero(size), memory.gradients.setZero(size);
  memory.slopes.resize(n, Eigen::Index{count} * modes);
  memory.lp.resize(count), memory.terms.resize(static_cast<std::size_t>(count) * modes);
  Exchange<Real> in_mode = exchange;
  in_mode.point = memory.images.data(), in_mode.gradient = memory.gradients.data(), in_mode.lp = memory.lp.data();
  const auto each = [&](auto&& f) {
    for (Index c = 0; c < count; ++c)
      if (exchange.needs[c] != Needs::nothing) f(c, row * static_cast<Eigen::Index>(c));
  };
  std::int64_t gradients = 0;
  each([&](Index c, Eigen::Index) { gradients += exchange.needs[c] != Needs::value; });
  gradients_beside_ += gradients * (modes - 1);
  for (Index k = 0; k < modes; ++k) {
    each([&](Index, Eigen::Index at) {
      memory.point = Point(exchange.point + at, n).template cast<double>();
      overlay_.image(k, memory.point, memory.image);
      Point(in_mode.point + at, n) = memory.image.template cast<Real>();
    });
    target_.evaluate(in_mode, 0, count);
    each([&](Index c, Eigen::Index at) {
      const bool slopes = exchange.needs[c] != Needs::value;
      memory.image = Point(in_mode.point + at, n).template cast<double>();
      if (slopes) memory.slope = Point(in_mode.gradient + at, n).template cast<double>();
      const double lp = memory.lp[c] + overlay_.log_weight(k, memory.image, slopes ? &memory.slope : nullptr);
      memory.terms[c * modes + k] = std::isnan(lp) ? -INFINITY : lp;
      if (!slopes) return;
      overlay_.pull_back(k, memory.slope);
      memory.slopes.col(Eigen::Index{c} * modes + k) = memory.slope;
    });
  }
  each([&](Index c, Eigen::Index at) {
    const double* const terms = memory.terms.data() + c * modes;
    const double all = exchange.lp[c] = log_sum({terms, static_cast<std::size_t>(modes)});
    if (exchange.needs[c] == Needs::value) return;
    memory.slope.setZero(n);
    for (Index k = 0; k < modes; ++k)
      if (const double share = std::exp(terms[k] - all); share > 0)
        memory.slope += share * memory.slopes.col(Eigen::Index{c} * modes + k);
    Point(exchange.gradient + at, n) = memory.slope.template cast<Real>();
  });
}

template <class Real>
std::string TargetInCoordinates<Real>::evaluation() const {
  const std::string plain = target_.evaluation();
  if (!moves()) return plain;
  std::string steps;
  for (const Noncentring& step : coordinates_->steps())
    steps += fmt::format("{}{} directions by coordinate {}", steps.empty() ? "" : ", ", step.rates.size(), step.parent);
  return plain + ", in learnt coordinates that scale " + steps;
}

template class TargetInCoordinates<float>;
template class TargetInCoordinates<double>;

}  // namespace kilochain
