// What a stretch of sampling hands on: a window of draws, and where trajectories diverged.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/choices.hpp"
#include "kernels/device/view.hpp"

namespace kilochain {

/// What is kept of a run's draws: every one, what the summary needs, nothing, or of a spin model all but the spins.
enum class KeptDraws { all, moments, none, energy };
inline constexpr const char* kept_draws_names[] = {"all", "moments", "none", "energy"};  ///< in the order of KeptDraws
constexpr const char* name_of(KeptDraws kept) { return kept_draws_names[static_cast<int>(kept)]; }

/// Where a trajectory went wrong: the draw that was being made (the flag `diverging` of it is set), and the point at which
/// the energy error or the density was found to be out of bounds.
struct Divergence {
  std::int64_t chain, draw;
  std::vector<double> point;  ///< one value for each name
};

/// A window of draws, chain-major; draw t of the window is at index t of each chain, of as many as there is room for.
template <class Real>
struct Window {
  static constexpr Precision precision = precision_of<Real>;
  View3<const Real> draws;  ///< (chain, capacity, value); no values where only statistics are kept
  View2<const double> lp;   ///< (chain, capacity), as the next two
  View2<const float> acceptance_rate;
  View2<const std::uint8_t> diverging;           ///< 0 or 1
  View3<const float> stats;                      ///< (stat, chain, capacity): the sampler's own
  View3<const std::int8_t> spins = {};           ///< (chain, capacity, spin) of a spin model, where they are kept
  Count capacity() const { return lp.columns; }  ///< draws from one chain to the next
};

/// What a window that stays on the device tells the host of all its chains.
struct WindowDigest {
  std::int64_t quarantined = 0, divergences = 0;  ///< chains; draws
  double acceptance_sum = 0, counted = 0;  ///< of the chains that run: acceptance_sum and counted of their records
  double told[16] = {};                    ///< what the window's user leaves here
};

/// A batch's part of a window where it was drawn, on the device. Work on it is queued on the context's stream: behind the
/// drawing of it, and before what overwrites it.
template <class Real>
struct WindowOnDevice {
  View3<const Real> draws;          ///< (chain of the batch, at least count, dim)
  const std::uint8_t* quarantined;  ///< 0 or 1, of each chain of the batch, by the end of the window
  Count first_chain, count;         ///< of the batch; draws of each chain
  double* told;                     ///< WindowDigest::told, on the device
};

/// Who takes windows that stay on the device.
template <class Real>
class WindowUser {
 public:
  virtual ~WindowUser() = default;
  /// Batches of chains come in order, all of a window with the same count; nothing may wait.
  virtual void use(const WindowOnDevice<Real>& window) = 0;
};

}  // namespace kilochain
