// Tables in columns, as several commands print them.
#pragma once
#include <string>
#include <vector>

namespace kilochain::cli {

/// Rows of cells in columns of one width, two spaces between; the last column is wrapped at `width`.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 2, std::size_t width = 110);

}  // namespace kilochain::cli
