#include "targets/softmax_regression.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace kilochain {
namespace {

std::vector<int> parse_digits(const std::string& text) {
  std::vector<int> digits;
  for (std::size_t k = 0; k < text.size(); k += 2) {
    const bool fine =
        text[k] >= '0' && text[k] <= '9' && (k + 1 == text.size() || (text[k + 1] == ',' && k + 2 < text.size()));
    require(fine, ExitStatus::usage, "softmax_regression: digits = " + text,
            "digits 0 to 9 with commas between are wanted", "Write digits = 3,5,8?");
    digits.push_back(text[k] - '0');
  }
  return digits;
}

}  // namespace

Design read_softmax_design(const SoftmaxSettings& s) {
  const bool table = !s.data.empty(), images = !s.images.empty() || !s.labels.empty();
  require(table || images, ExitStatus::usage, "softmax_regression: no data", "neither data nor images is set",
          "Give --data FILE.csv, or --images FILE --labels FILE?");
  require(!(table && images), ExitStatus::usage, "softmax_regression: two kinds of data",
          "data = " + s.data + " and " + (s.images.empty() ? "labels = " + s.labels : "images = " + s.images),
          "Give one or the other?");
  if (table) {
    require(s.digits.empty(), ExitStatus::usage, "softmax_regression: digits without images",
            "digits = " + s.digits + ", data = " + s.data, "Remove digits, or give images?");
    return load_classified_csv(s.data, s.label, s.standardise, s.bias);
  }
  require(!s.images.empty() && !s.labels.empty(), ExitStatus::usage,
          std::string("softmax_regression: ") + (s.images.empty() ? "labels without images" : "images without labels"),
          s.images.empty() ? "labels = " + s.labels : "images = " + s.images,
          s.images.empty() ? "Give --images FILE?" : "Give --labels FILE?");
  require(s.label.empty(), ExitStatus::usage, "softmax_regression: label names a column of a table",
          "label = " + s.label + ", images = " + s.images, "Did you mean labels?");
  return load_classified_idx(s.images, s.labels, parse_digits(s.digits), s.bias);
}

TargetInfo describe_softmax(const Design& design, std::size_t element) {
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
  info.constants.push_back({"y", {"observation"}, {design.rows}, design.y});
  if (entries * sizeof(double) < 64e6)  // a copy of larger data in every file of draws would be most of the file
    info.constants.push_back({"x", {"observation", "feature"}, {design.rows, design.columns}, design.x});
  info.flops = 4 * entries * static_cast<double>(classes);
  info.bytes = entries * static_cast<double>(element);
  return info;
}

template <class Real>
typename SoftmaxRegression<Real>::Data SoftmaxRegression<Real>::place(const Design& design, double prior_sd,
                                                                      Arena<Real>& arena, bool columns, bool rows) {
  const std::size_t n = design.columns, num = design.rows, padded_rows = (num + 31) / 32 * 32, row = (n + 31) / 32 * 32;
  Data d{};
  d.n = static_cast<Index>(n);
  d.classes = static_cast<Index>(design.classes.size());
  d.row = static_cast<Index>(row);
  d.num_rows = static_cast<Index>(num);
  d.num_padded = static_cast<Index>(padded_rows);
  d.inverse_variance = 1 / (prior_sd * prior_sd);
  d.log_constant =
      -static_cast<double>(n * design.classes.size()) * (std::log(prior_sd) + 0.5 * std::log(2 * std::numbers::pi));
  std::vector<double> buffer = design.y;
  buffer.resize(padded_rows);
  d.y = arena.put(buffer);
  if (columns) {
    buffer.assign(padded_rows * n, 0.0);
    for (std::size_t i = 0; i < num; ++i)
      for (std::size_t j = 0; j < n; ++j) buffer[j * padded_rows + i] = design.x[i * n + j];
    d.x_columns = arena.put(buffer);
  }
  if (rows) {
    buffer.assign(row * num, 0.0);
    for (std::size_t i = 0; i < num; ++i)
      for (std::size_t j = 0; j < n; ++j) buffer[i * row + j] = design.x[i * n + j];
    d.x_rows = arena.put(buffer);
  }
  return d;
}

template struct SoftmaxRegression<float>;
template struct SoftmaxRegression<double>;

}  // namespace kilochain
