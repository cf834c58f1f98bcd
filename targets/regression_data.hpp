// What all regressions share: which data their settings name, and their design where chains run.
#pragma once
#include "targets/data/dataset.hpp"
#include "targets/target.hpp"

namespace kilochain {

/// Whether the weights are recorded in the units of the table as well.
enum class Units { standard, table };

/// The settings that they have, apart from the templates, so that readers need no precision.
struct RegressionSettings {
  std::string data, label, positive, drop_columns, categories, groups, images, labels, digits;
  Missing missing = Missing::refuse;
  bool standardise = true, bias = true;
  Units units = Units::standard;
  double prior_sd = 1;
  DesignOnce design;
  TableRules rules() const { return {label, positive, drop_columns, categories, groups, missing}; }
};

/// Those of a table; `observation`: what its label says.
template <class V>
void table_fields(V&& visit, RegressionSettings& s, const char* observation) {
  visit("data", s.data, observation);
  visit("label", s.label, "name of the label's column; the last column when not given");
  visit("drop_columns", s.drop_columns, "columns that are left out, with commas between");
  visit("categories", s.categories,
        "columns of names, with commas between: each name but the first by letter becomes a column of 0 and 1");
  visit("missing", s.missing, Names{"refuse", "drop"},
        "drop: rows with a gap (nothing, NA, N/A, NaN, null or ?) are left out, and counted");
}
template <class V>
void groups_field(V&& visit, RegressionSettings& s) {
  visit("groups", s.groups, "column of names: each of them has an intercept of its own, alpha ~ N(0, sigma_alpha^2)");
}
template <class V>
void weight_fields(V&& visit, RegressionSettings& s) {
  visit("standardise", s.standardise, "centre each feature of the table and divide it by its standard deviation");
  visit("units", s.units, Names{"standard", "table"},
        "table: weights in the table's own units are recorded beside those of standardised features");
  visit("bias", s.bias, "append a column of ones, the intercept");
  visit("prior_sd", s.prior_sd, positive(), "standard deviation of the Gaussian prior of every weight");
}
template <class V>
void regression_fields(V&& visit, RegressionSettings& s) {
  weight_fields(visit, s);
  visit("images", s.images, "IDX images (MNIST's format), instead of data; pixels are divided by 255");
  visit("labels", s.labels, "IDX labels of the images");
}

/// Whether the settings of `model` name a table, else images and their labels. Throws Error (usage) for neither, for
/// both, for one of images and labels alone, and for a setting that is the other kind's.
template <class Settings>
bool names_a_table(const std::string& model, const Settings& s) {
  const bool table = !s.data.empty(), images = !s.images.empty() || !s.labels.empty();
  const std::string first = s.images.empty() ? "labels = " + s.labels : "images = " + s.images;
  require(table || images, ExitStatus::usage, model + ": no data", "neither data nor images is set",
          "Give --data FILE.csv, or --images FILE --labels FILE?");
  require(!(table && images), ExitStatus::usage, model + ": two kinds of data", "data = " + s.data + " and " + first,
          "Give one or the other?");
  require(!table || s.digits.empty(), ExitStatus::usage, model + ": digits without images",
          "digits = " + s.digits + ", data = " + s.data, "Remove digits, or give images?");
  if (table) return true;
  require(!s.images.empty() && !s.labels.empty(), ExitStatus::usage,
          model + (s.images.empty() ? ": labels without images" : ": images without labels"), first,
          s.images.empty() ? "Give --images FILE?" : "Give --labels FILE?");
  require(s.label.empty(), ExitStatus::usage, model + ": label names a column of a table",
          "label = " + s.label + ", images = " + s.images, "Did you mean labels?");
  return false;
}

/// The digits of "5,6"; none where it is no list of digits with commas between.
std::vector<int> digits_in(const std::string& text);

/// The observations as constants of a file of draws; x as it was sampled with, and what makes it the table's again:
/// table = x * x_scale + x_centre.
inline void describe_observations(const Design& design, TargetInfo& info) {
  if (!design.note.empty()) info.notes = [note = design.note] { return std::vector{note}; };
  info.constants.push_back({"y", {"observation"}, {design.rows}, design.y});
  if (design.x.size() * sizeof(double) < 64e6)  // a copy of larger data in every file would be most of the file
    info.constants.push_back({"x", {"observation", "feature"}, {design.rows, design.columns}, design.x});
  if (design.centre.empty()) return;
  info.constants.push_back({"x_centre", {"feature"}, {design.columns}, design.centre});
  info.constants.push_back({"x_scale", {"feature"}, {design.columns}, design.scale});
}

/// Records the weights in the table's units too, where that is asked for: the first recorded values are the weights,
/// class after class. Throws Error (usage) where there are no other units, or no intercept to take the centres.
void record_table_units(const RegressionSettings& s, const Design& design, TargetInfo& info);

/// The sizes and the prior of a model's data, and the copies of X that are asked for: (n, num_padded), (num_padded,
/// row).
template <class Real, class Data>
void place_design(const Design& design, double prior_sd, Arena<Real>& arena, bool columns, bool rows, Data& d) {
  const std::size_t n = design.columns, num = design.rows, padded = (num + 31) / 32 * 32, row = (n + 31) / 32 * 32;
  d.n = static_cast<Index>(n);
  d.row = static_cast<Index>(row);
  d.num_rows = static_cast<Index>(num);
  d.num_padded = static_cast<Index>(padded);
  d.inverse_variance = 1 / (prior_sd * prior_sd);
  const auto copy = [&](std::size_t size, std::size_t of_row, std::size_t of_column) {
    return arena.place(size, [&](Real* to) {
      for (std::size_t i = 0; i < num; ++i)
        for (std::size_t j = 0; j < n; ++j) to[i * of_row + j * of_column] = static_cast<Real>(design.x[i * n + j]);
    });
  };
  if (columns) d.x_columns = copy(padded * n, 1, padded);
  if (rows) d.x_rows = copy(row * padded, row, 1);
}

}  // namespace kilochain
