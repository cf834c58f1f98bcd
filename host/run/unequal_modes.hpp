// Modes that chains do not go between and that are no images of each other. When an audit has failed, chains are told
// apart (mode_groups.hpp), and modes looked for that none has found (search_modes.hpp). Of each that has some of the
// mass the draws tell a normal law, and the modes are laid over each other (docs/decisions/0035-unequal-modes.md). When
// an audit has passed, modes are looked for once. Where chains go between modes, a mixture tells the laws
// (normal_mixture.hpp).
// Cost: a gradient a chain for each mode, a thousand for its law and n^3.
#pragma once
#include <functional>
#include <optional>

#include "host/learn/audit.hpp"
#include "host/learn/overlay.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

inline constexpr std::size_t most_modes = 16;       ///< laid over each other: a density costs as many
inline constexpr std::int64_t most_overlaid = 512;  ///< coordinates: laws are dense

/// For each point a mode and the target's log density there; -1 and NaN where it has none.
struct InModes {
  std::vector<int> modes;
  std::vector<double> lp;
};

/// Points u (point, n) of the target's own coordinates become images of theirs in the modes, each drawn with its
/// probability. of: which draw a point is, for its random number.
template <class Real>
InModes put_into_modes(const Phases<Real>& run, std::vector<Real>& points,
                       const std::function<DrawId(std::int64_t)>& of);

struct FoundModes {
  Overlay overlay;            ///< the mode with most of the mass first
  std::vector<int> of_chain;  ///< (chain): -1 of those that are in none of them
  bool mixed = false;         ///< the laws are a mixture's that fits all draws
};
/// Modes with laws of their draws; none where there are not two, or one beside a place of next to no mass where all
/// chains are. draws: those of an audit, in the coordinates of `run`; iterations: that chains have made. Adds to
/// `gradients`.
template <class Real>
std::optional<FoundModes> find_modes(const Phases<Real>& run, const FrozenDraws<Real>& draws, const AuditFigures& audit,
                                     std::int64_t iterations, std::int64_t& gradients);
/// Modes by a mixture's laws, learnt again from draws that see them laid over each other, but those of chains that are
/// stuck. draws: as of find_modes. Adds to `gradients`.
template <class Real>
std::optional<FoundModes> fit_again(const Phases<Real>& run, const FrozenDraws<Real>& draws,
                                    const std::vector<std::int64_t>& stuck, std::int64_t& gradients);

}  // namespace kilochain
