// What a sampler may ask of a target, and how: ask for a point, be told its value. Samplers and targets meet only in host.
//   propose(team, rng, settings, schedule, adaptation, state, query)      writes the point where the target is needed
//   update (team, rng, settings, schedule, adaptation, state, query, reply, info) -> Step::ask (another point) | Step::done
//   start  (team, settings, state, query, reply)                         takes the value at the starting point
//   signal (settings, state) -> Signal;  adapt(team, settings, schedule, source, adaptation)   while adapting
// All functions of one chain; control flow team-uniform. A non-finite reply is a rejection, never an exception.
#pragma once
#include "kernels/device/math.hpp"
#include "kernels/device/pack.hpp"
#include "kernels/device/team.hpp"
#include "kernels/fields.hpp"
#include "kernels/random/draw.hpp"
#include "kernels/settings.hpp"

namespace kilochain {

/// What is wanted at a point. gradient includes the value; hessian_vector leaves lp and gradient of the reply untouched.
enum class Needs : std::int32_t { nothing = 0, value = 1, gradient = 2, hessian_vector = 3 };

/// The point where one chain needs its target. point, direction: (n), rows of (chain, n) arrays.
template <class Real>
struct Query {
  Real* point;
  Real* direction;  ///< for hessian_vector: the vector that the Hessian multiplies
  Needs* needs;
};

/// What the target says there: log density (double in both precisions), gradient (n), Hessian times direction (n).
template <class Real>
struct Reply {
  double* lp;
  Real* gradient;
  Real* hessian_vector;
};

enum class Step { ask, done };

/// Where an iteration stands in the run. t counts the iterations of this phase from 0.
struct Schedule {
  std::int64_t t = 0;
  std::int64_t num_warmup = 0;
  double rate = 1;  ///< multiplies learning rates; falls towards the end of a pooled warm-up
  bool adapting = false;
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

/// What one chain tells an adaptation after one iteration: the outer products sum_k a_k b_k^T (lower triangle, or their
/// diagonal), a vector, and the acceptance. Chains are pooled by averaging these; a chain alone applies its own.
template <class Real>
struct Signal {
  static constexpr int max_rank = 3;
  int rank = 0;
  const Real* a[max_rank] = {};
  const Real* b[max_rank] = {};
  const Real* vector = nullptr;  ///< (n) or null
  double acceptance = 0;
};

enum class Shape : std::int32_t { dense, diagonal };

/// Accept with probability min(1, exp(log_r)): the decision, the probability for Info, and whether log_r was finite.
struct Decision {
  bool accept, finite;
  double probability;
};
KC_INLINE Decision decide(const Rng& rng, double log_r) {
  const bool finite = math::finite(log_r);
  const double p = !finite ? 0.0 : (log_r < 0 ? math::exp(log_r) : 1.0);
  return {finite && uniform(rng, Purpose::accept) < p, finite, p};
}

/// Where an adaptation reads the matrix of one chain's signal: entry (i, j) is sum_k a_k[i] b_k[j].
template <class Real>
struct ChainSource {
  static constexpr bool pooled = false;
  Signal<Real> s;
  KC_INLINE Real operator()(Index i, Index j, std::size_t) const {
    Real v = 0;
    KC_UNROLL  // so that a device keeps the pointers in registers
    for (int k = 0; k < Signal<Real>::max_rank; ++k)
      if (k < s.rank) v += s.a[k][i] * s.b[k][j];
    return v;
  }
  /// Entries (first row .. + pack size, j) at once.
  KC_INLINE auto column(Index first, Index j, std::size_t) const {
    auto v = Pack<Real>::load(s.a[0] + first) * s.b[0][j];
    for (int k = 1; k < s.rank; ++k) v += Pack<Real>::load(s.a[k] + first) * s.b[k][j];
    return v;
  }
  KC_INLINE Real vector(Index i) const { return s.vector[i]; }
  KC_INLINE double acceptance() const { return s.acceptance; }
  KC_INLINE double chains() const { return 1; }
};
/// The same, averaged over chains: a matrix in the layout of the factor, and a vector.
template <class Real>
struct PooledSource {
  static constexpr bool pooled = true;
  const Real* matrix;
  const Real* mean_vector;
  double mean_acceptance;
  double num_chains;
  KC_INLINE Real operator()(Index, Index, std::size_t offset) const { return matrix[offset]; }
  KC_INLINE auto column(Index, Index, std::size_t offset) const { return Pack<Real>::load(matrix + offset); }
  KC_INLINE Real vector(Index i) const { return mean_vector[i]; }
  KC_INLINE double acceptance() const { return mean_acceptance; }
  KC_INLINE double chains() const { return num_chains; }
};

/// Calls body once if the quantity is finite for the whole team; the sum carries any NaN or infinity to every lane.
template <class Team, class Real>
KC_HD bool all_finite(const Team& team, const Real* v, Index n) {
  return math::finite(team.template sum<Real>(n, [&](Index i) { return v[i] * Real(0); }));
}

}  // namespace kilochain
