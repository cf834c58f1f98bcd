#include "host/frontend/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kilochain::cli {

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", bytes)
                   : fmt::format("{:.{}f} {}", bytes,
                                 bytes < 9.995   ? 2
                                 : bytes < 99.95 ? 1
                                                 : 0,
                                 units[unit]);
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 10) return fmt::format("{:.2g} s", seconds);
  if (seconds > 1e10) return fmt::format("{:.1e} years", seconds / 3.156e7);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t indent, std::size_t width) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (widths.size() <= k) widths.push_back(0);
      widths[k] = std::max(widths[k], row[k].size());
    }
  std::size_t start = indent;  // of the last column
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) start += widths[k] + 2;
  const std::size_t room = width > start + 30 ? width - start : 30;
  std::string out;
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
    out += line + "\n";
  }
  return out;
}

}  // namespace kilochain::cli
