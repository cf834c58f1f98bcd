// What a run will take, as a table: what, where, bytes; then totals beside what there is, the time, and advice.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "host/run/estimate.hpp"

namespace kilochain::cli {

std::string estimate_table(const Estimate& estimate);
/// Keys: rows [{what, where, bytes}], bytes and available {host, device, disk}, seconds (or null), fits, advice.
nlohmann::json to_json(const Estimate& estimate);

}  // namespace kilochain::cli
