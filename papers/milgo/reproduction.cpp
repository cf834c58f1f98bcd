#include "papers/milgo/reproduction.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "host/frontend/papers.hpp"
#include "host/frontend/text.hpp"
#include "kernels/device/error.hpp"
#include "papers/command_line.hpp"
#include "papers/jobs.hpp"
#include "papers/milgo/report.hpp"
#include "papers/provenance.hpp"

namespace kilochain::milgo {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

using papers::say;
using papers::stop_requested;
using papers::write;

std::vector<Cell> chosen_cells(const Flags& f) {
  if (f.tables.empty() && f.figures.empty() && !f.open_questions) return all_cells();
  std::vector<Cell> out;
  if (!f.tables.empty()) out = table_1();
  if (f.open_questions)
    for (const Cell& c : open_questions()) out.push_back(c);
  return out;
}

/// Of its own for each cell: one seed for all would give all cells the same proposals, and errors that go together.
std::uint64_t seed_of(const Cell& cell, std::uint64_t seed) {
  const std::string name =
      cell.target + cell.name + std::to_string(cell.dim) + adaptation_names[static_cast<int>(cell.adaptation)];
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return seed + (hash & 0xffffffff00000000u);
}

/// Draws of pi4 by the four samplers of the paper's figure, in its order, and the levels of its contours.
Json figure_data(std::uint64_t seed) {
  Json out = {{"target", "pi4"}, {"dim", 8}, {"twist", 0.1}, {"variance", 100}, {"levels", {0.683, 0.9, 0.95, 0.99}}};
  for (const char* name : {"MH", "M-GaA", "AM", "M-CMA"})
    for (const Cell& c : table_1())
      if (c.target == "pi4" && c.name == name) {
        Json points = Json::array();
        for (const auto& x : draws_of(c, 1, 5, seed_of(c, seed))) points.push_back({x[0], x[1]});
        out["samplers"].push_back({{"name", name}, {"points", points}});
      }
  return out;
}

/// New cells take the place of those of as many runs that an earlier call left in the folder; the page is made of all.
void write_page(const Flags& flags, const std::vector<Json>& cells) {
  const fs::path folder = flags.output, store = folder / "milgo.json";
  std::vector<Json> all;
  if (std::ifstream old(store); old) all = Json::parse(old).get<std::vector<Json>>();
  const auto same = [](const Json& a, const Json& b) {
    for (const char* key : {"target", "dim", "name", "adaptation", "runs"})
      if (a[key] != b[key]) return false;
    return true;
  };
  for (const Json& c : cells) {
    std::erase_if(all, [&](const Json& o) { return same(o, c); });
    all.push_back(c);
    all.back()["date"] = papers::today();
    all.back()["commit"] = papers::commit_of(flags.output);
  }
  write(store, Json(all).dump(1) + "\n");
  Page page;
  std::vector<Cell> order = all_cells();
  for (const Cell& c : open_questions()) order.push_back(c);
  for (const Cell& c : order)  // the paper's order, whatever was run first
    for (const Json& j : all)
      if (j["target"] == c.target && j["dim"] == c.dim && j["name"] == c.name &&
          j["adaptation"] == adaptation_names[static_cast<int>(c.adaptation)]) {
        page.cells.push_back(j);
        for (Json& f : page.cells.back()["findings"])  // reasons are those that are known now
          for (int k = 0; k < num_figures; ++k)
            if (f["figure"] == figure_names[k]) f["reason"] = known_reason(c, static_cast<Figure>(k), f["of"] == "sd");
      }
  page.machine = papers::machine() + ".";
  page.command = "kilochain reproduce milgo --output";
  page.has_figure = fs::exists(folder / "milgo_figure1.json") || fs::exists(folder / "milgo_figure1.png");
  write(folder / "milgo.md", markdown(page));
  say("written: " + (folder / "milgo.md").string());
}

}  // namespace

int reproduce(const Flags& flags) {
  for (const auto* list : {&flags.tables, &flags.figures})
    for (const int k : *list)
      require(k == 1, ExitStatus::usage,
              fmt::format("command line: {} {}", list == &flags.tables ? "--table" : "--figure", k),
              "there is one of each", "Try 1?");
  require(flags.runs >= 2 && flags.runs <= 1000000, ExitStatus::usage,
          fmt::format("command line: --runs {}", flags.runs), "must be >= 2 and <= 1000000", "Try 100?");
  require(flags.figures.empty() || !flags.output.empty(), ExitStatus::usage, "command line: --figure without --output",
          "the figure's data are written into a folder", "Add --output FOLDER?");
  if (!flags.output.empty()) {
    std::error_code failed;
    fs::create_directories(flags.output, failed);
    require(!failed, ExitStatus::usage, flags.output + ": no such folder, and it cannot be made", failed.message(),
            "Name another with --output?");
  }
  papers::stop_at_signals();
  const std::vector<Cell> cells = chosen_cells(flags);
  std::vector<CellResult> results(cells.size());
  std::vector<papers::Job> jobs;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const Cell& c = cells[k];
    const double weight = c.dim + (c.name == "nuts" ? 100.0 : c.name == "AP" ? 4.0 : 8.0);
    jobs.push_back({fmt::format("{} d={} {}", c.target, c.dim, c.name), weight, [&, k](const auto& tick) {
                      results[k] =
                          run_cell(cells[k], 0, flags.runs, seed_of(cells[k], flags.seed), stop_requested, tick);
                    }});
  }
  papers::run_jobs(std::move(jobs), flags.threads > 0 ? flags.threads : omp_get_num_procs(), stop_requested, 5, say);
  if (!flags.figures.empty() && !stop_requested) {
    write(fs::path(flags.output) / "milgo_figure1.json", figure_data(flags.seed).dump() + "\n");
    say(fmt::format("picture: tools/plot_milgo.py {}", flags.output));
  }
  std::vector<Json> out;
  for (const CellResult& r : results)
    if (r.num_runs() == static_cast<std::size_t>(flags.runs)) out.push_back(to_json(r));  // else interrupted
  if (flags.json)
    fmt::print("{}\n", Json(out).dump(2));
  else if (!out.empty())
    fmt::print("{}", cli::columns(table_rows(out)));
  if (!flags.output.empty()) write_page(flags, out);
  if (stop_requested) return 130;
  std::size_t unknown = 0;
  for (const Json& c : out)
    for (const Json& f : c["findings"]) {
      if (!f["reason"].get<std::string>().empty()) continue;
      say(fmt::format("deviates: {} {}, {} of {}: published {:.2f}, here {:.2f}, z {:+.1f}",
                      c["target"].get<std::string>(), c["name"].get<std::string>(), f["of"].get<std::string>(),
                      f["figure"].get<std::string>(), f["published"].get<double>(), f["here"].get<double>(),
                      f["z"].get<double>()));
      ++unknown;
    }
  return unknown > 0 ? cli::status_deviates : 0;
}

}  // namespace kilochain::milgo
