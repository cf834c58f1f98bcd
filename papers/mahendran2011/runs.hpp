// One run of one method on one model: its energies, and for IMBayesOpt the adaptation before them.
// A run's numbers depend on the seed and its number alone; all methods of a run start in the same state.
#pragma once
#include <atomic>
#include <functional>

#include "papers/mahendran2011/paper.hpp"

namespace kilochain::mahendran2011 {

struct Run {
  std::vector<double> energies;             ///< of every step
  double acceptance = 0, microseconds = 0;  ///< of a step
  std::size_t unique_points = 0;            ///< of IMBayesOpt's policy, resampled as often as the grid has points
  std::vector<double> surface;              ///< the model's mean over the grid (gamma, walk), gamma slowest
};

/// Grid of IMBayesOpt: 100 values of gamma, each length of a walk.
inline constexpr std::size_t gammas = 100;

Run run_of(const Model& model, const discrete::SpinModel& spins, Method method, std::uint32_t number,
           std::int64_t steps, std::uint64_t seed, const std::atomic<bool>& stop,
           const std::function<void(double fraction)>& tick);

/// |autocorrelation| at lags 0 .. longest_lag (section 3.1.1), without the first ninth of the energies.
std::vector<double> autocorrelation(const std::vector<double>& energies);

}  // namespace kilochain::mahendran2011
