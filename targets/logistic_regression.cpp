#include "targets/logistic_regression.hpp"

#include <cmath>
#include <numbers>

namespace kilochain {

const Design& read_logistic_design(const LogisticSettings& s) {
  return s.design([&] {
    if (names_a_table("logistic_regression", s)) {
      return load_labelled_csv(s.data, s.rules(), s.standardise, s.bias);
    }
    const std::vector<int> two = digits_in(s.digits.empty() ? "5,6" : s.digits);
    require(two.size() == 2, ExitStatus::usage, "logistic_regression: digits = " + s.digits,
            "two digits 0 to 9 with a comma between are wanted", "Write digits = 5,6?");
    return load_idx(s.images, s.labels, two[0], two[1], s.bias);
  });
}

TargetInfo describe_logistic(const Design& design, const LogisticSettings& settings, std::size_t element) {
  const double entries = static_cast<double>(design.rows) * design.columns;
  TargetInfo info;
  info.dim = static_cast<Index>(design.columns);
  info.variable = "w";
  info.names = design.names;
  info.prior_sd = settings.prior_sd;
  info.logistic = settings.design.shared();
  describe_observations(design, info);
  record_table_units(settings, design, info);
  info.flops = 4 * entries;
  info.bytes = entries * element;
  return info;
}

template <class Real>
typename LogisticRegression<Real>::Data LogisticRegression<Real>::place(const Design& design, double prior_sd,
                                                                        Arena<Real>& arena, bool columns, bool rows) {
  Data d{};
  place_design(design, prior_sd, arena, columns, rows, d);
  d.log_constant = -static_cast<double>(d.n) * (std::log(prior_sd) + 0.5 * std::log(2 * std::numbers::pi));
  d.sign = arena.place(static_cast<std::size_t>(d.num_padded), [&](Real* to) {
    for (std::size_t i = 0; i < design.rows; ++i) to[i] = static_cast<Real>(2 * design.y[i] - 1);
  });
  return d;
}

template struct LogisticRegression<float>;
template struct LogisticRegression<double>;

}  // namespace kilochain
