// What the runs say, for people and for programs: JSON, tables on a terminal, the page.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "papers/milgo/runs.hpp"

namespace kilochain::milgo {

/// One object a cell: {source, target, dim, sampler, name, adaptation, runs, mean_error: {mean, sd, ...}, region_68:
/// {error, sd, ...}, region_99: {...}, acceptance, seconds, published: {...} or null, findings: [...]}.
nlohmann::json to_json(const CellResult& result);

/// Header, then for each cell a row of ours (with standard errors) and one of what was published.
std::vector<std::vector<std::string>> table_rows(const std::vector<nlohmann::json>& cells);

struct Page {
  std::vector<nlohmann::json> cells;  ///< as to_json, with date and commit
  std::string machine, command;
  bool has_figure = false;
};
/// The whole page; its conclusions are computed from the cells.
std::string markdown(const Page& page);

}  // namespace kilochain::milgo
