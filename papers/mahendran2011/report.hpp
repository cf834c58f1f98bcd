// What the runs say, for people: a table, and the page, whose conclusions are computed from the runs.
#pragma once
#include "papers/reproduction.hpp"

namespace kilochain::mahendran2011 {

/// Header, then a row for each method on each model; where the original code was measured, a row of that below.
papers::Rows table_rows(const std::vector<nlohmann::json>& results);

std::string markdown(const std::vector<nlohmann::json>& results, const std::string& machine);

}  // namespace kilochain::mahendran2011
