// A search for the settings of a sampler that suit a target: asks the tuner for points, runs them as trials side by
// side, tells it what they scored.
// Promise: what is tried depends on the configuration and on the table in its folder alone. Stopped, the same search
// is resumed as if it had not been.
#pragma once
#include <atomic>
#include <functional>

#include "host/frontend/tune_options.hpp"

namespace kilochain::cli {

/// What is known when a trial has ended: trials done, of how many, seconds left, and the best score so far.
struct SearchProgress {
  std::size_t done = 0, total = 0;
  double eta_seconds = 0, score = 0;
  std::string best;  ///< in words: step_size = 0.1, num_steps = 8
};

/// A mean over fresh trials of one setting, and its standard error.
struct Confirmed {
  double mean = 0, error = 0;
};

struct Found {
  std::size_t trials = 0;            ///< 0: stopped before the first one ended, and nothing else is known
  SettingTexts best;                 ///< what `sample` takes
  std::string words;                 ///< what was tuned, in words
  double score = 0;                  ///< in its trial
  std::vector<Confirmed> confirmed;  ///< of the best, and of the run without tuning; empty where they were not run
  std::vector<std::string> notes;
  bool policy = false;  ///< whether policy.csv was written
};

/// Writes the table line by line into the configuration's folder, and what was found at the end. `tell` is called once
/// a trial, by the thread that ran it, one at a time. Throws Error where a run would, and for another search's folder.
Found search(const TuneConfiguration& configuration, const ProgressCallback& warm_up,
             const std::function<void(const SearchProgress&)>& tell, std::atomic<bool>& stop);

/// A file of the search's folder.
std::string path_of(const TuneConfiguration& configuration, const char* file);
const char* objective_of(const TuneConfiguration& configuration);

}  // namespace kilochain::cli
