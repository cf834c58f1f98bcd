#include "host/learn/learnt_coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace kilochain {

using Eigen::ArrayXd;

ArrayXd Noncentring::above(double t) const { return (1 + data * (2 * t * rates).exp()).inverse(); }

ArrayXd Noncentring::log_scales(double t, const ArrayXd& above) const {
  return t * rates + (above.max(1e-300).log() + data.log1p()) / 2;
}

void LearntCoordinates::to_target(Eigen::Ref<Vector> y, Trace& trace) const {
  trace.steps.resize(steps_.size());
  trace.log_jacobian = 0;
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Noncentring& step = steps_[s];
    auto& [scales, above, slopes, rates] = trace.steps[s];
    const double v = y[step.parent], t = step.scale.u(v) - step.centre, speed = step.scale.slope(v);
    const ArrayXd along = (step.along.transpose() * y).array() - step.fixed;
    above = step.above(t);
    const ArrayXd logs = step.log_scales(t, above);
    scales = logs.exp();
    rates = speed * step.rates * above;
    const ArrayXd between = step.between * (t * step.rates).exp();
    slopes = rates * (2 * step.shifts * (1 - above) + between * (2 * above - 1) + scales * along);
    y.noalias() += step.directions * (step.shifts * (1 - above) + between * above + (scales - 1) * along).matrix();
    trace.log_jacobian += logs.sum();
  }
}

void LearntCoordinates::from_target(Eigen::Ref<Vector> x) const {
  for (const Noncentring& step : steps_) {
    const double t = step.scale.u(x[step.parent]) - step.centre;
    const ArrayXd above = step.above(t), along = (step.along.transpose() * x).array() - step.fixed,
                  mean = step.shifts * (1 - above) + step.between * (t * step.rates).exp() * above,
                  there = (along - mean) * (-step.log_scales(t, above)).exp();
    x.noalias() += step.directions * (there - along).matrix();
  }
}

void LearntCoordinates::pull_back(Eigen::Ref<Vector> gradient, const Trace& trace) const {
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Noncentring& step = steps_[s];
    const auto& [scales, above, slopes, rates] = trace.steps[s];
    const ArrayXd g = (step.directions.transpose() * gradient).array();
    gradient.noalias() += step.along * (g * (scales - 1)).matrix();
    gradient[step.parent] += (g * slopes + rates).sum();
  }
}

void LearntCoordinates::push_forward(Eigen::Ref<Vector> gradient, const Trace& trace) const {
  for (std::size_t s = steps_.size(); s-- > 0;) {
    const Noncentring& step = steps_[s];
    const auto& [scales, above, slopes, rates] = trace.steps[s];
    const ArrayXd g = (step.directions.transpose() * gradient).array() / scales;
    gradient.noalias() -= step.along * (g * (scales - 1)).matrix();
    gradient[step.parent] -= (g * slopes + rates).sum();
  }
}

std::vector<double> LearntCoordinates::to_numbers() const {
  std::vector<double> out;
  const auto put = [&](const auto& values) { out.insert(out.end(), values.data(), values.data() + values.size()); };
  for (const Noncentring& step : steps_) {
    for (const double head : {double(step.directions.rows()), double(step.directions.cols()), double(step.parent),
                              double(step.scale.bounded)})
      out.push_back(head);
    out.push_back(step.centre);
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
    whole(numbers.size() - at >= 5);
    const double rows = numbers[at], columns = numbers[at + 1], parent = numbers[at + 2], bounded = numbers[at + 3];
    whole(rows >= 1 && rows < 1e6 && columns >= 1 && columns < rows && parent >= 0 && parent < rows &&
          (bounded == 0 || bounded == 1));
    whole(static_cast<double>(numbers.size() - at - 5) >= columns * (2 * rows + 5));
    const auto n = static_cast<Eigen::Index>(rows), k = static_cast<Eigen::Index>(columns);
    Noncentring step{static_cast<Eigen::Index>(parent),
                     numbers[at + 4],
                     Eigen::MatrixXd(n, k),
                     Eigen::MatrixXd(n, k),
                     {},
                     {},
                     {},
                     {},
                     {}};
    for (ArrayXd* values : {&step.rates, &step.data, &step.fixed, &step.shifts, &step.between}) values->resize(k);
    step.scale.bounded = bounded == 1;
    at += 5;
    take(step.directions), take(step.along), take(step.rates), take(step.data), take(step.fixed), take(step.shifts);
    take(step.between);
    out.add(std::move(step));
  }
  return out;
}

}  // namespace kilochain
