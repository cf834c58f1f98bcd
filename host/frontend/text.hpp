// Tables in columns and numbers, as several commands print them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace kilochain::cli {

/// Rows of cells in columns of one width, two spaces between; the last column is wrapped at `width`.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 2, std::size_t width = 110);
/// The same, each row by itself: of one line or more.
std::vector<std::string> column_rows(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 2,
                                     std::size_t width = 110);

/// A number in at most so many digits, or as a whole number where it has more before its point: 0.0952, 5.46, 246587.
std::string figure(double value, int digits);

/// The chains of "3,17,20-29"; none of "". Throws Error (usage).
std::vector<std::int64_t> chain_numbers(const std::string& text);

}  // namespace kilochain::cli
