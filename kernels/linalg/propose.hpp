// The proposal of any sampler, where the team makes its products itself. One that moves freely has written its own. One
// that moves by a factor states draw, its products and place (kernels/factor_products.hpp), and the proposal follows:
// draw, the product before place, place. One that moves in steps multiplies as it drifts, so its draw has written the
// point.
#pragma once
#include "kernels/contract.hpp"
#include "kernels/linalg/triangular.hpp"

namespace kilochain {

template <class Sampler, class Real, class Team>
KC_HD void propose_point(const Team& team, const Rng& rng, const typename Sampler::Settings& s, const Schedule& at,
                         const typename Sampler::Adaptation& a, typename Sampler::State& st, const Query<Real>& query,
                         Index n) {
  if constexpr (Sampler::moves == Moves::freely) {
    Sampler::propose(team, rng, s, at, a, st, query, n);
  } else {
    Sampler::draw(team, rng, s, at, a, st, query, n);
    if constexpr (Sampler::moves == Moves::by_factor) {
      const auto multiply = [&](Before before, Times times, Row<Real> from, Row<Real> to) {
        if (before != Before::place) return;
        if (times == Times::lower)
          multiply_lower(team, factor_of(a), from, to, n);
        else
          multiply_transposed(team, factor_of(a), from, to, n);
      };
      Sampler::products(multiply, s, at.adapting, st, query, Reply<Real>{});
      Sampler::place(team, s, at, a, st, query, n);
    }
  }
}

}  // namespace kilochain
