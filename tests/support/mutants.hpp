// Samplers with one mistake each, as somebody might make it. The tests must reject every one of them.
#pragma once
#include "kernels/samplers/adaptive_metropolis.hpp"
#include "kernels/samplers/barker.hpp"
#include "kernels/samplers/chees_hmc.hpp"
#include "kernels/samplers/entropy_hmc.hpp"
#include "kernels/samplers/fisher_mala.hpp"
#include "kernels/samplers/gad_mala_exact.hpp"
#include "kernels/samplers/gad_mala_fast.hpp"
#include "kernels/samplers/gad_mala_low_rank.hpp"
#include "kernels/samplers/gad_rwm.hpp"
#include "kernels/samplers/hmc.hpp"
#include "kernels/samplers/mala.hpp"
#include "kernels/samplers/mams.hpp"
#include "kernels/samplers/nuts.hpp"
#include "kernels/samplers/rwm.hpp"
#include "kernels/samplers/tempered_mala.hpp"

namespace kilochain::testing_support {

/// A sampler whose update follows a mistake: Mistake::make(team, settings, adaptation, state, reply, n).
template <class Sampler, class Mistake, class Real>
struct UpdatesAfter : Sampler {
  using Base = Sampler;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                           const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    Mistake::make(team, s, a, st, reply, n);
    team.sync();
    return Base::update(team, rng, s, at, a, st, query, reply, info, n);
  }
};

/// MALA that accepts by the densities alone: eps = -(g + g') sqrt(delta)/4 makes the proposal's Hastings term vanish.
struct HastingsTermVanishes {
  template <class Team, class Settings, class Adaptation, class State, class Real>
  static KC_HD void make(const Team& team, const Settings&, const Adaptation& a, State& st, const Reply<Real>& reply,
                         Index n) {
    const Real half = static_cast<Real>(0.5 * sqrt(*a.step));
    team.for_each(n, [&](Index i) { st.eps[i] = Real(-0.5) * half * (st.g[i] + reply.gradient[i]); });
  }
};
template <class Real>
using MalaWithoutHastings = UpdatesAfter<Mala<Real>, HastingsTermVanishes, Real>;

/// MALA of low rank whose log r counts the noise of the coordinates alone.
struct NoiseOfDirectionsVanishes {
  template <class Team, class Settings, class Adaptation, class State, class Real>
  static KC_HD void make(const Team& team, const Settings& s, const Adaptation&, State& st, const Reply<Real>&, Index) {
    team.for_each(s.rank, [&](Index k) { st.eps_u[k] = 0; });
  }
};
template <class Real>
using LowRankForgetsNoise = UpdatesAfter<GadMalaLowRank<Real>, NoiseOfDirectionsVanishes, Real>;

/// gadMALAf whose drift is L L g/2 where it should be L L^T g/2, while the way back is right. (L^T in y = x + L^T h
/// would be another valid sampler: the move back has noise -(h + L^T g(y)/2) whatever multiplies h.)
template <class Real>
struct GadMalaTransposed : GadMalaFast<Real> {
  using Base = GadMalaFast<Real>;
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                         const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                         Index n) {
    multiply_lower(team, a.L, st.g, st.ltg, n);
    Base::draw(team, rng, s, at, a, st, query, n);
  }
};

/// gadRWM and gadMALAf that learn from accepted moves only.
template <class Real>
struct GadRwmLearnsFromAccepted : GadRwm<Real> {
  using Base = GadRwm<Real>;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                           const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    const Step step = Base::update(team, rng, s, at, a, st, query, reply, info, n);
    if (!info.accepted) team.for_each(n, [&](Index i) { st.a[i] = Real(0); });
    return step;
  }
};
template <class Real>
struct GadMalaLearnsFromAccepted : GadMalaFast<Real> {
  using Base = GadMalaFast<Real>;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                           const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    const Step step = Base::update(team, rng, s, at, a, st, query, reply, info, n);
    if (!info.accepted) team.for_each(n, [&](Index i) { st.a[i] = Real(0); });
    return step;
  }
};

/// RWM whose noise serves two iterations.
template <class Real>
struct RwmReusesNoise : Rwm<Real> {
  using Base = Rwm<Real>;
  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                            const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                            Index n) {
    Base::propose(team, Rng{rng.seed, rng.chain, rng.iteration / 2}, s, at, a, st, query, n);
  }
};

/// gadRWM whose noise serves three iterations.
template <class Real>
struct GadRwmReusesNoise : GadRwm<Real> {
  using Base = GadRwm<Real>;
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                         const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                         Index n) {
    Base::draw(team, Rng{rng.seed, rng.chain, rng.iteration / 3}, s, at, a, st, query, n);
  }
};

/// A Langevin sampler that moves with its gradient but keeps the drift L^T g of the place that it left.
template <class Sampler, class Real>
struct KeepsItsDrift : Sampler {
  using Base = Sampler;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                           const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    team.for_each(n, [&](Index i) { st.a[i] = st.ltg[i]; });
    const Step step = Base::update(team, rng, s, at, a, st, query, reply, info, n);
    if (!at.adapting) team.for_each(n, [&](Index i) { st.ltg[i] = st.a[i]; });
    return step;
  }
};
template <class Real>
using GadMalaExactKeepsItsDrift = KeepsItsDrift<GadMalaExact<Real>, Real>;
template <class Real>
using FisherKeepsItsDrift = KeepsItsDrift<FisherMala<Real>, Real>;

/// Adaptive Metropolis that takes the density of a proposal, whether it moves there or not.
template <class Real>
struct AdaptiveMetropolisTakesEveryDensity : AdaptiveMetropolis<Real> {
  using Base = AdaptiveMetropolis<Real>;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                           const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    const Step step = Base::update(team, rng, s, at, a, st, query, reply, info, n);
    team.single([&] { *st.lp = *reply.lp; });
    return step;
  }
};

/// Barker that accepts by the densities alone.
template <class Real>
struct BarkerWithoutCorrection : Barker<Real> {
  using Base = Barker<Real>;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const typename Base::Settings&, const Schedule&,
                           const typename Base::Adaptation&, typename Base::State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    settle(team, decide(rng, *reply.lp - *st.lp), st, query, reply, info, n);
    return Step::done;
  }
};

/// HMC that draws a new momentum every third iteration only and forgets to reverse it on rejection.
template <class Sampler, class Real>
struct KeepsMomentum : Sampler {
  using Base = Sampler;
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                         const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                         Index n) {
    Base::draw(team, Rng{rng.seed, rng.chain, rng.iteration / 3}, s, at, a, st, query, n);
  }
};
template <class Real>
using HmcKeepsMomentum = KeepsMomentum<Hmc<Real>, Real>;
template <class Real>
using CheesKeepsMomentum = KeepsMomentum<CheesHmc<Real>, Real>;

/// A sampler whose state is changed by change(state, n) behind each draw.
template <class Sampler, class Real, auto change>
struct ChangedBehindDraw : Sampler {
  using Base = Sampler;
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                         const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                         Index n) {
    Base::draw(team, rng, s, at, a, st, query, n);
    team.single([&] { change(st, n); });
  }
};
/// Entropy-based HMC that counts the energy of the momentum at the end of a trajectory alone.
template <class Real>
using EntropyForgetsItsNoise =
    ChangedBehindDraw<EntropyHmc<Real>, Real, [](auto& st, Index n) { *st.energy = 0.5 * n - *st.lp; }>;
/// The microcanonical sampler whose first half turn is counted with the wrong sign.
template <class Real>
using MamsCountsBackwards = ChangedBehindDraw<Mams<Real>, Real, [](auto& st, Index) { *st.kinetic = -*st.kinetic; }>;

/// Tempered transitions that always stay where their walker ends.
template <class Real>
struct TemperedTakesEveryEnd : TemperedMala<Real> {
  using Base = TemperedMala<Real>;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const typename Base::Settings& s, const Schedule& at,
                           const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    team.single([&] { *st.log_r = 1000; });
    return Base::update(team, rng, s, at, a, st, query, reply, info, n);
  }
};

/// NUTS with one of its rules wrong.
struct NutsReplacesBackwards : NutsRules {
  static KC_INLINE double log_replace(double fresh, double old) { return old - fresh; }
};
struct NutsIgnoresSubtrees : NutsRules {
  static KC_INLINE bool checks_subtrees() { return false; }
};
struct NutsReusesMomentum : NutsRules {
  static KC_INLINE std::int64_t momentum_iteration(std::int64_t iteration) { return iteration / 2; }
};
template <class Real>
using NutsBackwards = Nuts<Real, NutsReplacesBackwards>;
template <class Real>
using NutsWithoutSubtrees = Nuts<Real, NutsIgnoresSubtrees>;
template <class Real>
using NutsKeepsMomentum = Nuts<Real, NutsReusesMomentum>;

}  // namespace kilochain::testing_support
