// A window: a stretch of draws of every chain, in the host's memory. It goes from where it was drawn to who takes it:
// the run's memory, its file, its summary, its progress line.
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

/// Where a trajectory went wrong: the draw that was being made (the flag `diverging` of it is set), and the point at
/// which the energy error or the density was found to be out of bounds.
struct Divergence {
  std::int64_t chain, draw;   ///< draw: counted from the run's first
  std::vector<double> point;  ///< one value for each name
};

/// Views of draws, chain-major: draw t of the window is at index t of each chain, of as many as there is room for.
template <class Real>
struct Window {
  static constexpr Precision precision = precision_of<Real>;
  View3<const Real> draws;  ///< (chain, capacity, value); no values where only statistics are kept
  View2<const double> lp;   ///< (chain, capacity), as the next two
  View2<const float> acceptance_rate;
  View2<const std::uint8_t> diverging;           ///< 0 or 1
  View3<const float> stats;                      ///< (stat, chain, capacity): the sampler's own
  View3<const std::int8_t> spins = {};           ///< (chain, capacity, spin) of a spin model, where they are kept
  Count first = 0, count = 0;                    ///< the first draw's number in the run; draws of each chain
  std::vector<Divergence> divergences = {};      ///< of these draws, those whose points are kept; by draw
  std::vector<std::int64_t> quarantined = {};    ///< chains that do not count; what they did not draw is NaN
  Count capacity() const { return lp.columns; }  ///< draws from one chain to the next
};

/// Of which iterations the last draws of a warm-up are that was stopped. They are not of the posterior.
struct LastOfWarmup {
  std::int64_t from = 0, to = 0, draws = 0;  ///< iterations, counted from 0; draws of each chain
  bool of_scouts = false;                    ///< in place of the chains, which had not begun
};

/// What takes windows, one after the other.
template <class Real>
class Sink {
 public:
  virtual ~Sink() = default;
  /// The window's memory may be read until the next one is taken.
  virtual void take(const Window<Real>& window) = 0;
};

}  // namespace kilochain
