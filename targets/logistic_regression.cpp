#include "targets/logistic_regression.hpp"

#include <cmath>
#include <numbers>

namespace kilochain {
namespace {

std::pair<int, int> parse_digits(const std::string& text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  require(text.size() == 3 && digit(text[0]) && text[1] == ',' && digit(text[2]), ExitStatus::usage,
          "logistic_regression: digits = " + text, "two digits 0 to 9 with a comma between are wanted",
          "Write digits = 5,6?");
  return {text[0] - '0', text[2] - '0'};
}

}  // namespace

Design read_logistic_design(const LogisticSettings& s) {
  const bool table = !s.data.empty(), images = !s.images.empty() || !s.labels.empty();
  require(table || images, ExitStatus::usage, "logistic_regression: no data", "neither data nor images is set",
          "Give --data FILE.csv, or --images FILE --labels FILE?");
  require(!(table && images), ExitStatus::usage, "logistic_regression: two kinds of data",
          "data = " + s.data + " and " + (s.images.empty() ? "labels = " + s.labels : "images = " + s.images),
          "Give one or the other?");
  if (table) {
    require(s.digits.empty(), ExitStatus::usage, "logistic_regression: digits without images",
            "digits = " + s.digits + ", data = " + s.data, "Remove digits, or give images?");
    return load_labelled_csv(s.data, s.label, s.standardise, s.bias);
  }
  require(!s.images.empty() && !s.labels.empty(), ExitStatus::usage,
          std::string("logistic_regression: ") + (s.images.empty() ? "labels without images" : "images without labels"),
          s.images.empty() ? "labels = " + s.labels : "images = " + s.images,
          s.images.empty() ? "Give --images FILE?" : "Give --labels FILE?");
  require(s.label.empty(), ExitStatus::usage, "logistic_regression: label names a column of a table",
          "label = " + s.label + ", images = " + s.images, "Did you mean labels?");
  const auto [first, second] = parse_digits(s.digits.empty() ? "5,6" : s.digits);
  return load_idx(s.images, s.labels, first, second, s.bias);
}

TargetInfo describe_logistic(const Design& design, std::size_t element) {
  const double entries = static_cast<double>(design.rows) * design.columns;
  TargetInfo info;
  info.dim = static_cast<Index>(design.columns);
  info.variable = "w";
  info.names = design.names;
  info.constants.push_back({"y", {"observation"}, {design.rows}, design.y});
  if (entries * sizeof(double) < 64e6)  // a copy of larger data in every file of draws would be most of the file
    info.constants.push_back({"x", {"observation", "feature"}, {design.rows, design.columns}, design.x});
  info.flops = 4 * entries;
  info.bytes = entries * element;
  return info;
}

template <class Real>
typename LogisticRegression<Real>::Data LogisticRegression<Real>::place(const Design& design, double prior_sd,
                                                                        Arena<Real>& arena, bool columns, bool rows) {
  const std::size_t n = design.columns, num = design.rows;
  Data d{};
  d.n = static_cast<Index>(n);
  d.row = static_cast<Index>((n + 31) / 32 * 32);
  d.num_rows = static_cast<Index>(num);
  d.num_padded = static_cast<Index>((num + 31) / 32 * 32);
  d.inverse_variance = 1 / (prior_sd * prior_sd);
  d.log_constant = -static_cast<double>(n) * (std::log(prior_sd) + 0.5 * std::log(2 * std::numbers::pi));
  std::vector<double> buffer(d.num_padded);
  for (std::size_t i = 0; i < num; ++i) buffer[i] = 2 * design.y[i] - 1;
  d.sign = arena.put(buffer);
  if (columns) {
    const std::size_t stride = d.num_padded;
    buffer.assign(stride * n, 0.0);
    for (std::size_t i = 0; i < num; ++i)
      for (std::size_t j = 0; j < n; ++j) buffer[j * stride + i] = design.x[i * n + j];
    d.x_columns = arena.put(buffer);
  }
  if (rows) {
    const std::size_t stride = d.row;
    buffer.assign(stride * num, 0.0);
    for (std::size_t i = 0; i < num; ++i)
      for (std::size_t j = 0; j < n; ++j) buffer[i * stride + j] = design.x[i * n + j];
    d.x_rows = arena.put(buffer);
  }
  return d;
}

template struct LogisticRegression<float>;
template struct LogisticRegression<double>;

}  // namespace kilochain
