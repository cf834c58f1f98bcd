#include "papers/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "kernels/device/error.hpp"
#include "papers/provenance.hpp"

namespace kilochain::papers {

using Json = nlohmann::json;

void say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

void check_flag(const char* flag, std::int64_t value, std::int64_t low, std::int64_t high, std::int64_t example) {
  require(value >= low && value <= high, ExitStatus::usage, fmt::format("command line: {} {}", flag, value),
          fmt::format("must be >= {} and <= {}", low, high), fmt::format("Try {}?", example));
}

std::vector<Json> merged(const std::filesystem::path& store, const std::vector<Json>& fresh,
                         const std::vector<const char*>& keys) {
  std::vector<Json> all;
  if (std::ifstream old(store); old) all = Json::parse(old).get<std::vector<Json>>();
  const auto equal = [&](const Json& a, const Json& b) {
    return std::all_of(keys.begin(), keys.end(), [&](const char* key) { return a[key] == b[key]; });
  };
  const std::string commit = commit_of(store.parent_path().string());
  for (const Json& f : fresh) {
    std::erase_if(all, [&](const Json& o) { return equal(o, f); });
    all.push_back(f);
    all.back()["date"] = today();
    all.back()["commit"] = commit;
  }
  return all;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::string out;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    out += fmt::format("| {} |\n", fmt::join(rows[k], " | "));
    if (k > 0) continue;
    out += "|";
    for (std::size_t c = 0; c < rows[k].size(); ++c) out += c < left ? "---|" : "---:|";
    out += "\n";
  }
  return out;
}

}  // namespace kilochain::papers
