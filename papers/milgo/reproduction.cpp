#include "papers/milgo/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "host/frontend/files.hpp"
#include "host/frontend/interrupt.hpp"
#include "host/frontend/papers.hpp"
#include "host/frontend/text.hpp"
#include "kernels/device/error.hpp"
#include "papers/jobs.hpp"
#include "papers/milgo/report.hpp"
#include "papers/page.hpp"
#include "papers/provenance.hpp"

namespace kilochain::milgo {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

using papers::say;

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
  const std::vector<Json> all = papers::merged(store, cells, {"target", "dim", "name", "adaptation", "runs"});
  cli::write_file(store, Json(all).dump(1) + "\n");
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
  const fs::path path = folder / "milgo.md";
  cli::write_file(path, markdown(page));
  say("written: " + path.string());
}

}  // namespace

int reproduce(const Flags& flags) {
  for (const auto* list : {&flags.tables, &flags.figures})
    for (const int k : *list)
      require(k == 1, ExitStatus::usage,
              fmt::format("command line: {} {}", list == &flags.tables ? "--table" : "--figure", k),
              "there is one of each", "Try 1?");
  papers::check_flag("--runs", flags.runs, 2, 1000000, 100);
  require(flags.figures.empty() || !flags.output.empty(), ExitStatus::usage, "command line: --figure without --output",
          "the figure's data are written into a folder", "Add --output FOLDER?");
  if (!flags.output.empty()) cli::make_folder(flags.output);
  cli::catch_signals();
  std::atomic<bool>& stop = cli::stop_requested();
  const std::vector<Cell> cells = chosen_cells(flags);
  std::vector<CellResult> results(cells.size());
  std::vector<papers::Job> jobs;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const Cell& c = cells[k];
    const double weight = c.dim + (c.name == "nuts" ? 100.0 : c.name == "AP" ? 4.0 : 8.0);
    jobs.push_back({fmt::format("{} d={} {}", c.target, c.dim, c.name), weight, [&, k](const auto& tick) {
                      results[k] = run_cell(cells[k], 0, flags.runs, seed_of(cells[k], flags.seed), stop, tick);
                    }});
  }
  papers::run_jobs(std::move(jobs), flags.threads, stop, 5);
  if (!flags.figures.empty() && !stop) {
    cli::write_file(fs::path(flags.output) / "milgo_figure1.json", figure_data(flags.seed).dump() + "\n");
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
  if (stop) return 130;
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
