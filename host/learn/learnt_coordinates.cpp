#include "host/learn/learnt_coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace kilochain {

using Eigen::ArrayXd;
namespace {

/// Of values above 0, by products of four.
double sum_of_logs(const ArrayXd& values) {
  const Eigen::Index fours = values.size() / 4;
  double out = 0;
  for (Eigen::Index k = 0; k < fours; ++k) out += std::log(values.segment<4>(4 * k).prod());
  for (Eigen::Index i = 4 * fours; i < values.size(); ++i) out += std::log(values[i]);
  return out;
}

}  // namespace

ArrayXd Noncentring::along_of(const Eigen::Ref<const Eigen::VectorXd>& y) const {
  if (effects.empty()) return along.transpose() * y;
  const double from = mean ? y[*mean] : 0;
  return y(effects).array() - from;
}
void Noncentring::move(Eigen::Ref<Eigen::VectorXd> y, const ArrayXd& values) const {
  if (effects.empty())
    y.noalias() += directions * values.matrix();
  else
    y(effects) += values.matrix();
}
ArrayXd Noncentring::pull_of(const Eigen::Ref<const Eigen::VectorXd>& g) const {
  if (effects.empty()) return directions.transpose() * g;
  return g(effects);
}
void Noncentring::add_along(Eigen::Ref<Eigen::VectorXd> g, const ArrayXd& values) const {
  if (effects.empty()) {
    g.noalias() += along * values.matrix();
    return;
  }
  g(effects) += values.matrix();
  if (mean) g[*mean] -= values.sum();
}

ArrayXd Noncentring::by_rates(double t) const {
  const double rate = rates.size() > 0 ? rates[0] : 0;
  if ((rates == rate).all()) return ArrayXd::Constant(rates.size(), std::exp(t * rate));
  return (t * rates).exp();
}

void LearntCoordinates::to_target(Eigen::Ref<Vector> y, Trace& trace) const {
  trace.steps.resize(steps_.size());
  trace.log_jacobian = 0;
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Noncentring& step = steps_[s];
    auto& [scales, above, slopes, rates] = trace.steps[s];
    const double v = y[step.parent], t = step.scale.u(v) - step.centre, speed = step.scale.slope(v);
    const ArrayXd along = step.along_of(y) - step.fixed, by_rates = step.by_rates(t);
    above = step.above(by_rates);
    const ArrayXd squares = above * (1 + step.data);
    scales = by_rates * squares.sqrt();
    rates = speed * step.rates * above;
    const ArrayXd between = step.between * by_rates;
    slopes = rates * (2 * step.shifts * (1 - above) + between * (2 * above - 1) + scales * along);
    step.move(y, step.shifts * (1 - above) + between * above + (scales - 1) * along);
    trace.log_jacobian += t * step.rates.sum() + sum_of_logs(squares) / 2;
  }
}

void LearntCoordinates::from_target(Eigen::Ref<Vector> x) const {
  for (const Noncentring& step : steps_) {
    const double t = step.scale.u(x[step.parent]) - step.centre;
    const ArrayXd by_rates = step.by_rates(t), above = step.above(by_rates), along = step.along_of(x) - step.fixed,
                  mean = step.shifts * (1 - above) + step.between * by_rates * above,
                  there = (along - mean) / (by_rates * (above * (1 + step.data)).sqrt());
    step.move(x, there - along);
  }
}

void LearntCoordinates::pull_back(Eigen::Ref<Vector> gradient, const Trace& trace) const {
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Noncentring& step = steps_[s];
    const auto& [scales, above, slopes, rates] = trace.steps[s];
    const ArrayXd g = step.pull_of(gradient);
    step.add_along(gradient, g * (scales - 1));
    gradient[step.parent] += (g * slopes + rates).sum();
  }
}

void LearntCoordinates::push_forward(Eigen::Ref<Vector> gradient, const Trace& trace) const {
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Noncentring& step = steps_[s];
    const auto& [scales, above, slopes, rates] = trace.steps[s];
    const ArrayXd g = step.pull_of(gradient) / scales;
    step.add_along(gradient, -g * (scales - 1));
    gradient[step.parent] -= (g * slopes + rates).sum();
  }
}

std::vector<double> LearntCoordinates::to_numbers() const {
  std::vector<double> out;
  const auto put = [&](const auto& values) { out.insert(out.end(), values.data(), values.data() + values.size()); };
  for (const Noncentring& step : steps_) {
    for (const double head : {double(step.directions.rows()), double(step.size()), double(step.parent),
                              double(step.scale.bounded), double(step.mean.value_or(-1)), step.centre})
      out.push_back(head);
    out.insert(out.end(), step.effects.begin(), step.effects.end());
    put(step.directions), put(step.along), put(step.rates), put(step.data), put(step.fixed), put(step.shifts),
        put(step.between);
  }
  return out;
}

LearntCoordinates LearntCoordinates::of_numbers(const std::vector<double>& numbers) {
  LearntCoordinates out;
  std::size_t at = 0;
  const auto whole = [&](bool is) {
    require(is, ExitStatus::data, "the coordinates of saved chains cannot be read", "their numbers do not fit together",
            "Was the file made by kilochain sample of this version?");
  };
  const auto take = [&](auto& values) {
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(at), values.size(), values.data());
    at += static_cast<std::size_t>(values.size());
  };
  while (at < numbers.size()) {
    constexpr std::size_t head = 6;
    whole(numbers.size() - at >= head);
    const double rows = numbers[at], columns = numbers[at + 1], bounded = numbers[at + 3], most = 1e6;
    const auto coordinate = [&](double i) {
      whole(i >= 0 && i < (rows > 0 ? rows : most));
      return static_cast<Eigen::Index>(i);
    };
    whole(rows >= 0 && rows < most && columns >= 1 && columns < (rows > 0 ? rows : most) &&
          (bounded == 0 || bounded == 1));
    whole(static_cast<double>(numbers.size() - at - head) >= columns * ((rows > 0 ? 2 * rows : 1) + 5));
    const auto n = static_cast<Eigen::Index>(rows), k = static_cast<Eigen::Index>(columns);
    Noncentring step{coordinate(numbers[at + 2]),
                     numbers[at + 5],
                     Eigen::MatrixXd(n, n > 0 ? k : 0),
                     Eigen::MatrixXd(n, n > 0 ? k : 0),
                     {},
                     {},
                     {},
                     {},
                     {}};
    for (ArrayXd* values : {&step.rates, &step.data, &step.fixed, &step.shifts, &step.between}) values->resize(k);
    step.scale.bounded = bounded == 1;
    if (numbers[at + 4] >= 0) step.mean = coordinate(numbers[at + 4]);
    at += head;
    for (Eigen::Index j = 0; n == 0 && j < k; ++j) step.effects.push_back(coordinate(numbers[at++]));
    take(step.directions), take(step.along), take(step.rates), take(step.data), take(step.fixed), take(step.shifts);
    take(step.between);
    out.add(std::move(step));
  }
  return out;
}

}  // namespace kilochain
