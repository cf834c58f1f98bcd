// The warm-up: of a given length, or automatic, until its signs say that it is over.
//   automatic: blocks of 100, 150, 225, ... iterations until WarmupMonitor finds that they no longer differ; then the
//   rate of the adaptation decays, so that the factor comes to rest. Then 100 frozen iterations, thrown away: where the
//   acceptance or the log density is not what it was, the search goes on, three times at most.
// Chains that accept nothing in iterations 100 to 250 of an automatic or a pooled one are relocated (relocate.hpp), and
// it begins anew: they would hold what all adapt to.
#pragma once
#include <memory>
#include <optional>

#include "host/run/phases.hpp"
#include "host/run/warmup_draws.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain {

/// What a warm-up leaves behind, beside the chains themselves.
struct WarmedUp {
  std::int64_t iterations = 0;  ///< of each chain
  std::int64_t gradients = 0;   ///< of all chains
  double seconds = 0;
  double ess_per_iteration = 0;   ///< of the slowest coordinate, over all chains; 0: not known
  std::optional<bool> converged;  ///< an automatic one: its signs said so
  bool interrupted = false;
  std::int64_t fewer_chains = 0;   ///< it has ended, for a run with so many may be sooner; 0: it goes on
  std::int64_t superchains = 0;    ///< chain c began in superchain c mod so many (rhat.hpp); 0: none
  std::string note;                ///< what ended an automatic one; how many chains were relocated
  std::vector<double> agreement;   ///< of each coordinate with its gradient (learnt_metric.hpp); empty: not known
  std::string advice;              ///< what to do about one that has not converged
  std::vector<double> symmetries;  ///< of the target, as numbers (symmetries.hpp); empty: none that matters
  std::vector<double> modes;       ///< laid over each other, as numbers (overlay.hpp); empty: none are
  std::vector<double>
      coordinates;         ///< in which the chains move, as numbers (learnt_coordinates.hpp); empty: the target's own
  bool resumable = false;  ///< the file has a state of it
  std::optional<LastOfWarmup> last;            ///< of one that was stopped: its last draws
  std::vector<ParameterSummary> last_figures;  ///< of these draws
  std::vector<double> last_acceptance;         ///< as that: mean of each chain; NaN of a quarantined one
  std::shared_ptr<WarmupDraws> draws;  ///< in memory, where they are kept (Options::keep_warmup) or it was stopped
};

struct RunState;  // host/run/run_state.hpp

/// `before`: the state in which the warm-up was stopped, from which it is resumed; or null.
template <class Real>
WarmedUp warm_up(const Phases<Real>& run, const RunState* before = nullptr);

}  // namespace kilochain
