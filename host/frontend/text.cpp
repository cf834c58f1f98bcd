#include "host/frontend/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"

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

std::vector<std::int64_t> chain_numbers(const std::string& text) {
  std::vector<std::int64_t> out;
  const char *at = text.data(), *end = at + text.size();
  const auto number = [&] {
    std::int64_t value = -1;
    const auto [next, failed] = std::from_chars(at, end, value);
    require(failed == std::errc() && value >= 0, ExitStatus::usage, "command line: --without-chains = " + text,
            fmt::format("no number of a chain at character {}", at - text.data() + 1), "Try 3,17,20-29?");
    at = next;
    return value;
  };
  while (at != end) {
    const std::int64_t first = number();
    std::int64_t last = first;
    if (at != end && *at == '-') ++at, last = number();
    require(last >= first && last - first < 100'000'000 && (at == end || *at == ','), ExitStatus::usage,
            "command line: --without-chains = " + text,
            fmt::format("{}-{} at character {}", first, last, at - text.data() + 1), "Try 3,17,20-29?");
    for (std::int64_t c = first; c <= last; ++c) out.push_back(c);
    if (at != end) ++at;
  }
  return out;
}

}  // namespace kilochain::cli
