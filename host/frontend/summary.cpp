#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "host/frontend/commands.hpp"
#include "host/frontend/summary_table.hpp"
#include "host/frontend/text.hpp"
#include "host/run/run.hpp"

namespace kilochain::cli {

int summary(const std::string& path, const std::string& without, bool json, std::int64_t rows) {
  require(rows > 0, ExitStatus::usage, fmt::format("command line: --rows = {}", rows), "must be > 0", "Try 20?");
  const RunSummary run = summarise_file(path, std::size_t(2) << 30, {chain_numbers(without)});
  const Verdict verdict = verdict_of(run);
  if (json) {
    fmt::print("{}\n", to_json(run).dump(2));
  } else {
    print_summary(std::cout, run, rows);
    if (!verdict.converged) fmt::print("not converged: {}\n", verdict.reason);
  }
  return status_of(run);
}

}  // namespace kilochain::cli
