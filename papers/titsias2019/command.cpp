// kilochain reproduce titsias2019: its flags.
#include <CLI/App.hpp>
#include <memory>

#include "host/frontend/papers.hpp"
#include "papers/titsias2019/reproduction.hpp"

namespace kilochain::titsias2019 {
namespace {

std::function<int()> add_flags(CLI::App& command) {
  const auto f = std::make_shared<Flags>();
  command.add_option("--table", f->tables, "tables, 1 to 7; 1 to 6 when none is named (7 takes hours)");
  command.add_option("--figure", f->figures, "data of figures, 1 to 7, into the output folder");
  command.add_option(
      "--only", f->only,
      "rows (and schemes of figures 3 to 6) of these samplers, targets or target/sampler only, with commas");
  command.add_option("--repeats", f->repeats, "repeats of each row; 0: the paper's 10, 5 in table 7");
  command.add_flag("--json", f->json, "one JSON array, an object for each row");
  command.add_option("--output", f->output, "folder for the page, its data and those of the figures");
  command.add_option("--data-dir", f->data_dir, "folder of the data sets; else data/public or ../shared/data");
  command.add_flag("--as-printed", f->as_printed, "the paper's text where its authors ran something else");
  command.add_option("--real", f->real, "precision of the tables: double, or float to see what it costs and gains")
      ->capture_default_str();
  command.add_option("--seed", f->seed, "the same seed draws the same")->capture_default_str();
  command.add_option("--threads", f->threads, "rows at a time, each on one core; 0: as many as cores");
  return [f] { return reproduce(*f); };
}

const cli::RegisterPaper registered({"titsias2019", "Gradient-based Adaptive Markov Chain Monte Carlo", add_flags});

}  // namespace
}  // namespace kilochain::titsias2019
