// Resumes a run from the state in its file: its configuration is read from there, and few things can be changed.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/tell.hpp"
#include "host/draws/draws_file.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/configuration.hpp"
#include "host/run/run_state.hpp"

namespace kilochain {

std::vector<Assignment> assignments_of(const std::string& path, bool again) {
  const DrawsReader reader(path);
  std::vector<Assignment> out;
  const auto add = [&](const std::string& key, const std::string& text) { out.push_back({key, text, path, key}); };
  for (const auto& [key, value] : reader.header().config.items()) {
    // Of this call alone, or known better now: where the file is, and the precision that its draws have.
    if (key == "output" || key == "overwrite" || key == "real" || key == "max_seconds" ||
        (key == "num_samples" && !again))
      continue;
    if (key == "sampler_settings" || key == "target_settings") {
      for (const auto& [name, setting] : value.items())
        add((key == "sampler_settings" ? "sampler." : "target.") + name, text_of_value(setting));
    } else {
      add(key, text_of_value(value));
    }
  }
  add("output", path);
  add("real", name_of(reader.header().real));
  return out;
}

}  // namespace kilochain

namespace kilochain::cli {

int resume(const std::string& path, const std::vector<Assignment>& flags, bool quiet, bool verbose, bool json) {
  const auto state = read_run_state(path);
  const bool in_warmup = state && !state->within_warmup.empty();
  Configuration c = resolve(assignments_of(path, !state || in_warmup), flags);
  c.quiet = quiet, c.verbose = verbose, c.json = json;
  if (verbose) tell(stderr, "configuration {}\n", to_json(c.options).dump(2));
  c.options.resume = state;
  c.options.overwrite = !state;
  std::FILE* words = json ? stderr : stdout;
  if (!state) {
    if (!quiet) tell(stderr, "{}: the run ended before its state was saved, and begins again\n", path);
  } else if (in_warmup) {
    if (!quiet) tell(stderr, "{}: the warm-up is resumed after iteration {}\n", path, state->warm.iterations);
  } else if (c.options.num_samples.value_or(state->wanted) == state->iterations) {
    const int status = summary(path, "", json, 20);
    tell(words,
         "nothing is left to draw: {0} of {0} iterations of each chain are there; --num-samples {1} draws more\n",
         state->iterations, 2 * state->iterations);
    return status;
  } else if (const std::int64_t draws = DrawsReader(path).draws_written(); !quiet && draws > state->draws) {
    tell(stderr,
         "{}: {} draws of each chain are there, and the state of the chains after {} of them: the others are drawn "
         "again, the same\n",
         path, draws, state->draws);
  }
  return run_and_tell(c);
}

}  // namespace kilochain::cli
