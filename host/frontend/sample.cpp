#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

#include "host/frontend/commands.hpp"
#include "host/frontend/configuration.hpp"
#include "host/frontend/estimate_table.hpp"
#include "host/frontend/progress_printer.hpp"
#include "host/frontend/summary_table.hpp"

namespace kilochain::cli {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

/// The first signal asks the run to end; a second one meets the default action and kills.
void on_signal(int) {
  stop_requested = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

/// From the first draw to the last word: output that is being written is finished.
void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is then a failed write, told as a full disk is
}

void print_quarantined(std::FILE* out, const std::vector<QuarantinedChain>& chains) {
  constexpr std::size_t shown = 10;
  for (std::size_t k = 0; k < chains.size() && k < shown; ++k)
    fmt::print(out, "quarantined: chain {} at iteration {}: {}\n", chains[k].chain, chains[k].iteration,
               chains[k].reason);
  if (chains.size() > shown) fmt::print(out, "quarantined: {} more chains\n", chains.size() - shown);
}

}  // namespace

int sample(const std::vector<std::string>& arguments) {
  const Arguments split = split_arguments(arguments);
  if (split.help) {
    fmt::print("{}", sample_help("sample"));
    return 0;
  }
  const Configuration c = read_configuration(split);
  if (c.verbose) {
    fmt::print(stderr, "configuration {}\n", to_json(c.options).dump(2));
    fmt::print(stderr, "{}", estimate_table(kilochain::estimate(c.options)));
  }
  catch_signals();
  Result result;
  {
    ProgressPrinter printer(stderr);
    ProgressCallback progress;
    if (!c.quiet)
      progress = [&](const Progress& p) { printer(p); };
    else
      progress = [](const Progress&) {};
    result = run(c.options, progress, stop_requested);
  }
  if (c.verbose && !result.evaluation.empty()) fmt::print(stderr, "evaluation: {}\n", result.evaluation);
  std::FILE* words = c.json ? stderr : stdout;
  if (c.json)
    fmt::print("{}\n", to_json(result.summary).dump(2));
  else
    print_summary(stdout, result.summary);
  for (const std::string& note : result.notes) fmt::print(words, "note: {}\n", note);
  print_quarantined(words, result.quarantined);
  if (result.interrupted) fmt::print(words, "interrupted: these are the draws until then\n");
  if (!c.options.output.empty())
    fmt::print(words, "draws: {} ({} of each chain); `kilochain summary {}` summarises them again\n", c.options.output,
               result.draws_written, c.options.output);
  if (result.interrupted) return 130;
  return result.quarantined.empty() && result.summary.quarantined == 0 ? 0 : static_cast<int>(ExitStatus::quarantined);
}

}  // namespace kilochain::cli
