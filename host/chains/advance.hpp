// The body that every sampler's chains run through, on a CUDA team or a CPU loop: update, adapt alone, record, propose.
// Where the products with the factor are made elsewhere (products_made), a proposal ends where its product is wanted, and
// place_chain goes on when it is there. A chain counts its own iterations, so chains need no lock-step; a chain that turns
// non-finite is quarantined where it stands.
#pragma once
#include "host/chains/chains.hpp"
#include "host/chains/checkpoint.hpp"
#include "kernels/sampler_concept.hpp"

namespace kilochain {

/// All that a kernel needs of one sampler's chains: pointers and plain values.
template <class Sampler, class Real>
struct ChainsView {
  static_assert(check_sampler<Sampler, Real>());
  typename Sampler::Settings settings;
  Exchange<Real> exchange;
  ChainControl* control;
  char *states, *adaptations;
  Index num_chains, dim;
  Scope scope;

  template <int P>
  KC_INLINE typename Sampler::State state(Index chain) const {
    typename Sampler::State s;
    Sampler::state(FieldBinder<P>(states, dim, std::size_t(num_chains), std::size_t(chain)), s, settings);
    return s;
  }
  template <int P>
  KC_INLINE typename Sampler::Adaptation adaptation(Index chain) const {
    typename Sampler::Adaptation a;
    const bool pooled = scope == Scope::pooled;
    const std::size_t copies = pooled ? 1 : std::size_t(num_chains);
    Sampler::adaptation(FieldBinder<P>(adaptations, dim, copies, pooled ? 0 : std::size_t(chain)), a, settings);
    return a;
  }
};

template <class Sampler, class Real, class Team>
KC_HD void start_chain(const Team& team, const ChainsView<Sampler, Real>& c, Index chain) {
  constexpr int P = Team::template panel<Real>;
  auto st = c.template state<P>(chain);
  auto a = c.template adaptation<P>(chain);
  const auto query = c.exchange.query(chain);
  const auto reply = c.exchange.reply(chain);
  ChainStatus status = ChainStatus::running;
  if (!math::finite(*reply.lp))
    status = ChainStatus::start_zero_density;
  else if (*query.needs == Needs::gradient && !all_finite(team, reply.gradient, c.dim))
    status = ChainStatus::start_gradient;
  if (status == ChainStatus::running) Sampler::start(team, c.settings, a, st, query, reply, c.dim);
  team.sync();
  team.single([&] {
    c.control[chain].status = status;
    *query.needs = Needs::nothing;
  });
}

/// Keeps the point where the trajectory of draw `slot` diverged, if the chain has room for one more in this window.
template <class Real, class Team>
KC_HD void record_divergence(const Team& team, const Recording<Real>& r, Row<Real> point, std::int64_t slot,
                             Index chain, Index n) {
  const std::int64_t first = static_cast<std::int64_t>(chain) * r.kept_divergences;
  int k = 0;
  while (k < r.kept_divergences && r.diverged[first + k] != 0) ++k;
  team.sync();  // all have counted before one writes
  if (k == r.kept_divergences) return;
  team.for_each(n, [&](Index i) { r.diverged_at[(first + k) * n + i] = point[i]; });
  team.single([&] { r.diverged[first + k] = slot + 1; });
}

/// x: the draw; point: where the target was last evaluated.
template <class Real, class Team>
KC_HD void record(const Team& team, const Recording<Real>& r, Row<Real> x, Row<Real> point, const Info& info,
                  std::int64_t iteration, Index chain, Index n, int num_stats) {
  const std::int64_t k = iteration - r.first_iteration;
  if (!r.active || k < 0 || (k + 1) % r.thin != 0) return;
  const std::int64_t slot = k / r.thin, at = chain * r.capacity + slot;
  if (r.draws) team.for_each(n, [&](Index i) { r.draws[at * n + i] = x[i]; });
  if (info.diverging && r.diverged) record_divergence(team, r, point, slot, chain, n);
  team.single([&] {
    r.lp[at] = info.lp;
    r.acceptance_rate[at] = static_cast<float>(info.acceptance_rate);
    r.diverging[at] = info.diverging;
    for (int s = 0; s < num_stats; ++s) r.stats[s * r.stat_stride + at] = static_cast<float>(info.stats[s]);
  });
}

/// The point is written: the chain waits for its value, or is quarantined.
template <class Real, class Team>
KC_HD void take_point(const Team& team, const Query<Real>& query, ChainControl& control, Index n) {
  const bool finite = all_finite(team, query.point, n);
  control.waiting = finite;
  if (!finite) control.status = ChainStatus::proposal;
}

/// Returns whether the chain waits for an answer.
template <class Sampler, class Real, class Team>
KC_HD bool advance_chain(const Team& team, const ChainsView<Sampler, Real>& c, const Segment<Real>& segment,
                         unsigned actions, Index chain) {
  constexpr int P = Team::template panel<Real>, num_stats = Sampler::about.stats.count;
  ChainControl& kept = c.control[chain];
  ChainControl control = kept;  // its sums stay in memory: registers are dear here
  if (control.status != ChainStatus::running) return false;
  auto st = c.template state<P>(chain);
  auto a = c.template adaptation<P>(chain);
  const auto query = c.exchange.query(chain);
  const auto reply = c.exchange.reply(chain);
  const auto at_iteration = [&](std::int64_t iteration) { return schedule_at(segment, iteration); };
  const auto rng_at = [&](std::int64_t iteration) {
    return Rng{segment.seed, segment.first_chain + static_cast<std::uint32_t>(chain), iteration};
  };
  team.sync();  // all know the chain's control, and the answer is there
  if ((actions & action_update) && control.waiting) {
    const Schedule at = at_iteration(control.iteration);
    Info info;
    team.single([&] { ++kept.gradients; });
    if (Sampler::update(team, rng_at(control.iteration), c.settings, at, a, st, query, reply, info, c.dim) ==
        Step::ask) {
      if (products_made<Team> && Sampler::moves == Moves::in_steps) control.waiting = 3;
    } else {
      team.sync();  // the update is over: what it learnt is there, and all have read the adaptation
      if constexpr (Sampler::about.adaptive && !products_made<Team>)  // those share their factor
        if (segment.adapts_alone())
          Sampler::adapt(team, c.settings, at, ChainSource<Real>{Sampler::signal(c.settings, st, info.accepted)}, a,
                         c.dim);
      record(team, segment.recording, st.x, query.point, info, control.iteration, chain, c.dim, num_stats);
      control.waiting = 0;
      ++control.iteration;
      team.single([&] {
        ++kept.counted;
        kept.acceptance_sum += info.acceptance_rate;
        kept.lp_sum += info.lp;
      });
      if constexpr (Sampler::about.adaptive) {
        const double acceptance = Sampler::signal(c.settings, st, info.accepted).acceptance;
        team.single([&] { c.exchange.adaptation_signal[chain] = acceptance; });
      }
    }
  }
  if ((actions & action_propose) && !control.waiting && control.iteration < segment.until) {
    team.sync();                // so is the adaptation, and all have read what a proposal overwrites
#if defined(KILOCHAIN_CHECKED)  // nothing of the workspace may reach the next iteration
    Sampler::state(FieldPoison<P, Team>(c.dim, team), st, c.settings);
    team.sync();
#endif
    const Rng rng = rng_at(control.iteration);
    const Schedule at = at_iteration(control.iteration);
    if constexpr (products_made<Team>) {
      Sampler::draw(team, rng, c.settings, at, a, st, query, c.dim);
      control.waiting = 2;
    } else {
      Sampler::propose(team, rng, c.settings, at, a, st, query, c.dim);
      take_point(team, query, control, c.dim);
    }
  }
  team.single([&] {
    KC_CHECK(control.waiting != 1 || *query.needs <= Sampler::about.needs.in(segment.phase()));
    if (!control.waiting) *query.needs = Needs::nothing;
    kept.iteration = control.iteration;
    kept.status = control.status;
    kept.waiting = control.waiting;
  });
  return control.waiting;
}

/// The rest of a proposal, or of a step, whose product has been made.
template <class Sampler, class Real, class Team>
KC_HD void place_chain(const Team& team, const ChainsView<Sampler, Real>& c, const Segment<Real>& segment,
                       Index chain) {
  constexpr int P = Team::template panel<Real>;
  ChainControl control = c.control[chain];
  if (control.status != ChainStatus::running || control.waiting < 2) return;
  auto st = c.template state<P>(chain);
  const auto a = c.template adaptation<P>(chain);
  const auto query = c.exchange.query(chain);
  Sampler::place(team, c.settings, schedule_at(segment, control.iteration), a, st, query, c.dim);
  if (control.waiting == 3)
    control.waiting = 1;  // wherever a trajectory goes, the target is asked
  else
    take_point(team, query, control, c.dim);
  team.sync();
  team.single([&] {
    KC_CHECK(!control.waiting || *query.needs <= Sampler::about.needs.in(segment.phase()));
    if (!control.waiting) *query.needs = Needs::nothing;
    c.control[chain] = control;
  });
}

}  // namespace kilochain
