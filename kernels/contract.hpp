// What a sampler may ask of a target, and how: it asks for a point and is given the value there. Neither knows the
// other; host/chains brings them together. A sampler's functions, all of one chain of n coordinates:
//   start  (team, settings, adaptation, state, query, reply, n)          takes the value at the starting point
//   propose(team, rng, settings, schedule, adaptation, state, query, n)  writes the point where the target is needed
//   update (team, rng, settings, schedule, adaptation, state, query, reply, info, n)
//       -> Step::ask (it wrote another point) | Step::done
//   signal (settings, state, accepted) -> Signal                         what the iteration taught, while adapting
//   adapt  (team, settings, schedule, source, adaptation, n)             learns from one chain's signal or all chains'
// A sampler that multiplies by a factor has draw, products and place in place of propose (kernels/factor_products.hpp).
// Control flow is the same for the whole team. A reply that is not finite is a rejection. The whole contract is a
// concept, SamplerOf (kernels/sampler_concept.hpp): nothing in it is optional.
#pragma once
#include "kernels/choices.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/pack.hpp"
#include "kernels/device/team.hpp"
#include "kernels/fields.hpp"
#include "kernels/random/draw.hpp"
#include "kernels/settings.hpp"

namespace kilochain {

/// What is wanted at a point. gradient includes the value; hessian_vector leaves the reply's lp and gradient untouched.
/// Ordered: a target that knows the most that any chain asks for leaves the rest out.
enum class Needs : std::int32_t { nothing = 0, value = 1, gradient = 2, hessian_vector = 3 };

/// The three times at which a sampler asks, which it may do differently.
enum class Phase : std::int32_t { start, warmup, sampling };

/// How often a sampler asks in an iteration. once: every update returns Step::done, so that the host knows how many
/// rounds a stretch takes, reads nothing back from a device and replays rounds.
enum class Asks : std::int32_t { once, often };

/// The point where one chain needs its target.
template <class Real>
struct Query {
  Row<Real> point;
  Row<Real> direction;  ///< for hessian_vector: the vector that the Hessian multiplies
  Needs* needs;
};

/// What the target says there: log density (double in both precisions), gradient, Hessian times direction.
template <class Real>
struct Reply {
  double* lp;
  Row<Real> gradient;
  Row<Real> hessian_vector;
};

enum class Step { ask, done };

/// Where an iteration stands in the run. t counts the iterations of this phase from 0.
struct Schedule {
  static constexpr std::int64_t settling = 50;  ///< iterations at the end of a warm-up in which steps alone may change
  std::int64_t t = 0;
  std::int64_t num_warmup = 0;
  double rate = 1;  ///< multiplies learning rates; falls towards the end of a pooled warm-up
  bool adapting = false;
  bool operator==(const Schedule&) const = default;
};

/// Factor on learning rates in pooled adaptation, by the fraction of the warm-up that is over: 1, and from half-way
/// geometrically down to 1/10 (docs/decisions/0004-pooled-adaptation.md). A chain that adapts alone keeps its rate.
KC_INLINE double pooled_rate(double fraction) {
  const double f = fraction < 1 ? fraction : 1;
  return f < 0.5 ? 1.0 : math::exp(2.302585092994046 * (1 - 2 * f));
}

/// What only diagnostics need, written once for each iteration.
struct Info {
  static constexpr int max_stats = 8;
  double lp = 0;
  double acceptance_rate = 0;  ///< the probability min(1, r) of the move
  bool accepted = false, diverging = false;
  double stats[max_stats] = {};  ///< in the order of the sampler's stat names
};

/// A fact that must be stated: it has no default, so leaving it out does not compile.
template <class T>
struct Stated {
  T value;
  constexpr Stated(T v) : value(v) {}
  constexpr operator T() const { return value; }
};

/// Names of the numbers in Info::stats.
struct StatNames {
  const char* names[Info::max_stats] = {};
  int count = 0;
  template <class... T>
  constexpr StatNames(T... name) : names{name...}, count(sizeof...(T)) {}
};

/// The most that a sampler asks for, phase by phase. Backends and targets leave out what nobody asks for.
struct NeedsByPhase {
  Stated<Needs> start, warmup, sampling;
  constexpr Needs in(Phase phase) const {
    return phase == Phase::start ? start : phase == Phase::warmup ? warmup : sampling;
  }
  constexpr Needs most() const {
    Needs m = start;
    for (Needs n : {warmup.value, sampling.value}) m = n > m ? n : m;
    return m;
  }
};

/// The same in every phase.
constexpr NeedsByPhase always(Needs needs) { return {.start = needs, .warmup = needs, .sampling = needs}; }

/// What a sampler says of itself: `static constexpr About about = {.meaning = ...}`, every line of it.
struct About {
  Stated<const char*> meaning;  ///< one line, for `kilochain samplers`
  StatNames stats;
  NeedsByPhase needs;
  Stated<Asks> asks;
  Stated<bool> adaptive;        ///< whether warm-up teaches it anything
  Stated<bool> signals_vector;  ///< whether its signals hold a vector beside the outer products
};

/// Whether v holds finite numbers alone, the same answer on the whole team: the sum carries any NaN or infinity to
/// every lane. O(n).
template <class Team, class Real>
KC_HD bool all_finite(const Team& team, Row<Real> v, Index n) {
  return math::finite(team.template sum<Real>(n, [&](Index i) { return v[i] * Real(0); }));
}

}  // namespace kilochain
