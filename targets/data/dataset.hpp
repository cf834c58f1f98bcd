// Data input: numeric CSV tables, matrices (CSV or NumPy), labelled CSV and IDX images as a logistic-regression design.
// Every file may be gzipped, or in memory (bytes.hpp); what it is is decided by its bytes, not by its name.
// Layout: every matrix is row-major, rows x columns, double.
// Promises: nothing is repaired or filled in, and dropped only where it is asked for; a file is used, or is an Error
// that says all that is wrong.
// Cost: one read of the file into memory, one pass; CSV at about 200 MB/s.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace kilochain {

/// A CSV file: the names of its header and its numbers.
struct Table {
  std::vector<std::string> columns;  ///< unique, not empty
  std::size_t rows = 0;
  std::vector<double> values;  ///< row-major, rows x columns.size(), all finite
};

/// A plain matrix of numbers.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;  ///< row-major, rows x columns, all finite
};

/// A regression: the class, number or count y_i given the i-th row of x. Two classes are 0 and 1, without names.
struct Design {
  std::size_t rows = 0;                   ///< observations, at least 2
  std::size_t columns = 0;                ///< features, the bias counted when it was added
  std::vector<double> x;                  ///< row-major, rows x columns
  std::vector<double> y;                  ///< rows values: 0 or 1, the place in `classes`, a number or a count
  std::vector<std::string> names;         ///< one per column of x; "bias" last when it was added
  std::vector<std::string> classes = {};  ///< names of more than two classes, in order
  std::vector<double> group = {};         ///< rows values, where rules name a column of groups: the place in `groups`
  std::vector<std::string> groups = {};   ///< their names, by letter
  std::vector<double> centre = {},
                      scale = {};  ///< of each column, where it was standardised: what was taken off, and divided by
  std::string source;              ///< the file(s) it came from, for messages and the output's attributes
  std::string note = {};           ///< what was left out of it; empty: nothing
};

enum class Missing { refuse, drop };

/// How a table becomes observations. Names of columns are separated by commas.
struct TableRules {
  std::string label = {};             ///< the column of the labels; empty: the last that is not dropped
  std::string positive = {};          ///< the label that is 1, all others are 0; empty: labels are 0 and 1
  std::string drop_columns = {};      ///< are not read
  std::string categories = {};        ///< columns of names: each but the first by letter becomes a column of 0 and 1
  std::string groups = {};            ///< a column of names that divides the rows; no feature
  Missing missing = Missing::refuse;  ///< what becomes of rows with a gap: nothing, NA, N/A, NaN, null or ?
};

/// What a target's settings name, read when it is first asked for and kept as long as they are: however many ways of a
/// target look at it, its file is read once.
class DesignOnce {
 public:
  template <class Read>
  const Design& operator()(Read&& read) const {
    if (!design_) design_ = std::make_shared<const Design>(read());
    return *design_;
  }
  /// As it was read, or null.
  std::shared_ptr<const Design> shared() const { return design_; }

 private:
  mutable std::shared_ptr<const Design> design_;
};

/// Reads a CSV file: a header, then rows of numbers, separated by commas; LF or CRLF line ends; names may be quoted. Or
/// a NumPy .npy file of records of float64, whose fields are the columns.
/// Throws Error (ExitStatus::data) on a missing or empty file, a missing header, no rows, a ragged row, text where a
/// number belongs, NaN or infinity, a duplicate or empty column name; with line and column.
Table read_csv(const std::string& path);

/// Reads a matrix from CSV, with or without a header (a first line of numbers alone is data), or from a NumPy .npy file
/// (float32 or float64, little-endian, C order, one or two dimensions; one dimension is a column).
/// Throws Error (ExitStatus::data) as read_csv does.
Matrix read_matrix(const std::string& path);

/// Reads a CSV file as a design, by the rules (or the name of the label's column).
/// `standardise` centres each feature and divides it by its standard deviation (n - 1 in the denominator);
/// `bias` then appends a column of ones as the last.
/// Throws Error: as read_csv; data for a label that is not 0 or 1, a constant column under `standardise`, fewer than
/// 2 rows, no feature; usage for an unknown column.
Design load_labelled_csv(const std::string& path, const TableRules& rules, bool standardise, bool bias);

/// The same where the label names one of 2 to 1000 classes, as a word or a whole number; `classes` holds them by
/// number, or by letter when one is a word. Throws Error (data) also for a single class or too many.
Design load_classified_csv(const std::string& path, const TableRules& rules, bool standardise, bool bias);

enum class Response { number, count };

/// The same where the label is what is predicted: a number, or a count, which is whole and not negative.
Design load_measured_csv(const std::string& path, const TableRules& rules, Response response, bool standardise,
                         bool bias);

/// Reads two digits of an IDX image set (MNIST's format): x = pixel / 255, y = 1 for `digit_first` and 0 for
/// `digit_second`, images in the file's order; columns named pixel_<row>_<column>; `bias` as above.
/// Throws Error: usage for equal digits or digits outside 0..9; data for a wrong magic number, a short or long body,
/// a truncated gzip stream, different counts of images and labels, a digit that does not occur.
Design load_idx(const std::string& images_path, const std::string& labels_path, int digit_first, int digit_second,
                bool bias);

/// Reads all images of the digits listed (empty: all that occur) as classes. Throws Error as load_idx does.
Design load_classified_idx(const std::string& images_path, const std::string& labels_path,
                           const std::vector<int>& digits, bool bias);

}  // namespace kilochain
