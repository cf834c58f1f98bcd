// Small texts that several commands share: bytes, times, tables in columns.
#pragma once
#include <string>
#include <vector>

namespace kilochain::cli {

/// 1.5 GB; powers of 1000, three digits.
std::string bytes_text(double bytes);
/// 12 s, 3 min 20 s, 2 h 05 min.
std::string seconds_text(double seconds);
/// Rows of cells in columns of one width, two spaces between; the last column is wrapped at `width`.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 2, std::size_t width = 110);

}  // namespace kilochain::cli
