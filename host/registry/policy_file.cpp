#include "host/registry/policy_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/nearest_name.hpp"
#include "host/registry/settings.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {

std::vector<double> read_policy_rows(const std::string& owner, const std::string& path, const PolicyColumn* columns,
                                     int count, int most_rows, bool* has) {
  const Table table = read_csv(path);
  const std::string what = fmt::format("{} = {}", owner, path);
  require(table.rows <= static_cast<std::size_t>(most_rows), ExitStatus::data, what,
          fmt::format("{} rows, there is room for {}", table.rows, most_rows), "Keep fewer points?");
  std::vector<std::string> known;
  for (int k = 0; k < count; ++k) known.emplace_back(columns[k].name);
  std::vector<double> out(table.rows * count);
  const std::size_t width = table.columns.size();
  for (std::size_t j = 0; j < width; ++j) {
    int k = 0;
    while (k < count && known[k] != table.columns[j]) ++k;
    require(k < count, ExitStatus::data, what,
            fmt::format("column \"{}\" is no setting that a policy draws", table.columns[j]),
            did_you_mean(table.columns[j], known, fmt::format("Write {}?", fmt::join(known, " or "))));
    has[k] = true;
    for (std::size_t i = 0; i < table.rows; ++i) {
      const double v = table.values[i * width + j];
      const bool fits = columns[k].range.contains(v) && (!columns[k].whole || v == std::floor(v));
      require(fits, ExitStatus::data, what, fmt::format("line {}: {} = {}", i + 2, columns[k].name, v),
              fmt::format("Write a {} {}?", columns[k].whole ? "whole number" : "number",
                          settings_detail::text_of(columns[k].range)));
      out[i * count + k] = v;
    }
  }
  return out;
}

}  // namespace kilochain
