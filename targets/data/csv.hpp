// The parser behind read_csv, read_matrix and load_labelled_csv (targets/data/dataset.hpp), on text already in memory.
#pragma once
#include <string>

#include "targets/data/dataset.hpp"

namespace kilochain {

enum class Header { required, optional };

/// Parses `text`; `path` is for messages. With Header::optional a first line of numbers alone is data, and the names
/// are then empty. Row i is line i + 2 of a headed file, i + 1 of another: blank lines are an error, except at the end.
Table parse_csv(const std::string& path, const std::string& text, Header header);

}  // namespace kilochain
