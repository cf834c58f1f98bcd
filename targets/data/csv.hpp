// The parser behind read_csv, read_matrix and load_labelled_csv (targets/data/dataset.hpp), on text already in memory.
#pragma once
#include <string>
#include <vector>

#include "targets/data/dataset.hpp"

namespace kilochain {

enum class Header { required, optional };

/// A column that is kept as text: the name of each row's class.
struct TextColumn {
  std::string name;                 ///< in: of the column; empty: the last
  std::size_t index = 0;            ///< out: its place; the table's values there are zeros
  std::vector<std::string> fields;  ///< out: one for each row, none empty
};

/// The place of the column `label`, "" is the last. Throws Error (usage), naming the nearest, when there is none.
std::size_t find_label(const std::string& path, const std::vector<std::string>& columns, const std::string& label);

/// Parses `text`; `path` is for messages. With Header::optional a first line of numbers alone is data, and the names
/// are then empty. Row i is line i + 2 of a headed file, i + 1 of another: blank lines are an error, except at the end.
Table parse_csv(const std::string& path, const std::string& text, Header header, TextColumn* labels = nullptr);

}  // namespace kilochain
