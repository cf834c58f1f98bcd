#include "host/run/target_in_coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/learn/learnt_coordinates.hpp"

namespace kilochain {
namespace {

using Vector = LearntCoordinates::Vector;

/// Memory of one thread.
template <class Real>
struct Scratch {
  std::vector<LearntCoordinates::Trace> traces;
  Vector point;
  Eigen::Matrix<Real, Eigen::Dynamic, 1> points;
};

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
  if (!symmetries_.any()) return false;
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
  if (!moves()) return target_.evaluate(exchange, first, last);
  using Point = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
  const auto count = static_cast<std::size_t>(last - first);
  const auto n = static_cast<Eigen::Index>(this->info_.dim), row = static_cast<Eigen::Index>(exchange.row);
  const Eigen::Index offset = row * first;
  Scratch<Real>& memory = scratch<Real>();
  std::vector<LearntCoordinates::Trace>& traces = memory.traces;
  Vector& at = memory.point;
  Eigen::Matrix<Real, Eigen::Dynamic, 1>& points = memory.points;
  constexpr Eigen::Index beyond = 128 / sizeof(Real);  // a row may be read a little past its end
  if (points.size() < row * last - offset + beyond) points.setZero(row * last - offset + beyond);
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
