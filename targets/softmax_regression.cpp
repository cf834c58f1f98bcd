#include "targets/softmax_regression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace kilochain {

const Design& read_softmax_design(const SoftmaxSettings& s) {
  return s.design([&] {
    if (names_a_table("softmax_regression", s)) return load_classified_csv(s.data, s.rules(), s.standardise, s.bias);
    const std::vector<int> digits = digits_in(s.digits);
    require(s.digits.empty() == digits.empty(), ExitStatus::usage, "softmax_regression: digits = " + s.digits,
            "digits 0 to 9 with commas between are wanted", "Write digits = 3,5,8?");
    return load_classified_idx(s.images, s.labels, digits, s.bias);
  });
}

TargetInfo describe_softmax(const Design& design, const SoftmaxSettings& settings, std::size_t element) {
  const double entries = static_cast<double>(design.rows) * static_cast<double>(design.columns);
  const std::size_t classes = design.classes.size();
  require(classes * design.columns < std::size_t(1) << 24, ExitStatus::data, design.source + ": too many weights",
          fmt::format("{} classes times {} features", classes, design.columns), "Use fewer of either?");
  TargetInfo info;
  info.dim = static_cast<Index>(classes * design.columns);
  info.variable = "w";
  info.variables.push_back({"w", {classes, design.columns}});
  for (const std::string& name : design.classes)
    for (const std::string& feature : design.names) info.names.push_back(fmt::format("w[{}, {}]", name, feature));
  info.prior_sd = settings.prior_sd;
  describe_observations(design, info);
  record_table_units(settings, design, info);
  info.flops = 4 * entries * static_cast<double>(classes);
  info.bytes = entries * static_cast<double>(element);
  return info;
}

template <class Real>
typename SoftmaxRegression<Real>::Data SoftmaxRegression<Real>::place(const Design& design, double prior_sd,
                                                                      Arena<Real>& arena, bool columns, bool rows) {
  Data d{};
  place_design(design, prior_sd, arena, columns, rows, d);
  d.classes = static_cast<Index>(design.classes.size());
  d.log_constant = -static_cast<double>(design.columns * design.classes.size()) *
                   (std::log(prior_sd) + 0.5 * std::log(2 * std::numbers::pi));
  std::vector<double> y = design.y;
  y.resize(d.num_padded);
  d.y = arena.put(y);
  return d;
}

template struct SoftmaxRegression<float>;
template struct SoftmaxRegression<double>;

}  // namespace kilochain
