// Moves chains that accept nothing to where the density is. A start far out in the tail, where gradients are huge,
// holds a sampler whose proposal all chains share: its scale would have to fit two places at once. NUTS alone on each
// chain finds its own step there by dual averaging; trees are kept short. Part of a warm-up only: no draw of the answer
// is near it.
#pragma once
#include <span>

#include "host/learn/log_mass.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// How many chains are moved at a time, and the bytes that they take beside the run's own.
struct Relocation {
  Index chains = 0;
  std::size_t bytes = 0;
};
/// Few on the CPU, so that their trees need no memory to speak of. A device wants thousands: as many as a GiB holds,
/// which the estimate counts.
Relocation relocation_of(const Options& o, const Context& context, const TargetInfo& info, Precision precision);

/// Whether a warm-up looks for chains to move, and when: in its second block, for the first may begin with a bad scale
/// only.
bool may_relocate(const Options& o);
inline constexpr std::int64_t relocate_from = 100, relocate_at = 250;

struct Relocated {
  std::int64_t chains = 0, gradients = 0;
};

/// Moves the chains whose mean acceptance, (chain), was next to nothing, and starts all chains again, the adaptation
/// too: it was made for where they were stuck. Nothing when there were none, or when the target has no gradient.
template <class Real>
Relocated relocate(const Phases<Real>& run, std::span<const double> acceptance);

inline constexpr std::int64_t most_bridged = 32;  ///< coordinates: beyond, normal laws overlap with few others

/// A Gaussian's, of its mean log density and the log of its standard deviations' product. Of what is no Gaussian it is
/// wrong: two of them are compared with a nat of error for each coordinate, added as variances are.
LogMass mass_of_gaussian(double lp, double log_volume, std::int64_t dim);

/// Draws of a NUTS chain with a step of its own, which began at a point, after as many iterations that adapted.
struct DrawsAbout {
  bool running = false;       ///< it could start, and was not stopped meanwhile: else there are fewer draws, or none
  std::vector<double> x, lp;  ///< (draw, n), (draw)
};
/// Of `points`, (point, dim). Adds to `gradients`.
template <class Real>
std::vector<DrawsAbout> draws_about(const Phases<Real>& run, const std::vector<Real>& points, std::int64_t draws,
                                    std::int64_t& gradients);

/// What NUTS sees that begins at a point with a step of its own.
struct SeenPlace {
  LogMass mass;     ///< by bridge sampling; or as of a Gaussian without correlations, no less than what its draws say
  double lp = NAN;  ///< mean log density of its last draws: where it has left the place, that of another
};
/// Of `points`, (point, dim); the mass is infinite where it cannot start. Adds to `gradients`.
template <class Real>
std::vector<SeenPlace> places_about(const Phases<Real>& run, const std::vector<Real>& points, std::int64_t& gradients);

}  // namespace kilochain
