// A trajectory whose energy error is beyond a bar is made again with finer steps (GIST: Bou-Rabee, Carpenter, Marsden
// 2024; Modi, Barnett, Carpenter 2021 delay a rejection for the same reason):
//   level j: steps e/4^j, K 4^j of them;  j(q, r): the first level whose |H_0 - H_end| is at most the bar, or the last
// The end of level j > 0 stands for a move only where the way back would have chosen j too: from there, with the
// momentum reversed, levels 0 .. j-1 are made as well, and one that stays within the bar is a rejection. (Nothing is
// made of what min(1, exp(H_0 - H_end)) has rejected by then.)
// All this in every m-th iteration: m is 1, or learnt where such errors come to all chains alike.
// Law: j is a function of (q, r), leapfrog is reversible, and |H_0 - H_end| is the same both ways, so the pair (j, end)
// has the same density both ways. Cost: nothing where the first level is within the bar, which is nearly always outside
// of funnels; 6 K gradients at level 1, 26 K at level 2.
#pragma once
#include "kernels/contract.hpp"

namespace kilochain {

template <class Real>
struct FinerSteps {
  Row<Real> x, g, r, ftg, z;         ///< the end of the forward trajectory, momentum reversed; F^T g, z there
  Scalar<double> lp, energy, log_r;  ///< there; H at that end; H_0 - H_end
  Scalar<double> level, back;        ///< of the forward trajectory; of the one that is made from its end, or -1
  Scalar<double> first;              ///< acceptance of level 0, which the step is adapted to
};

template <class V, class Real>
KC_HD void finer_fields(V&& visit, FinerSteps<Real>& st, bool dense) {
  visit("end_x", st.x, Keep::no);
  visit("end_g", st.g, Keep::no);
  visit("end_momentum", st.r, Keep::no);
  if (dense) visit("end_ftg", st.ftg, Keep::no);
  visit("end_whitened", st.z, Keep::no);
  visit("legs", Keep::no, st.lp, st.energy, st.log_r, st.level, st.back, st.first);
}

/// What follows when a trajectory is over.
enum class NextLeg : std::int32_t {
  none,     ///< the last one stands, accepted or rejected
  finer,    ///< forward again, a level finer
  back,     ///< from the end, at level `back`
  stands,   ///< the way back chooses the same level: the forward end stands
  refused,  ///< it does not: a rejection
};

/// log_r: H_0 - H_end of the trajectory that is over, not finite where the density was lost. accepted: by this ratio.
KC_INLINE NextLeg next_leg(double log_r, bool accepted, double bar, int levels, double level, double back) {
  const bool within = math::finite(log_r) && log_r <= bar && -log_r <= bar;
  if (back >= 0) return within ? NextLeg::refused : back + 1 < level ? NextLeg::back : NextLeg::stands;
  if (!within && level < levels) return NextLeg::finer;
  return level > 0 && accepted ? NextLeg::back : NextLeg::none;
}

}  // namespace kilochain
