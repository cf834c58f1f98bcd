// The summary of a finished run: the one JSON object of `--json`, and the text above and in the summary table.
// ESS figures over parameters: {min, median, max} of ess_bulk; min_ess_per_second is the smallest of ess_bulk and
// ess_tail of any parameter, per second of the whole run (warm-up included). A figure over parameters is null (NaN) as
// soon as one parameter has none: a parameter that never moved must not look converged. What the model holds fixed (the
// magnetization on a slice) is listed, and left out of them.
#pragma once
#include <cstdint>
#include <cstdio>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/chains/window.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain {

struct RunSummary {
  std::string target, sampler, device;  ///< device: empty for the file of a run that was killed
  Precision real = Precision::double_precision;
  std::int64_t num_chains = 0, num_warmup = 0, num_samples = 0, thin = 1;
  double seconds_warmup = 0, seconds_sampling = 0, seconds_total = 0;  ///< NaN for the file of a run that was killed
  /// Mean over chains, and quantiles over chains of each chain's mean acceptance probability, while sampling.
  double acceptance_mean = 0, acceptance_q05 = 0, acceptance_q50 = 0, acceptance_q95 = 0;
  std::int64_t gradient_evaluations = 0, quarantined = 0;
  std::int64_t divergences = 0;  ///< kept draws whose trajectory diverged, of chains that are not quarantined
  KeptDraws draws = KeptDraws::all;
  std::int64_t superchains = 0;  ///< R-hat is between so many groups of chains that began together; 0: between chains
  bool finished = true;    ///< all iterations that were wanted are there; else interrupted, killed, or out of time
  std::int64_t stuck = 0;  ///< chains that accepted next to nothing while sampling
  std::vector<std::int64_t> stuck_chains;  ///< their numbers
  /// Of a run that was stopped in its warm-up: acceptance, stuck chains and parameters are of that's last draws.
  std::optional<LastOfWarmup> last_of_warmup;
  std::optional<bool> warmup_converged;  ///< of an automatic warm-up; of one of a given length nobody judges it
  std::string warmup_note;               ///< what ended the warm-up, or why it did not converge; may be empty
  std::string flat;                      ///< names along which the density does not fall off (host/run/flat.hpp)
  std::string equal_modes;               ///< of the posterior, and in which of them draws are; empty: none
  std::string unequal_modes;             ///< that were laid over each other, and their shares; empty: none
  std::vector<ParameterSummary> parameters;
  std::vector<std::string> fixed;  ///< parameters that the model itself holds at one value: not judged
  /// Parameters are made from the coordinates (generated quantities): one with the same value in every draw of every
  /// chain is a constant, and not judged. A coordinate that never moves is.
  bool derived = false;
  std::vector<std::int64_t> without;  ///< chains that the reader has left out: they are not among num_chains
  std::int64_t resumes_from = -1;     ///< of a killed run: the draw of its last saved state; -1: none,
                                      ///< or nothing behind it
};

/// R-hat of draws that can be used is at most this.
inline constexpr double rhat_bar = 1.01;
/// Effective draws of a chain with which R-hat of chains that agree stays below that, in spite of its noise.
inline constexpr double ess_for_rhat = 150;
/// "1.0019"; of chains that stand still, whose R-hat is rounding over rounding, "5.684e+15".
std::string rhat_text(double rhat);

/// Whether the figures can be trusted: an automatic warm-up has converged, every chain moves, and no R-hat is above
/// rhat_bar or unknown.
struct Verdict {
  bool converged;
  std::string reason;             ///< why not, for people; empty when converged, or when there is nothing to judge
  bool judged = true;             ///< false: there is nothing to judge
  std::int64_t draws_wanted = 0;  ///< of each chain, where R-hat is large by the chains' shortness alone; else 0
};
/// Quarantined chains do not count: they are listed apart. A run that kept no draws is judged by its warm-up alone.
/// R-hat of chains that agree is sqrt(1 + 2 / e) for e effective draws of each: thousands of short chains may have
/// plenty of them together, and none enough to show that it has forgotten its start.
Verdict verdict_of(const RunSummary& run);

/// The exit status of a command that ends with the summary of a run.
int status_of(const RunSummary& run);

/// The figures over parameters.
struct Extremes {
  double ess_min, ess_median, ess_max;  ///< of ess_bulk
  double worst_ess;                     ///< smallest of all ess_bulk and ess_tail
  double rhat_max;
};
Extremes extremes_of(const RunSummary& run);
/// NaN where no time was taken.
double per_second(double count, double seconds);

/// Sets the four acceptance fields, and which are stuck, from one mean acceptance per chain (quarantined chains left
/// out by the caller); numbers: of these chains, 0, 1, ... where there are none.
void set_acceptance(RunSummary& run, std::vector<double> per_chain, const std::vector<std::int64_t>& numbers = {});

/// Keys: target, sampler, device, real, num_chains, num_warmup, num_samples, seconds {warmup, sampling, total},
/// acceptance_rate {mean, q05, q95}, gradient_evaluations, ess {min, median, max}, min_ess_per_second, rhat_max,
/// superchains, quarantined, divergences, finished (false: ended before its time), converged (null where there is
/// nothing to judge), reason (when not converged), parameters [{name, and each of summary_columns}]. NaN and infinity
/// become null. Of a run that was stopped in its warm-up parameters is empty, and last_of_warmup has {iterations
/// [first, last], draws, of, rhat_max, stuck_chains, parameters}.
nlohmann::json to_json(const RunSummary& run);
/// Null for NaN and infinity.
nlohmann::json number_or_null(double x);

}  // namespace kilochain
