// What commands say about a file of draws: summary, diagnose (what stands out) and report (a page of figures).
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "host/frontend/commands.hpp"
#include "host/frontend/files.hpp"
#include "host/frontend/summary_table.hpp"
#include "host/frontend/text.hpp"
#include "host/report/advice.hpp"
#include "host/report/page.hpp"

namespace kilochain::cli {
namespace {

constexpr std::size_t most_rows = 6;

void print_clusters(const Diagnosis& d) {
  if (d.clusters.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"chains", "log density"}};
  for (const std::size_t p : d.worst) rows[0].push_back("mean " + d.run.parameters[p].name);
  rows[0].push_back("which");
  for (std::size_t k = 0; k < d.clusters.size() && k < most_rows; ++k) {
    const Cluster& c = d.clusters[k];
    rows.push_back({std::to_string(c.chains.size()), figure(c.lp, 5)});
    for (const double mean : c.means) rows.back().push_back(figure(mean, 4));
    rows.back().push_back(chains_text(c.chains));
  }
  fmt::print("\nwhere the chains are, the largest group first\n{}", columns(rows));
  if (d.clusters.size() > most_rows) fmt::print("  ... {} more, none larger\n", d.clusters.size() - most_rows);
}

void print_worst(const Diagnosis& d) {
  std::vector<std::vector<std::string>> rows = {{"variable", "rhat", "ess_bulk", "ess_tail"}};
  for (const ParameterSummary& p : worst_first(d.run.parameters)) {
    if (rows.size() > most_rows) break;
    rows.push_back({p.name, rhat_text(p.rhat), figure(p.ess_bulk, 3), figure(p.ess_tail, 3)});
  }
  fmt::print("\nworst parameters of {}\n{}", d.run.parameters.size(), columns(rows));
}

/// Lowest, middle and highest of the chains, where it is known.
void print_range(const Diagnosis& d, const char* name, double ChainFigures::*of) {
  std::vector<double> values;
  for (const ChainFigures& c : d.chains)
    if (std::isfinite(c.*of)) values.push_back(c.*of);
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  fmt::print("{:<12}lowest {}, median {}, highest {}\n", name, figure(values.front(), 3),
             figure(values[values.size() / 2], 3), figure(values.back(), 3));
}

}  // namespace

int diagnose(const std::string& path, const std::string& without, bool json) {
  const Diagnosis d = kilochain::diagnose(path, chain_numbers(without));
  if (json) {
    fmt::print("{}\n", to_json(d).dump(2));
    return status_of(d.run);
  }
  const NextStep next = next_step(d);
  fmt::print("{} on {}: {} of {} chains counted\n{}\n{}\n\n", d.run.sampler, d.run.target, d.chains.size(),
             d.run.num_chains + std::ssize(d.run.without), next.verdict, next.advice);
  if (d.findings.empty()) fmt::print("nothing stands out\n\n");
  for (const Finding& f : d.findings) {
    fmt::print("{:<12}{}\n", f.kind, f.words);
    if (!f.chains.empty()) fmt::print("{:<12}chains {}\n", "", chains_text(f.chains));
    fmt::print("{:<12}{}\n\n", "", f.advice);
  }
  print_range(d, "acceptance", &ChainFigures::acceptance);
  print_range(d, "ESS of lp", &ChainFigures::ess_lp);
  print_range(d, "E-BFMI", &ChainFigures::e_bfmi);
  print_range(d, "tree depth", &ChainFigures::tree_depth);
  print_clusters(d);
  print_worst(d);
  for (const std::string& what : d.missing) fmt::print("\nmissing: {}\n", what);
  return status_of(d.run);
}

int summary(const std::string& path, const std::string& without, bool json, std::int64_t rows) {
  require(rows > 0, ExitStatus::usage, fmt::format("command line: --rows = {}", rows), "must be > 0", "Try 20?");
  const RunSummary run = summarise_file(path, {chain_numbers(without)});
  const Verdict verdict = verdict_of(run);
  if (json) {
    fmt::print("{}\n", to_json(run).dump(2));
  } else {
    print_summary(std::cout, run, rows);
    if (!verdict.converged) fmt::print("not converged: {}\n", verdict.reason);
  }
  return status_of(run);
}

int report(const std::string& path, const std::string& without, const std::string& output, bool overwrite) {
  std::error_code ignored;
  require(overwrite || !std::filesystem::exists(output, ignored), ExitStatus::usage,
          output + ": there is a file already", "a report never replaces one unasked",
          "Name another with --output, or add --overwrite?");
  const Diagnosis d = kilochain::diagnose(path, chain_numbers(without));
  const std::string page = page_of(path, d);
  write_file(output, page);
  const NextStep next = next_step(d);
  fmt::print("{}\n{}\nreport: {} ({} kB)\n", next.verdict, next.advice, output, (page.size() + 999) / 1000);
  return status_of(d.run);
}

}  // namespace kilochain::cli
