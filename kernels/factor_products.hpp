// Products of a factor with the vectors of all chains at once, where they share it (pooled, on a device;
// host/chains/cuda_products.cuh). A sampler states how it moves: static constexpr Moves moves = ...
//   freely      propose writes the point
//   by_factor   propose is draw, one product, place:
//     draw  (team, rng, settings, schedule, adaptation, state, query, n)   up to what the factor multiplies
//     place (team, settings, schedule, adaptation, state, query, n)        writes the point, and asks
//     products(visit, settings, adapting, state, query, reply)             the table of an iteration's products; those
//         before the first draw after an adaptation are an adapting iteration's
//   in_steps    as by_factor, and place goes on for each point that update asks for
// Bodies have each product where they need it. A team for which the products of the table were made (products_made)
// skips them there. They are made for every chain, whether it needs them now or not, those that are done with the
// iteration too: what they overwrite is query.direction, or a row that is read only in what they come before.
#pragma once
#include "kernels/device/platform.hpp"

namespace kilochain {

enum class Moves : std::int32_t { freely, by_factor, in_steps };

/// What comes after a product. evaluation: the target's, of what `update` asked for.
enum class Before : std::int32_t { update, draw, place, evaluation };
/// to = L from, or to = L^T from.
enum class Times : std::int32_t { lower, transposed };

/// Whether the products of a sampler's table were made before its bodies run on this team.
template <class Team>
inline constexpr bool products_made = requires {
  requires Team::products_made;
};

template <class A>
concept HasProposalFactor = requires(const A& a) {
  a.L;
};
template <class A>
concept HasMassFactor = requires(const A& a) {
  a.F;
};
/// What such a sampler's adaptation multiplies by.
template <HasProposalFactor A>
KC_INLINE auto factor_of(const A& a) {
  return a.L;
}
template <HasMassFactor A>
KC_INLINE auto factor_of(const A& a) {
  return a.F;
}

}  // namespace kilochain
