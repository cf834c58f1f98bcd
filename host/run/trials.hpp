// Short runs of one target with many settings of one sampler, all from the same start: what a tuner compares.
// One warm-up, with the settings as they are, brings chains to where the density is and learns what the sampler
// learns. A trial begins there, with settings of its own: either as adapted as the warm-up left it, where they act on
// kept draws alone, or with a short warm-up of its own from the same points. Then it draws until its gradients are
// spent.
// Trials are independent of each other and run side by side, each on a thread with a target of its own.
#pragma once
#include <atomic>
#include <memory>

#include "host/run/run.hpp"

namespace kilochain {

struct TrialLength {
  std::int64_t num_warmup = 0;  ///< iterations of each trial's own warm-up; 0: it keeps what the common one has learnt
  std::int64_t gradients = 20000;                    ///< of all chains: a trial goes on until it has had as many
  std::int64_t least_draws = 20, most_draws = 5000;  ///< of each chain
};

/// What one trial found. Effective sample sizes are of all chains' draws together.
struct Trial {
  std::int64_t gradients = 0;  ///< of all chains, for the draws
  std::int64_t draws = 0;      ///< of each chain
  double seconds = 0;          ///< a core's (on CUDA: by the clock), for the draws
  double ess_mean = 1;         ///< least over the coordinates, for the mean; 1 where nothing moved
  double ess_square = 1;       ///< least over the coordinates, for the variance
  double autocorrelation = 0;  ///< autocorrelation_score of lp over the first 100 draws, mean over chains
  double acceptance_rate = 0;
  std::int64_t quarantined = 0;

  double ess() const { return ess_mean < ess_square ? ess_mean : ess_square; }
  double ess_per_gradient() const { return ess() / static_cast<double>(gradients); }
  double ess_per_second() const { return ess() / seconds; }
};

/// 1 - mean |autocorrelation| of a short chain's energies (Mahendran 2011, section 3.1.1): over all lags, and then
/// over the last `least` .. n of them. 0 where nothing varies.
double autocorrelation_score(const std::vector<double>& energies, std::size_t least = 25);

class Trials {
 public:
  /// Throws Error as PreparedRun does.
  Trials(Options options, TrialLength length);
  ~Trials();
  Trials(const Trials&) = delete;

  /// The common warm-up. False when stopped in it. Notes: what a user should know of it.
  bool warm_up(const ProgressCallback& progress, const std::atomic<bool>& stop, std::vector<std::string>& notes);
  /// Trials that may run at a time: one on each thread, or a few whose launches a CUDA device overlaps.
  int workers() const;
  /// One trial, on worker 0 .. workers() - 1: `settings` over those of the options. Its draws depend on options,
  /// settings and seed alone. Throws Error for settings that cannot be. Two calls for one worker may not overlap.
  Trial operator()(int worker, const SettingTexts& settings, std::uint64_t seed, const std::atomic<bool>& stop);

 private:
  class Anything;
  template <class Real>
  class Of;
  std::unique_ptr<Anything> runner_;
};

}  // namespace kilochain
