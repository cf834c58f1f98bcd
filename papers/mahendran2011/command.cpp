// kilochain reproduce mahendran2011: its flags.
#include <CLI/App.hpp>
#include <memory>

#include "host/frontend/papers.hpp"
#include "papers/mahendran2011/reproduction.hpp"

namespace kilochain::mahendran2011 {
namespace {

std::function<int()> add_flags(CLI::App& command) {
  const auto f = std::make_shared<Flags>();
  command.add_option("--figure", f->figures, "4.1 to 4.9: the models that they are of; all when none is named");
  command.add_option("--runs", f->runs, "runs of each method on each model")->capture_default_str();
  command.add_option("--steps", f->steps, "steps of a run; the first ninth is not judged")->capture_default_str();
  command.add_flag("--json", f->json, "one JSON array, an object for each method on each model");
  command.add_option("--output", f->output, "folder for the page and the data of its figures");
  command.add_option("--data-dir", f->data_dir, "folder with discrete/; else data/public or ../shared/data");
  command.add_option("--seed", f->seed, "the same seed draws the same")->capture_default_str();
  command.add_option("--threads", f->threads, "runs at a time, each on one core; 0: as many as cores");
  return [f] { return reproduce(*f); };
}

const cli::RegisterPaper registered({"mahendran2011", "Bayesian Optimization for Adaptive MCMC", add_flags});

}  // namespace
}  // namespace kilochain::mahendran2011
