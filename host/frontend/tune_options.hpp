// What a user can choose about `kilochain tune`, beside the run that it is about: flags of its own.
#pragma once
#include <optional>

#include "host/frontend/configuration.hpp"
#include "host/run/trials.hpp"
#include "host/tune/tuner.hpp"

namespace kilochain::cli {

/// What a trial is scored by. Effective sample sizes: the smaller of those for means and for variances, least over the
/// coordinates; the tuner sees their logarithms.
enum class TuneObjective { ess_per_gradient, ess_per_second, autocorrelation };
inline constexpr const char* tune_objective_names[] = {"ess_per_gradient", "ess_per_second", "autocorrelation"};

struct TuneOptions {
  std::string over;  ///< NAME=LOW:HIGH[:log], comma between
  TuneObjective objective = TuneObjective::ess_per_gradient;
  std::int64_t evaluations = 100, batch = 4, trial_gradients = 20000, policy_points = 64, confirm = 8;
  std::optional<std::int64_t> trial_warmup;
  Covariance covariance = Covariance::squared_exponential;
  std::optional<Fit> fit;  ///< empty: the paper's for the paper's objective, else likelihood
  std::string output = "tune";
};

/// A search: what is run, over which box, and how.
struct TuneConfiguration {
  Configuration run;
  TuneOptions tune;
  std::vector<Dimension> box;
  TrialLength length;
  bool policy = false;  ///< whether all that is tuned can be drawn anew for each kept draw
};

/// From the arguments of `kilochain tune`. Throws Error (usage) as `sample` does, and for a wrong box or flag.
TuneConfiguration read_tune_configuration(const std::vector<std::string>& arguments);
/// The same from what stands in a file and what is said over it.
TuneConfiguration resolve_tune(const std::vector<Assignment>& file, const std::vector<Assignment>& flags);
/// What a search has of its own.
const std::vector<SettingInfo>& tune_settings();

std::string tune_help();

}  // namespace kilochain::cli
