// The factor walks with one mistake each; tests/contract/test_factor_walks.cpp and test_law.cpp must reject every one
// of them.
#pragma once
#include "kernels/samplers/adaptive_metropolis_haario.hpp"
#include "kernels/samplers/adaptive_proposal.hpp"
#include "kernels/samplers/cma.hpp"
#include "kernels/samplers/gaussian_adaptation.hpp"

namespace kilochain::testing_support {

/// Runs the walk's iteration with the mutant's own learn or propose.
template <class Real, template <class> class Base, class Mutant>
struct WalkMutant : Base<Real> {
  using Walk = FactorWalk<Real, Mutant>;
  using State = WalkState<Real>;
  template <class Team, class S, class A>
  static KC_HD Step update(const Team& team, const Rng& rng, const S& s, const Schedule& at, const A& a, State& st,
                           const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    return Walk::update(team, rng, s, at, a, st, query, reply, info, n);
  }
};

/// M-CMA whose path takes the step whether it was accepted or not.
template <class Real>
struct CmaPathAlways : WalkMutant<Real, Cma, CmaPathAlways<Real>> {
  template <class Team, class S, class A, class State>
  static KC_HD void learn(const Team& team, const S& s, const A& a, State& st, const Query<Real>& query, bool,
                          Index n) {
    Cma<Real>::learn(team, s, a, st, query, true, n);
  }
};

/// AP whose window holds the candidate in place of the state.
template <class Real>
struct ProposalOfCandidates : WalkMutant<Real, AdaptiveProposal, ProposalOfCandidates<Real>> {
  template <class Team, class S, class A, class State>
  static KC_HD void learn(const Team& team, const S& s, const A& a, State& st, const Query<Real>& query, bool,
                          Index n) {
    AdaptiveProposal<Real>::learn(team, s, a, st, query, true, n);
  }
};

/// AM that learns from the candidate.
template <class Real>
struct MetropolisOfCandidates : WalkMutant<Real, AdaptiveMetropolisHaario, MetropolisOfCandidates<Real>> {
  template <class Team, class S, class A, class State>
  static KC_HD void learn(const Team& team, const S& s, const A& a, State& st, const Query<Real>& query, bool,
                          Index n) {
    AdaptiveMetropolisHaario<Real>::learn(team, s, a, st, query, true, n);
  }
};

/// M-GaA whose steps are longer where x_0 is larger, without a Hastings term: no symmetric proposal.
template <class Real>
struct GaussianAdaptationByPlace : GaussianAdaptation<Real> {
  using Base = GaussianAdaptation<Real>;
  template <class Team>
  static KC_HD void place(const Team& team, const typename Base::Settings& s, const Schedule& at,
                          const typename Base::Adaptation& a, typename Base::State& st, const Query<Real>& query,
                          Index n) {
    Base::place(team, s, at, a, st, query, n);
    const Real longer = st.x[0] > Real(1) ? Real(3) : Real(1);
    team.sync();
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + longer * (query.point[i] - st.x[i]); });
    team.sync();
  }
};

}  // namespace kilochain::testing_support
