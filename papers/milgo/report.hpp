// What the runs say, for people and for programs: JSON, tables on a terminal, the page.
#pragma once
#include "papers/milgo/runs.hpp"
#include "papers/reproduction.hpp"

namespace kilochain::milgo {

/// One object a cell: {source, target, dim, sampler, name, adaptation, runs, mean_error: {mean, sd, ...}, region_68:
/// {error, sd, ...}, region_99: {...}, acceptance, seconds, published: {...} or null, findings: [...]}.
nlohmann::json to_json(const CellResult& result);

/// Header, then for each cell a row of ours (with standard errors) and one of what was published.
std::vector<std::vector<std::string>> table_rows(const std::vector<nlohmann::json>& cells);

/// The whole page of cells as to_json gives them, with date and commit; its conclusions are computed from the cells.
std::string markdown(const std::vector<nlohmann::json>& cells, bool has_figure);

}  // namespace kilochain::milgo
