// The bodies that every sampler's chains run through, on a CUDA team or a CPU loop. One iteration is: propose,
// evaluate, update until no more points are asked for, adapt alone, record.
//   advance_chain   the part between two evaluations of all chains' points (rounds)
//   iterate_chain   whole iterations, where the team evaluates its own points
// Where the products with the factor are made elsewhere (products_made), a proposal ends where its product is wanted,
// and place_chain continues when it is there. A chain counts its own iterations, so chains need no lock-step. A
// proposal that is not finite is a rejection; a chain whose own state or adaptation is not finite is quarantined.
#pragma once
#include "host/chains/chains.hpp"
#include "host/chains/checkpoint.hpp"
#include "kernels/linalg/propose.hpp"
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

/// The point is written: the chain waits for its value. A point that is not finite will be rejected, and the target is
/// asked where the chain stands; a chain is quarantined when what it keeps is not finite itself.
template <class Sampler, class Real, class Team>
KC_HD void take_point(const Team& team, const ChainsView<Sampler, Real>& c, typename Sampler::State& st,
                      typename Sampler::Adaptation& a, const Query<Real>& query, ChainControl& control) {
  control.waiting = 1;
  if (all_finite(team, query.point, c.dim)) return;
  NonFiniteCounter<Team::template panel<Real>, Team> lost(c.dim, team);
  Sampler::state(lost, st, c.settings);
  Sampler::adaptation(lost, a, c.settings);
  const bool kept = lost.all_finite();
  team.for_each(c.dim, [&](Index i) { query.point[i] = st.x[i]; });
  control.waiting = kept ? 4 : 0;
  if (!kept) control.status = ChainStatus::proposal;
}

/// One chain bound to its memory. `signal`: where it leaves the acceptance that pooled adaptation reads.
template <class Sampler, class Real>
struct BoundChain {
  typename Sampler::State st;
  typename Sampler::Adaptation a;
  Query<Real> query;
  Reply<Real> reply;
  ChainControl* kept;  ///< its sums stay in memory: registers are dear here
  double* signal;
  Index chain;

  /// Where all chains' memory lies.
  template <int P>
  static KC_INLINE BoundChain of(const ChainsView<Sampler, Real>& c, Index chain) {
    return {c.template state<P>(chain),
            c.template adaptation<P>(chain),
            c.exchange.query(chain),
            c.exchange.reply(chain),
            c.control + chain,
            c.exchange.adaptation_signal + chain,
            chain};
  }
  KC_INLINE Rng rng(const Segment<Real>& segment, std::int64_t iteration) const {
    return {segment.seed, segment.first_chain + static_cast<std::uint32_t>(chain), iteration};
  }
};

/// What follows an iteration's last answer: the chain learns where it adapts alone, and its draw is recorded.
template <class Sampler, class Real, class Team>
KC_INLINE void finish_iteration(const Team& team, const ChainsView<Sampler, Real>& c, const Segment<Real>& segment,
                                const Schedule& at, BoundChain<Sampler, Real>& b, const Info& info,
                                ChainControl& control) {
  team.sync();  // the update is over: what it learnt is there, and all have read the adaptation
  if constexpr (Sampler::about.adaptive && !products_made<Team>)  // those share their factor
    if (segment.adapts_alone())
      Sampler::adapt(team, c.settings, at, ChainSource<Real>{Sampler::signal(c.settings, b.st, info.accepted)}, b.a,
                     c.dim);
  record(team, segment.recording, b.st.x, b.query.point, info, control.iteration, b.chain, c.dim,
         Sampler::about.stats.count);
  control.waiting = 0;
  ++control.iteration;
  team.single([&] {
    ++b.kept->counted;
    b.kept->acceptance_sum += info.acceptance_rate;
    b.kept->lp_sum += info.lp;
  });
  if constexpr (Sampler::about.adaptive) {
    const double acceptance = Sampler::signal(c.settings, b.st, info.accepted).acceptance;
    team.single([&] { *b.signal = acceptance; });
  }
}

/// Proposes; the chain waits then, unless what it keeps is not finite.
template <class Sampler, class Real, class Team>
KC_INLINE void begin_iteration(const Team& team, const ChainsView<Sampler, Real>& c, const Segment<Real>& segment,
                               BoundChain<Sampler, Real>& b, ChainControl& control) {
  team.sync();                  // so is the adaptation, and all have read what a proposal overwrites
#if defined(KILOCHAIN_CHECKED)  // nothing of the workspace may reach the next iteration
  Sampler::state(FieldPoison<Team::template panel<Real>, Team>(c.dim, team), b.st, c.settings);
  team.sync();
#endif
  const Rng rng = b.rng(segment, control.iteration);
  const Schedule at = schedule_at(segment, control.iteration);
  if constexpr (products_made<Team>) {
    Sampler::draw(team, rng, c.settings, at, b.a, b.st, b.query, c.dim);
    control.waiting = 2;
  } else {
    propose_point<Sampler>(team, rng, c.settings, at, b.a, b.st, b.query, c.dim);
    take_point(team, c, b.st, b.a, b.query, control);
  }
}

/// Where the chain stands.
template <class Sampler, class Real, class Team>
KC_INLINE void keep_control(const Team& team, [[maybe_unused]] const Segment<Real>& segment,
                            const BoundChain<Sampler, Real>& b, const ChainControl& control) {
  team.single([&] {
    KC_CHECK(control.waiting != 1 || *b.query.needs <= Sampler::about.needs.in(segment.phase()));
    if (!control.waiting) *b.query.needs = Needs::nothing;
    b.kept->iteration = control.iteration;
    b.kept->status = control.status;
    b.kept->waiting = control.waiting;
  });
}

/// The point was not finite: it has no density.
template <class Sampler, class Real, class Team>
KC_INLINE void refuse_point(const Team& team, const BoundChain<Sampler, Real>& b, ChainControl& control) {
  team.single([&] { *b.reply.lp = -std::numeric_limits<double>::infinity(); });
  control.waiting = 1;
}

/// Rounds: takes the answer, and proposes. Returns whether the chain waits for an answer.
template <class Sampler, class Real, class Team>
KC_INLINE bool advance_chain(const Team& team, const ChainsView<Sampler, Real>& c, const Segment<Real>& segment,
                             unsigned actions, Index chain) {
  ChainControl control = c.control[chain];
  if (control.status != ChainStatus::running) return false;
  auto b = BoundChain<Sampler, Real>::template of<Team::template panel<Real>>(c, chain);
  if ((actions & action_update) && control.waiting == 4) refuse_point(team, b, control);
  team.sync();  // all know the chain's control, and the answer is there
  if ((actions & action_update) && control.waiting) {
    const Schedule at = schedule_at(segment, control.iteration);
    Info info;
    team.single([&] { ++b.kept->gradients; });
    if (Sampler::update(team, b.rng(segment, control.iteration), c.settings, at, b.a, b.st, b.query, b.reply, info,
                        c.dim) == Step::done)
      finish_iteration(team, c, segment, at, b, info, control);
    else if (products_made<Team> && Sampler::moves == Moves::in_steps)
      control.waiting = 3;
  }
  if ((actions & action_propose) && !control.waiting && control.iteration < segment.until)
    begin_iteration(team, c, segment, b, control);
  keep_control(team, segment, b, control);
  return control.waiting;
}

/// Whole iterations of one chain, up to `until`: evaluate() answers its query, a call of the whole team. No query is
/// out before and after.
template <class Sampler, class Real, class Team, class Evaluate>
KC_HD void iterate_chain(const Team& team, const ChainsView<Sampler, Real>& c, const Segment<Real>& segment,
                         std::int64_t until, BoundChain<Sampler, Real>& b, Evaluate&& evaluate) {
  ChainControl control = *b.kept;
  if (control.status != ChainStatus::running || control.iteration >= until) return;
  std::int64_t gradients = 0;
  while (control.status == ChainStatus::running && control.iteration < until) {
    begin_iteration(team, c, segment, b, control);
    if (!control.waiting) break;
    const Rng rng = b.rng(segment, control.iteration);
    const Schedule at = schedule_at(segment, control.iteration);
    Info info;
    do {
      team.sync();  // the query is there
      evaluate();
      if (control.waiting == 4) refuse_point(team, b, control);
      team.sync();  // the answer is
      ++gradients;
    } while (Sampler::update(team, rng, c.settings, at, b.a, b.st, b.query, b.reply, info, c.dim) == Step::ask);
    finish_iteration(team, c, segment, at, b, info, control);
  }
  team.single([&] { b.kept->gradients += gradients; });
  keep_control(team, segment, b, control);
}

/// The rest of a proposal, or of a step, whose product has been made.
template <class Sampler, class Real, class Team>
KC_HD void place_chain(const Team& team, const ChainsView<Sampler, Real>& c, const Segment<Real>& segment,
                       Index chain) {
  constexpr int P = Team::template panel<Real>;
  ChainControl control = c.control[chain];
  if (control.status != ChainStatus::running || control.waiting < 2) return;
  auto st = c.template state<P>(chain);
  auto a = c.template adaptation<P>(chain);
  const auto query = c.exchange.query(chain);
  Sampler::place(team, c.settings, schedule_at(segment, control.iteration), a, st, query, c.dim);
  if (control.waiting == 3)
    control.waiting = 1;  // wherever a trajectory goes, the target is asked
  else
    take_point(team, c, st, a, query, control);
  team.sync();
  team.single([&] {
    KC_CHECK(!control.waiting || *query.needs <= Sampler::about.needs.in(segment.phase()));
    if (!control.waiting) *query.needs = Needs::nothing;
    c.control[chain] = control;
  });
}

}  // namespace kilochain
