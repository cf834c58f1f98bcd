// What the pages of all papers do alike: results that stay in the folder from one call to the next, and tables.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kilochain::papers {

/// A line on standard error.
void say(const std::string& line);

/// Throws Error (usage) where a flag's value is not in low .. high; `example` is one that is.
void check_flag(const char* flag, std::int64_t value, std::int64_t low, std::int64_t high, std::int64_t example);

/// The results that an earlier call left in the JSON file `store`, with fresh ones, dated today and with the commit of the
/// folder, in the place of those that have the same under all `keys`.
std::vector<nlohmann::json> merged(const std::filesystem::path& store, const std::vector<nlohmann::json>& fresh,
                                   const std::vector<const char*>& keys);

/// A table in markdown: header, then rows; the first `left` columns stand to the left, the others to the right.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace kilochain::papers
