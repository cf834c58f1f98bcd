// One run of one method on one model: what its energies say, and for IMBayesOpt the adaptation before them.
// A run's numbers depend on the seed and its number alone; all methods of a run start in the same state.
#pragma once
#include <atomic>
#include <functional>

#include "papers/mahendran2011/paper.hpp"

namespace kilochain::mahendran2011 {

struct Run {
  std::vector<double> trace;                ///< energies of the first `traced` steps
  std::vector<double> correlation;          ///< |autocorrelation| at lags 0, 1, ...
  double mean_energy = 0;                   ///< of the steps that are judged
  double acceptance = 0, microseconds = 0;  ///< of a step
  std::size_t unique_points = 0;            ///< of IMBayesOpt's policy, resampled as often as the grid has points
  std::vector<double> surface;              ///< the model's mean over the grid (gamma, walk), gamma slowest
};

/// Grid of IMBayesOpt: 100 values of gamma, each length of a walk.
inline constexpr std::size_t gammas = 100;
inline constexpr std::size_t traced = 4000;

Run run_of(const Model& model, const discrete::SpinModel& spins, Method method, std::uint32_t number,
           std::int64_t steps, std::uint64_t seed, const std::atomic<bool>& stop,
           const std::function<void(double fraction)>& tick);

/// |autocorrelation| at lags 0 .. longest_lag (section 3.1.1) of the energies that are judged.
std::vector<double> autocorrelation(const std::vector<double>& judged);

}  // namespace kilochain::mahendran2011
