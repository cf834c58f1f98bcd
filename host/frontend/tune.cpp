// kilochain tune: a search, and its progress on the terminal.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/tell.hpp"
#include "base/units.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/interrupt.hpp"
#include "host/frontend/progress_printer.hpp"
#include "host/frontend/search.hpp"
#include "host/frontend/text.hpp"

namespace kilochain::cli {
namespace {

void tell_found(const TuneConfiguration& c, const Found& found) {
  const auto& confirmed = found.confirmed;
  const char* const objective = objective_of(c);
  if (c.run.json) {
    nlohmann::json out = {
        {"trials", found.trials}, {"objective", objective}, {"score", found.score}, {"output", c.tune.output}};
    for (const auto& [name, text] : found.best) out["best"][name] = text;
    if (!confirmed.empty())
      out["confirmed"] = {{"best", {{"mean", confirmed[0].mean}, {"error", confirmed[0].error}}},
                          {"untuned", {{"mean", confirmed[1].mean}, {"error", confirmed[1].error}}}};
    fmt::print("{}\n", out.dump(2));
  } else {
    fmt::print("best of {} trials: {}\n", found.trials, found.words);
    fmt::print("{}: {} in its trial\n", objective, figure(found.score, 4));
    if (!confirmed.empty())
      fmt::print("{}: {} +- {} in {} fresh trials; without tuning {} +- {}\n", objective, figure(confirmed[0].mean, 4),
                 figure(confirmed[0].error, 2), c.tune.confirm, figure(confirmed[1].mean, 4),
                 figure(confirmed[1].error, 2));
  }
  std::FILE* out = c.run.json ? stderr : stdout;
  for (const std::string& note : found.notes) tell(out, "note: {}\n", note);
  tell(out, "settings: {}; `kilochain sample {}` takes them\n", path_of(c, "best.toml"), path_of(c, "best.toml"));
  if (found.policy) tell(out, "policy: {}; --policy draws from it\n", path_of(c, "policy.csv"));
  tell(out, "picture: tools/plot_tune.py {}\n", c.tune.output);
}

}  // namespace

int tune(const std::vector<std::string>& arguments) {
  if (split_arguments(arguments).help) {
    fmt::print("{}", tune_help());
    return 0;
  }
  const TuneConfiguration c = read_tune_configuration(arguments);
  ProgressPrinter printer(stderr);
  catch_signals();
  const Found found = search(
      c,
      [&](const Progress& p) {
        if (!c.run.quiet) printer(p);
      },
      [&](const SearchProgress& p) {
        if (!c.run.quiet)
          printer.line("tune", fmt::format("tune     {}/{} {:3.0f} %  ETA {}  best {:.4g} ({})", p.done, p.total,
                                           100.0 * p.done / p.total, seconds_text(p.eta_seconds), p.score, p.best));
      },
      stop_requested());
  printer.finish();
  if (found.trials == 0) {
    tell(stderr, "interrupted before the first trial ended\n");
    return 130;
  }
  tell_found(c, found);
  if (stop_requested()) tell(stderr, "interrupted: the same command resumes the search\n");
  return stop_requested() ? 130 : 0;
}

}  // namespace kilochain::cli
