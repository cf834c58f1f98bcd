#include "host/run/target_in_coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/learn/learnt_coordinates.hpp"

namespace kilochain {
namespace {

using Vector = LearntCoordinates::Vector;

/// Memory of one thread.
template <class Real>
struct Scratch {
  std::vector<LearntCoordinates::Trace> traces;
  Vector point, image, slope;
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
double TargetInCoordinates<Real>::to_target(double* y) const {
  LearntCoordinates::Trace trace;
  coordinates_->to_target(Eigen::Map<Vector>(y, this->info_.dim), trace);
  return trace.log_jacobian;
}

template <class Real>
template <class F>
void TargetInCoordinates<Real>::for_each(std::vector<Real>& points, F&& f) const {
  const auto n = static_cast<std::size_t>(this->info_.dim);
  for (std::size_t k = 0; k + n <= points.size() && moves(); k += n) {
    Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>> point(points.data() + k, this->info_.dim);
    Vector at = point.template cast<double>();
    f(at);
    point = at.cast<Real>();
  }
}

template <class Real>
void TargetInCoordinates<Real>::to_target(std::vector<Real>& points) const {
  for_each(points, [&](Vector& at) { to_target(at.data()); });
}

template <class Real>
void TargetInCoordinates<Real>::from_target(std::vector<Real>& points) const {
  for_each(points, [&](Vector& at) { coordinates_->from_target(at); });
}

template <class Real>
bool TargetInCoordinates<Real>::gather(std::vector<Real>& points) const {
  if (!symmetries_.any() || overlay_.any()) return false;
  const auto n = static_cast<std::size_t>(this->info_.dim);
  std::vector<Real> x = points;
  to_target(x);
  std::vector<double> at(n);
  bool moved = false;
  for (std::size_t k = 0; k + n <= x.size(); k += n) {
    std::copy_n(x.data() + k, n, at.data());
    if (symmetries_.gather(at.data()).empty()) continue;
    moved = true;
    std::transform(at.begin(), at.end(), x.data() + k, [](double v) { return static_cast<Real>(v); });
  }
  if (!moved) return false;
  from_target(x);
  points = std::move(x);
  return true;
}

template <class Real>
void TargetInCoordinates<Real>::evaluate(const Exchange<Real>& exchange, Index first, Index last) {
  if (!moves() && !overlay_.any()) return target_.evaluate(exchange, first, last);
  using Point = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
  const auto count = static_cast<std::size_t>(last - first);
  const auto n = static_cast<Eigen::Index>(this->info_.dim), row = static_cast<Eigen::Index>(exchange.row);
  const Eigen::Index offset = row * first;
  Scratch<Real>& memory = scratch<Real>();
  std::vector<LearntCoordinates::Trace>& traces = memory.traces;
  Vector& at = memory.point;
  Eigen::Matrix<Real, Eigen::Dynamic, 1>& points = memory.points;
  if (const auto size = beyond(row * last - offset, sizeof(Real)); points.size() < size) points.setZero(size);
  if (traces.size() < count) traces.resize(count);
  for (std::size_t c = 0; c < count; ++c) {
    if (exchange.needs[first + static_cast<Index>(c)] == Needs::nothing) continue;
    const Eigen::Index from = row * static_cast<Eigen::Index>(c);
    at = Point(exchange.point + offset + from, n).template cast<double>();
    coordinates_->to_target(at, traces[c]);
    Point(points.data() + from, n) = at.cast<Real>();
  }
  Exchange<Real> inside = exchange;
  inside.point = points.data();
  inside.direction += offset, inside.gradient += offset, inside.hessian_vector += offset;
  inside.lp += first, inside.adaptation_signal += first, inside.needs += first;
  if (overlay_.any())
    evaluate_overlay(inside, static_cast<Index>(count));
  else
    target_.evaluate(inside, 0, static_cast<Index>(count));
  for (std::size_t c = 0; c < count; ++c) {
    const Needs needs = inside.needs[c];
    if (needs == Needs::nothing) continue;
    inside.lp[c] += traces[c].log_jacobian;
    if (needs == Needs::value) continue;
    Point gradient(inside.gradient + row * static_cast<Eigen::Index>(c), n);
    at = gradient.template cast<double>();
    coordinates_->pull_back(at, traces[c]);
    gradient = at.cast<Real>();
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
