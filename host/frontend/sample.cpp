#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/shown.hpp"
#include "base/tell.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/interrupt.hpp"
#include "host/frontend/progress_printer.hpp"
#include "host/frontend/summary_table.hpp"

namespace kilochain::cli {
namespace {

void print_quarantined(std::FILE* out, const std::vector<QuarantinedChain>& chains) {
  constexpr std::size_t shown = 10;
  for (std::size_t k = 0; k < chains.size() && k < shown; ++k)
    tell(out, "quarantined: chain {} at iteration {}: {}\n", chains[k].chain, chains[k].iteration, chains[k].reason);
  if (chains.size() > shown) tell(out, "quarantined: {} more chains\n", chains.size() - shown);
}

/// While it lives, what a density of somebody else's prints goes to standard error: standard output is the result's.
class PrintsElsewhere {
 public:
  PrintsElsewhere() : output_(dup(STDOUT_FILENO)) { to(STDERR_FILENO); }
  ~PrintsElsewhere() {
    to(output_);
    close(output_);
  }
  PrintsElsewhere(const PrintsElsewhere&) = delete;

 private:
  void to(int place) const {
    std::fflush(stdout);
    if (output_ >= 0) dup2(place, STDOUT_FILENO);
  }
  const int output_;  ///< -1: there is none
};

/// How it ended, and where the draws are.
void print_end(std::FILE* out, const Options& options, const Result& result) {
  const std::string on = result.resumable ? fmt::format("; `kilochain resume {}` continues it", options.output) : "";
  const std::string ended =
      result.out_of_time ? fmt::format("the time is over (--max-seconds {})", options.max_seconds) : "interrupted";
  if (nothing_drawn(result)) {
    const std::int64_t done = result.summary.num_warmup;  // of the chains; of scouts the note tells
    tell(out, "{} after {} warm-up iterations: nothing was drawn{}\n", ended,
         done > 0 ? std::to_string(done) : "0 of the chains'", on);
    if (!result.summary.warmup_note.empty()) tell(out, "warm-up {}\n", result.summary.warmup_note);
    if (result.summary.last_of_warmup && stores_draws(options))
      tell(out, "last draws of the warm-up: {0}, group warmup_posterior; `kilochain diagnose {0}` looks at them\n",
           options.output);
    return;
  }
  const Verdict verdict = verdict_of(result.summary);
  if (result.interrupted) tell(out, "{}: these are the draws until then{}\n", ended, on);
  if (!verdict.converged) tell(out, "not converged: {}\n", verdict.reason);
  if (verdict.draws_wanted > 0 && result.resumable && !result.interrupted)
    tell(out, "`kilochain resume {} --num-samples {}` draws the others\n", options.output,
         verdict.draws_wanted * options.thin);
  if (stores_draws(options))
    tell(out, "draws: {0} ({1} of each chain); `kilochain summary {0}` summarises them again\n", shown(options.output),
         result.draws_written);
  else if (writes_file(options))
    tell(out, "summary: {0}; `kilochain summary {0}` prints it again\n", options.output);
  else if (!options.output.empty())
    tell(out, "draws: none were kept (--draws none), so {} was not written\n", options.output);
}

}  // namespace

int sample(const std::vector<std::string>& arguments) {
  const auto asked = configuration_of("sample", arguments);
  return asked ? run_and_tell(*asked) : 0;
}

int run_and_tell(const Configuration& c) {
  Result result;
  {
    const PrintsElsewhere prints;
    const PreparedRun prepared(c.options);
    if (c.verbose) tell(stderr, "{}", estimate_table(prepared.estimate()));
    catch_signals();
    ProgressPrinter printer(stderr);
    const ProgressCallback progress = [&](const Progress& p) {
      if (!c.quiet) printer(p);
    };
    result = prepared.run(progress, stop_requested());
  }
  if (c.verbose && !result.evaluation.empty()) tell(stderr, "evaluation: {}\n", result.evaluation);
  std::FILE* words = c.json ? stderr : stdout;
  if (c.json)
    fmt::print("{}\n", to_json(result.summary).dump(2));
  else if (!nothing_drawn(result) || result.summary.last_of_warmup)
    print_summary(std::cout, result.summary);
  for (const std::string& note : result.notes) tell(words, "note: {}\n", note);
  print_quarantined(words, result.quarantined);
  print_end(words, c.options, result);
  return status_of(result);
}

}  // namespace kilochain::cli
