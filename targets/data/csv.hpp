// The parser behind read_csv, read_matrix and load_labelled_csv (targets/data/dataset.hpp), on text already in memory.
#pragma once
#include <string>
#include <vector>

#include "targets/data/dataset.hpp"

namespace kilochain {

enum class Header { required, optional };

/// What parse_csv makes of a table of observations, beside its numbers.
struct Observations {
  const TableRules* rules;
  bool classes = false;                  ///< in: the label is text, whatever it looks like
  std::size_t label = 0;                 ///< out: its place; the table's values there are zeros where it is text
  std::vector<std::string> labels = {};  ///< out: one for each row where it is text, none empty
  std::size_t incomplete = 0;            ///< out: rows that were left out
  std::vector<double> group = {};        ///< out: one for each row where rules name groups, the place in `groups`
  std::vector<std::string> groups = {};  ///< out: their names, by letter
};

/// The place of a column. Throws Error (usage), naming the nearest, when there is none.
std::size_t find_column(const std::string& path, const std::vector<std::string>& columns, const std::string& name);

/// Parses `text`; `path` is for messages. With Header::optional a first line of numbers alone is data, and the names
/// are then empty. Row i is line i + 2 of a headed file, i + 1 of another: blank lines are an error, except at the end;
/// rows that `observations` leaves out are not counted. All that is wrong is in one message: the first of each kind,
/// and how many there are.
Table parse_csv(const std::string& path, const std::string& text, Header header, Observations* observations = nullptr);

}  // namespace kilochain
