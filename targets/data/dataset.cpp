#include "targets/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/number_of.hpp"
#include "targets/data/bytes.hpp"
#include "targets/data/csv.hpp"
#include "targets/data/npy.hpp"

namespace kilochain {
namespace {

// Two passes (mean, then squared deviations), as the papers' code does: no cancellation for columns far from zero.
void standardise_column(Design* design, std::size_t j) {
  const std::size_t n = design->rows, d = design->columns;
  double* column = design->x.data() + j;
  double sum = 0, low = column[0], high = column[0];
  for (std::size_t i = 0; i < n; ++i) {
    sum += column[i * d];
    low = std::min(low, column[i * d]);
    high = std::max(high, column[i * d]);
  }
  // Equality of the values, not a zero variance: the mean of equal values rounds.
  require(low < high, ExitStatus::data, design->source + ": a column is constant and cannot be standardised",
          fmt::format("column \"{}\" is {} in all {} rows", design->names[j], low, n),
          "Remove the column, or do not standardise?");
  const double mean = sum / n;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) squares += (column[i * d] - mean) * (column[i * d] - mean);
  const double deviation = std::sqrt(squares / (n - 1));
  require(deviation > 0 && std::isfinite(deviation), ExitStatus::data,
          design->source + ": a column's spread is outside the range of a double",
          fmt::format("column \"{}\" runs from {} to {}", design->names[j], low, high), "Rescale the column?");
  for (std::size_t i = 0; i < n; ++i) column[i * d] = (column[i * d] - mean) / deviation;
  design->centre[j] = mean, design->scale[j] = deviation;
}

/// Everything of a table but its label column, the labels y left out.
Design design_of(const std::string& path, const Table& table, const Observations& o, bool bias) {
  const std::size_t label_column = o.label, width = table.columns.size(), features = width - 1;
  require(features > 0, ExitStatus::data, path + ": there is no feature beside the label",
          fmt::format("one column, \"{}\"", table.columns[0]), "Add at least one column?");
  require(table.rows >= 2, ExitStatus::data, path + ": too few rows", fmt::format("{}, at least 2 needed", table.rows),
          "Is the file complete?");
  Design design;
  design.source = path;
  design.group = o.group, design.groups = o.groups;
  if (o.incomplete > 0)
    design.note = fmt::format("{} of {} rows have gaps and were left out", o.incomplete, o.incomplete + table.rows);
  design.rows = table.rows;
  design.columns = features + (bias ? 1 : 0);
  for (std::size_t j = 0; j < width; ++j) {
    if (j != label_column) design.names.push_back(table.columns[j]);
  }
  if (bias) {
    require(std::find(design.names.begin(), design.names.end(), "bias") == design.names.end(), ExitStatus::data,
            path + ": a column is already named \"bias\"", "a bias column of ones is to be added under that name",
            "Rename the column, or add no bias?");
    design.names.push_back("bias");
  }
  design.x.reserve(design.rows * design.columns);
  for (std::size_t i = 0; i < table.rows; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      if (j != label_column) design.x.push_back(table.values[i * width + j]);
    }
    if (bias) design.x.push_back(1.0);
  }
  return design;
}

/// Every feature but the bias.
void standardise_features(Design* design, bool bias) {
  design->centre.assign(design->columns, 0), design->scale.assign(design->columns, 1);
  for (std::size_t j = 0; j + (bias ? 1 : 0) < design->columns; ++j) standardise_column(design, j);
}

/// The distinct names: by number where all are whole numbers, else by letter.
std::vector<std::string> classes_of(const std::vector<std::string>& fields) {
  const std::set<std::string> distinct(fields.begin(), fields.end());
  std::vector<std::string> classes(distinct.begin(), distinct.end());
  std::map<std::string, long long> number;
  for (const std::string& name : classes) {
    const auto value = number_of<long long>(name);
    if (!value) return classes;
    number[name] = *value;
  }
  std::sort(classes.begin(), classes.end(), [&](const auto& a, const auto& b) { return number[a] < number[b]; });
  return classes;
}

constexpr std::size_t most_classes = 1000;

Table read_table(const std::string& path, Observations* observations) {
  const std::string bytes = read_bytes(path);
  if (!is_npy(bytes)) return parse_csv(path, bytes, Header::required, observations);
  Table table = parse_npy(path, bytes);
  require(!table.columns[0].empty(), ExitStatus::data, path + ": the array's columns have no names",
          std::to_string(table.columns.size()) + " columns", "Save an array of records, whose fields are the columns?");
  if (!observations) return table;
  const TableRules& rules = *observations->rules;
  require(rules.drop_columns.empty() && rules.categories.empty() && rules.groups.empty() &&
              rules.missing == Missing::refuse,
          ExitStatus::usage, path + ": an array is used as it is",
          "drop_columns, categories, groups and missing are for CSV tables",
          "Leave the setting out, or write a CSV table?");
  const std::size_t width = table.columns.size();
  observations->label = rules.label.empty() ? width - 1 : find_column(path, table.columns, rules.label);
  for (std::size_t i = 0; i < table.rows && (observations->classes || !rules.positive.empty()); ++i)
    observations->labels.push_back(fmt::format("{}", table.values[i * width + observations->label]));
  return table;
}

/// Row i, for messages: its line where no row was left out.
std::string place_of(const Observations& o, const Table& table, std::size_t i) {
  return fmt::format("{} {}, column \"{}\"", o.incomplete > 0 ? "complete row" : "line",
                     o.incomplete > 0 ? i + 1 : i + 2, table.columns[o.label]);
}

}  // namespace

Table read_csv(const std::string& path) { return read_table(path, nullptr); }

Matrix read_matrix(const std::string& path) {
  const std::string bytes = read_bytes(path);
  Table table = is_npy(bytes) ? parse_npy(path, bytes) : parse_csv(path, bytes, Header::optional);
  return Matrix{table.rows, table.columns.size(), std::move(table.values)};
}

Design load_labelled_csv(const std::string& path, const TableRules& rules, bool standardise, bool bias) {
  Observations o{&rules};
  const Table table = read_table(path, &o);
  Design design = design_of(path, table, o, bias);
  for (const std::string& label : o.labels) design.y.push_back(label == rules.positive);
  require(
      o.labels.empty() || std::count(design.y.begin(), design.y.end(), 1.0) > 0, ExitStatus::data,
      fmt::format("{}: no label is \"{}\"", path, rules.positive),
      fmt::format("the first of column \"{}\" is \"{}\"", table.columns[o.label], o.labels.empty() ? "" : o.labels[0]),
      "Is it spelt as in the table?");
  for (std::size_t i = 0; o.labels.empty() && i < table.rows; ++i) {
    const double y = table.values[i * table.columns.size() + o.label];
    require(y == 0 || y == 1, ExitStatus::data, path + ": a label is not 0 or 1",
            fmt::format("{} in {}", y, place_of(o, table, i)),
            fmt::format("Say which label counts as 1, as in --positive {}, or name the label's column?", y));
    design.y.push_back(y);
  }
  if (standardise) standardise_features(&design, bias);
  return design;
}

Design load_measured_csv(const std::string& path, const TableRules& rules, Response response, bool standardise,
                         bool bias) {
  Observations o{&rules};
  const Table table = read_table(path, &o);
  Design design = design_of(path, table, o, bias);
  for (std::size_t i = 0; i < table.rows; ++i) {
    const double y = table.values[i * table.columns.size() + o.label];
    require(response == Response::number || (y >= 0 && y == std::floor(y) && y < 0x1p53), ExitStatus::data,
            path + (y < 0 ? ": a count is negative" : ": a count is not a whole number"),
            fmt::format("{} in {}", y, place_of(o, table, i)), "Is that the column of counts (--label)?");
    design.y.push_back(y);
  }
  if (standardise) standardise_features(&design, bias);
  return design;
}

Design load_classified_csv(const std::string& path, const TableRules& rules, bool standardise, bool bias) {
  Observations labels{&rules, true};
  const Table table = read_table(path, &labels);
  Design design = design_of(path, table, labels, bias);
  design.classes = classes_of(labels.labels);
  require(design.classes.size() >= 2, ExitStatus::data, path + ": every row has the same class",
          fmt::format("\"{}\" in column \"{}\", {} rows", design.classes[0], table.columns[labels.label], table.rows),
          "Is that the label's column?");
  // A column of measurements taken for classes would be a model of thousands of weights that nobody meant.
  require(design.classes.size() <= most_classes, ExitStatus::data, path + ": too many classes",
          fmt::format("{} in column \"{}\" of {} rows, at most {}", design.classes.size(), table.columns[labels.label],
                      table.rows, most_classes),
          "Name the label's column?");
  std::map<std::string, double> number;
  for (std::size_t k = 0; k < design.classes.size(); ++k) number[design.classes[k]] = k;
  for (const std::string& field : labels.labels) design.y.push_back(number.at(field));
  if (standardise) standardise_features(&design, bias);
  return design;
}

}  // namespace kilochain
