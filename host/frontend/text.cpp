#include "host/frontend/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kilochain::cli {

std::vector<std::string> column_rows(const std::vector<std::vector<std::string>>& rows, std::size_t indent,
                                     std::size_t width) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (widths.size() <= k) widths.push_back(0);
      widths[k] = std::max(widths[k], row[k].size());
    }
  std::size_t start = indent;  // of the last column
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) start += widths[k] + 2;
  const std::size_t room = width > start + 30 ? width - start : 30;
  std::vector<std::string> out;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k + 1 < widths.size()) {
        line += fmt::format("{:<{}}", row[k], widths[k] + 2);
        continue;
      }
      std::string rest = row[k];
      while (rest.size() > room) {
        std::size_t cut = rest.rfind(' ', room);
        if (cut == std::string::npos || cut == 0) break;
        line += rest.substr(0, cut) + "\n" + std::string(start, ' ');
        rest.erase(0, cut + 1);
      }
      line += rest;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.push_back(line + "\n");
  }
  return out;
}

std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t indent, std::size_t width) {
  return fmt::format("{}", fmt::join(column_rows(rows, indent, width), ""));
}

std::string figure(double value, int digits) {
  const bool whole = std::abs(value) < 1e9 && std::abs(value) >= std::pow(10.0, digits);
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, digits);
}

}  // namespace kilochain::cli
