#include "host/learn/learnt_coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "host/learn/column_products.hpp"

namespace kilochain {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::Ref;
namespace {

/// Of values above 0, by products of four.
double sum_of_logs(const ArrayXd& values) {
  const Eigen::Index fours = values.size() / 4;
  double out = 0;
  for (Eigen::Index k = 0; k < fours; ++k) out += std::log(values.segment<4>(4 * k).prod());
  for (Eigen::Index i = 4 * fours; i < values.size(); ++i) out += std::log(values[i]);
  return out;
}

/// k values of each of so many points. Every column begins where a processor's registers do, so that the order in which
/// Eigen adds its values does not depend on how many there are.
template <class Values>
auto room_for(Values& memory, Eigen::Index k, Eigen::Index points) {
  constexpr Eigen::Index lanes = 8;
  memory.resize((k + lanes - 1) / lanes * lanes, points);
  return memory.topRows(k);
}

}  // namespace

void Noncentring::along_of(const Ref<const MatrixXd>& y, Ref<MatrixXd> values) const {
  if (effects.empty()) return transposed_product(along, y, values);
  for (Eigen::Index c = 0; c < y.cols(); ++c)
    values.col(c) = (y.col(c)(effects).array() - (mean ? y(*mean, c) : 0)).matrix();
}
void Noncentring::move(Ref<MatrixXd> y, const Ref<const MatrixXd>& values) const {
  if (effects.empty()) return add_product(directions, values, y);
  for (Eigen::Index c = 0; c < y.cols(); ++c) y.col(c)(effects) += values.col(c);
}
void Noncentring::pull_of(const Ref<const MatrixXd>& g, Ref<MatrixXd> values) const {
  if (effects.empty()) return transposed_product(directions, g, values);
  for (Eigen::Index c = 0; c < g.cols(); ++c) values.col(c) = g.col(c)(effects);
}
void Noncentring::add_along(Ref<MatrixXd> g, const Ref<const MatrixXd>& values) const {
  if (effects.empty()) return add_product(along, values, g);
  for (Eigen::Index c = 0; c < g.cols(); ++c) {
    g.col(c)(effects) += values.col(c);
    if (mean) g(*mean, c) -= values.col(c).sum();
  }
}

void Noncentring::by_rates(double t, ArrayXd& out) const {
  const double rate = rates.size() > 0 ? rates[0] : 0;
  if ((rates == rate).all())
    out.setConstant(rates.size(), std::exp(t * rate));
  else
    out = (t * rates).exp();
}

void LearntCoordinates::to_target(Points y, Trace& trace) const {
  trace.steps.resize(steps_.size());
  trace.log_jacobian.setZero(y.cols());
  ArrayXd &by_rates = trace.by_rates, &squares = trace.squares;
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Noncentring& step = steps_[s];
    auto& of = trace.steps[s];
    const auto all_of = [&](auto& memory) { return room_for(memory, step.size(), y.cols()); };
    auto all_scales = all_of(of.scales), all_above = all_of(of.above), all_slopes = all_of(of.slopes),
         all_rates = all_of(of.rates);
    auto values = all_of(trace.values);
    step.along_of(y, values);
    for (Eigen::Index c = 0; c < y.cols(); ++c) {
      const double v = y(step.parent, c), t = step.scale.u(v) - step.centre, speed = step.scale.slope(v);
      auto along = values.col(c).array();
      auto scales = all_scales.col(c), above = all_above.col(c), slopes = all_slopes.col(c), rates = all_rates.col(c);
      along -= step.fixed;
      step.by_rates(t, by_rates);
      above = (1 + step.data * by_rates.square()).inverse();
      squares = above * (1 + step.data);
      scales = by_rates * squares.sqrt();
      rates = speed * step.rates * above;
      by_rates *= step.between;
      slopes = rates * (2 * step.shifts * (1 - above) + by_rates * (2 * above - 1) + scales * along);
      along = step.shifts * (1 - above) + by_rates * above + (scales - 1) * along;
      trace.log_jacobian[c] += t * step.rates.sum() + sum_of_logs(squares) / 2;
    }
    step.move(y, values);
  }
}

void LearntCoordinates::from_target(Points x) const {
  MatrixXd memory;
  ArrayXd by_rates, above, there;
  for (const Noncentring& step : steps_) {
    auto values = room_for(memory, step.size(), x.cols());
    step.along_of(x, values);
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      auto along = values.col(c).array();
      along -= step.fixed;
      step.by_rates(step.scale.u(x(step.parent, c)) - step.centre, by_rates);
      above = (1 + step.data * by_rates.square()).inverse();
      there = (along - step.shifts * (1 - above) - step.between * by_rates * above) /
              (by_rates * (above * (1 + step.data)).sqrt());
      along = there - along;
    }
    step.move(x, values);
  }
}

void LearntCoordinates::pull_back(Points gradient, Trace& trace) const {
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Noncentring& step = steps_[s];
    const auto& [scales, above, slopes, rates] = trace.steps[s];
    const Eigen::Index k = step.size();
    auto values = room_for(trace.values, k, gradient.cols());
    step.pull_of(gradient, values);
    for (Eigen::Index c = 0; c < gradient.cols(); ++c) {
      auto g = values.col(c).array();
      gradient(step.parent, c) += (g * slopes.col(c).head(k) + rates.col(c).head(k)).sum();
      g *= scales.col(c).head(k) - 1;
    }
    step.add_along(gradient, values);
  }
}

void LearntCoordinates::push_forward(Points gradient, Trace& trace) const {
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Noncentring& step = steps_[s];
    const auto& [scales, above, slopes, rates] = trace.steps[s];
    const Eigen::Index k = step.size();
    auto values = room_for(trace.values, k, gradient.cols());
    step.pull_of(gradient, values);
    for (Eigen::Index c = 0; c < gradient.cols(); ++c) {
      auto g = values.col(c).array();
      g /= scales.col(c).head(k);
      gradient(step.parent, c) -= (g * slopes.col(c).head(k) + rates.col(c).head(k)).sum();
      g *= 1 - scales.col(c).head(k);
    }
    step.add_along(gradient, values);
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
