// kilochain reproduce milgo: its flags.
#include <CLI/App.hpp>
#include <memory>

#include "host/frontend/papers.hpp"
#include "papers/milgo/reproduction.hpp"

namespace kilochain::milgo {
namespace {

std::function<int()> add_flags(CLI::App& command) {
  const auto f = std::make_shared<Flags>();
  command.add_option("--table", f->tables, "1: the eight cells that were printed; all sixty when nothing is named");
  command.add_option("--figure", f->figures, "1: the data of the figure, into the output folder");
  command.add_flag("--open-questions", f->open_questions,
                   "vanishing, frozen and pooled adaptation, and samplers with gradients, on pi3 and pi4");
  command.add_option("--runs", f->runs, "runs of each cell")->capture_default_str();
  command.add_flag("--json", f->json, "one JSON array, an object for each cell");
  command.add_option("--output", f->output, "folder for the page, its data and those of the figure");
  command.add_option("--seed", f->seed, "the same seed draws the same")->capture_default_str();
  command.add_option("--threads", f->threads, "cells at a time, each on one core; 0: as many as cores");
  return [f] { return reproduce(*f); };
}

const cli::RegisterPaper registered({"milgo", "Comparison of Adaptive MCMC Samplers", add_flags});

}  // namespace
}  // namespace kilochain::milgo
