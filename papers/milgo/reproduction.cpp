// kilochain reproduce milgo: which cells to run, running them, and what becomes of the results.
#include <fmt/format.h>

#include "base/error.hpp"
#include "host/frontend/files.hpp"
#include "host/frontend/text.hpp"
#include "papers/milgo/report.hpp"

namespace kilochain::milgo {
namespace {

using papers::Json;

struct Flags : papers::Flags {
  std::vector<int> tables, figures;
  bool open_questions = false;
  int runs = 100;
};

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
  const std::string name = cell.target + cell.name + std::to_string(cell.dim) + name_of(cell.adaptation);
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return seed + (hash & 0xffffffff00000000u);
}

/// Draws of pi4 by the four samplers of the paper's figure, 20 of each of a hundred runs, and its contours' levels.
Json figure_data(std::uint64_t seed) {
  Json out = {{"target", "pi4"}, {"dim", 8}, {"twist", 0.1}, {"variance", 100}, {"levels", {0.683, 0.9, 0.95, 0.99}}};
  for (const char* name : {"MH", "M-GaA", "AM", "M-CMA"})
    for (const Cell& c : table_1())
      if (c.target == "pi4" && c.name == name) {
        Json points = Json::array();
        for (const auto& x : draws_of(c, 100, 250, seed_of(c, seed))) points.push_back({x[0], x[1]});
        out["samplers"].push_back({{"name", name}, {"points", points}});
      }
  return out;
}

class Reproduction final : public papers::Reproduction {
 public:
  explicit Reproduction(const Flags& flags)
      : papers::Reproduction(flags), flags_(flags), cells_(chosen_cells(flags)), results_(cells_.size()) {}

 private:
  std::vector<papers::Job> jobs() override {
    std::vector<papers::Job> out;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const Cell& c = cells_[k];
      const double weight = c.dim + (c.name == "nuts" ? 100.0 : c.name == "AP" ? 4.0 : 8.0);
      out.push_back({fmt::format("{} d={} {}", c.target, c.dim, c.name), weight, [this, &c, k](const auto& tick) {
                       results_[k] = run_cell(c, 0, flags_.runs, seed_of(c, flags_.seed), stop(), tick);
                     }});
    }
    if (!flags_.figures.empty())
      out.push_back({"figure 1", 1, [this](const auto&) {
                       cli::write_file(file("_figure1.json"), figure_data(flags_.seed).dump() + "\n");
                     }});
    return out;
  }
  std::vector<Json> results() override {
    std::vector<Json> out;
    for (const CellResult& r : results_)
      if (r.num_runs() == static_cast<std::size_t>(flags_.runs)) out.push_back(to_json(r));  // else interrupted
    return out;
  }
  void print(const std::vector<Json>& cells) const override { fmt::print("{}", cli::columns(table_rows(cells))); }
  std::string stem() const override { return "milgo"; }
  std::vector<const char*> keys() const override { return {"target", "dim", "name", "adaptation", "runs"}; }
  std::string plotter() const override { return flags_.figures.empty() ? "" : "tools/plot_milgo.py"; }

  std::string page(std::vector<Json>& all) const override {
    std::vector<Json> cells;
    std::vector<Cell> order = all_cells();
    for (const Cell& c : open_questions()) order.push_back(c);
    for (const Cell& c : order)  // the paper's order, whatever was run first
      for (const Json& j : all)
        if (j["target"] == c.target && j["dim"] == c.dim && j["name"] == c.name &&
            j["adaptation"] == name_of(c.adaptation)) {
          cells.push_back(j);
          for (Json& f : cells.back()["findings"])  // reasons are those that are known now
            for (int k = 0; k < num_figures; ++k)
              if (f["figure"] == figure_names[k])
                f["reason"] = known_reason(c, static_cast<Figure>(k), f["of"] == "sd");
        }
    return markdown(cells, has_figure(1));
  }
  std::size_t deviations(const std::vector<Json>& cells) const override {
    std::size_t unknown = 0;
    for (const Json& c : cells)
      for (const Json& f : c["findings"]) {
        if (!f["reason"].get<std::string>().empty()) continue;
        papers::say(fmt::format("deviates: {} {}, {} of {}: published {:.2f}, here {:.2f}, z {:+.1f}",
                                c["target"].get<std::string>(), c["name"].get<std::string>(),
                                f["of"].get<std::string>(), f["figure"].get<std::string>(),
                                f["published"].get<double>(), f["here"].get<double>(), f["z"].get<double>()));
        ++unknown;
      }
    return unknown;
  }

  const Flags& flags_;
  std::vector<Cell> cells_;
  std::vector<CellResult> results_;
};

int reproduce(const Flags& flags) {
  for (const auto* list : {&flags.tables, &flags.figures})
    for (const int k : *list)
      require(k == 1, ExitStatus::usage,
              fmt::format("command line: {} {}", list == &flags.tables ? "--table" : "--figure", k),
              "there is one of each", "Try 1?");
  papers::check_flag("--runs", flags.runs, 2, 1000000, 100);
  require(flags.figures.empty() || !flags.output.empty(), ExitStatus::usage, "command line: --figure without --output",
          "the figure's data are written into a folder", "Add --output FOLDER?");
  return Reproduction(flags).run();
}

std::function<int()> add_flags(CLI::App& command) {
  const auto f = std::make_shared<Flags>();
  command.add_option("--table", f->tables, "1: the eight cells that were printed; all sixty when nothing is named");
  command.add_option("--figure", f->figures, "1: the data of the figure, into the output folder");
  command.add_flag("--open-questions", f->open_questions,
                   "vanishing, frozen and pooled adaptation, and samplers with gradients, on pi3 and pi4");
  command.add_option("--runs", f->runs, "runs of each cell")->capture_default_str();
  papers::add_flags(command, *f, "cell", "cells");
  return [f] { return reproduce(*f); };
}

const cli::RegisterPaper registered({"milgo", "Comparison of Adaptive MCMC Samplers", add_flags});

}  // namespace
}  // namespace kilochain::milgo
