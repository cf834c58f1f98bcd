// No-U-turn sampler: multinomial, iterative (Hoffman & Gelman 2014; Betancourt 2017; iterative as Phan et al. 2019).
//   Doubling d appends 2^d leapfrog steps at an end drawn at random. A leaf counts exp(H_0 - H); within a doubling the
//   newest leaf replaces the proposal with its share of the weight so far, a whole doubling with min(1, its weight /
//   the weight before). A doubling is dropped, and the tree ends, when a subtree turns: r_a^T rho <= 0 or
//   r_b^T rho <= 0, rho = sum r - (r_a + r_b)/2.
// Subtrees are checked as leaves arrive: even leaves leave (r, sum r) in slot popcount(leaf/2); an odd leaf closes one
// subtree for each trailing 1 bit. A state machine: it asks for one gradient at a time, so chains never wait for the
// deepest tree. Momenta are whitened by the mass (kernels/adapt/mass.hpp). Dual averaging, Stan's windows.
// State: 16 + 2 max_tree_depth rows, two more with a dense mass. Cost: a gradient and O(n) a leaf, two sums for each
// subtree that it closes.
#pragma once
#include "kernels/adapt/mass_and_step.hpp"

namespace kilochain {

/// The two choices that make the tree exact, apart from the sampler so that tests can get them wrong.
struct NutsRules {
  static KC_INLINE bool checks_subtrees() { return true; }
  /// log of the probability that a doubling of log weight `fresh` replaces a proposal from a tree of log weight `old`.
  static KC_INLINE double log_replace(double fresh, double old) { return fresh - old; }
  static KC_INLINE std::int64_t momentum_iteration(std::int64_t iteration) { return iteration; }
};

struct NutsSettings : TrajectorySettings {
  double target_accept = 0.8, step_size = 1;
  std::int32_t max_tree_depth = 10;
};

template <class Real, class Rules = NutsRules>
struct Nuts : LearnsMassAndStep<Real> {
  using Base = LearnsMassAndStep<Real>;
  using Adaptation = typename Base::Adaptation;
  using Base::kinetic;

  static constexpr About about = {
      .meaning = "No-U-turn sampler: trajectories as long as they go somewhere (Hoffman & Gelman 2014)",
      .stats = {"tree_depth", "n_steps", "energy", "energy_error", "reached_max_treedepth", "step_size"},
      .needs = always(Needs::gradient),
      .asks = Asks::often,
      .adaptive = true,
      .signals_vector = true,
  };

  using Settings = NutsSettings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("target_accept", s.target_accept, inside(0, 1),
          "mean acceptance of the leaves that dual averaging steers the step to");
    visit("max_tree_depth", s.max_tree_depth, between(1, 20),
          "at most this many doublings, 2^max_tree_depth - 1 steps");
    mass_field(visit, s);
    visit("step_size", s.step_size, positive(), "leapfrog step at the start");
    visit("max_energy_error", s.max_energy_error, positive(),
          "a larger energy error is a divergence and ends the tree");
  }

  /// Numbers of the tree under way, by name.
  enum Slot {
    depth,
    leaf,
    direction,
    steps,
    energy_start,
    log_weight,
    log_subtree,
    acceptance,
    lp_kept,
    energy_kept,
    lp_new,
    energy_new,
    num_slots = 32
  };
  struct State : TrajectoryState<Real> {  ///< x, g: within an iteration, of the proposal that the tree keeps
    Row<Real> wg;                         ///< whitened gradient of the moving end
    Row<Real> left_q, left_r, left_wg;    ///< ends of the tree
    Row<Real> right_q, right_r, right_wg;
    Row<Real> sum, sub_sum;       ///< of the momenta
    Row<Real> new_q, new_g;       ///< proposal of the doubling under way
    Row<Real> new_ftg;            ///< F^T g of it; of a dense F alone
    Rows<Real> slot_r, slot_sum;  ///< max_tree_depth of them
    Numbers<double> tree;
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    Base::trajectory_fields(visit, st, s);
    visit("whitened_gradient", st.wg, Keep::no);
    visit("left_position", st.left_q, Keep::no);
    visit("left_momentum", st.left_r, Keep::no);
    visit("left_gradient", st.left_wg, Keep::no);
    visit("right_position", st.right_q, Keep::no);
    visit("right_momentum", st.right_r, Keep::no);
    visit("right_gradient", st.right_wg, Keep::no);
    visit("momentum_sum", st.sum, Keep::no);
    visit("subtree_sum", st.sub_sum, Keep::no);
    visit("new_position", st.new_q, Keep::no);
    visit("new_gradient", st.new_g, Keep::no);
    if (s.mass == Mass::dense) visit("new_ftg", st.new_ftg, Keep::no);
    visit("slot_momentum", st.slot_r, s.max_tree_depth, Keep::no);
    visit("slot_sum", st.slot_sum, s.max_tree_depth, Keep::no);
    visit("tree", st.tree, num_slots, Keep::no);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    Base::start_mass_and_step(team, s.mass, s.step_size, a, n);
  }

  static KC_INLINE double log_sum(double a, double b) {
    const double most = a > b ? a : b, least = a > b ? b : a;
    return most + math::log(1 + math::exp(least - most));
  }
  /// Whether a stretch with momenta a and b at its ends and the sum `sum` (less `before`, if not null) has turned.
  template <class Team>
  static KC_HD bool turns(const Team& team, Row<Real> a, Row<Real> b, Row<Real> sum, Row<Real> before, Index n) {
    const auto rho = [&](Index i) {
      return double(sum[i]) - (before.data ? double(before[i]) - double(a[i]) : 0.0) -
             0.5 * (double(a[i]) + double(b[i]));
    };
    const double at_a = team.template sum<double>(n, [&](Index i) { return rho(i) * double(a[i]); });
    const double at_b = team.template sum<double>(n, [&](Index i) { return rho(i) * double(b[i]); });
    return !(at_a > 0 && at_b > 0);
  }

  /// One leapfrog step of the moving end up to the point where the gradient is needed.
  template <class Team>
  static KC_HD void step_from(const Team& team, const Settings& s, const Adaptation& a, State& st, Row<Real> q,
                              const Query<Real>& query, Real e, Index n) {
    team.for_each(n, [&](Index i) { st.r[i] += Real(0.5) * e * st.wg[i]; });
    team.sync();
    drift(team, s.mass, a, e, q, st.r, query.point, st.work, n);
  }
  /// Begins doubling number `at_depth` at an end drawn at random.
  template <class Team>
  static KC_HD void begin_doubling(const Team& team, const Rng& rng, const Settings& s, const Adaptation& a, State& st,
                                   const Query<Real>& query, int at_depth, Index n) {
    const bool forward = uniform(rng, Purpose::direction, std::uint32_t(at_depth)) < 0.5;
    const Row<Real> q = forward ? st.right_q : st.left_q, r = forward ? st.right_r : st.left_r,
                    wg = forward ? st.right_wg : st.left_wg;
    team.for_each(n, [&](Index i) {
      st.r[i] = r[i];
      st.wg[i] = wg[i];
    });
    team.single([&] {
      st.tree[depth] = at_depth;
      st.tree[leaf] = 0;
      st.tree[direction] = forward ? 1 : -1;
    });
    step_from(team, s, a, st, q, query, Real(forward ? *a.step : -*a.step), n);
  }

  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings& s, const Schedule&, const Adaptation& a,
                         State& st, const Query<Real>& query, Index n) {
    normals(team, Rng{rng.seed, rng.chain, Rules::momentum_iteration(rng.iteration)}, Purpose::momentum, st.r, n);
    team.for_each(n, [&](Index i) { st.wg[i] = Real(0); });
    kick(team, s.mass, a, Real(1), st.g, st.wg, s.mass == Mass::dense ? st.ftg : st.work, n);  // wg = F^T g
    const double energy = kinetic(team, st.r, n) - *st.lp;
    team.for_each(n, [&](Index i) {
      st.left_q[i] = st.right_q[i] = st.x[i];
      st.left_r[i] = st.right_r[i] = st.sum[i] = st.r[i];
      st.left_wg[i] = st.right_wg[i] = st.wg[i];
    });
    team.single([&] {
      st.tree[steps] = st.tree[log_weight] = st.tree[acceptance] = 0;
      st.tree[energy_start] = st.tree[energy_kept] = energy;
      st.tree[lp_kept] = *st.lp;
    });
    ask(team, query, Needs::gradient);
    begin_doubling(team, rng, s, a, st, query, 0, n);
  }

  template <class Team>
  static KC_HD void place(const Team& team, const Settings&, const Schedule&, const Adaptation& a, State& st,
                          const Query<Real>& query, Index n) {
    finish_drift(team, Real(st.tree[direction] > 0 ? *a.step : -*a.step), st.work, query.point, n);
  }

  /// Takes the leaf at query.point into the doubling: weight, proposal, sums. Returns whether a subtree turned.
  template <class Team>
  static KC_HD bool take_leaf(const Team& team, const Rng& rng, State& st, const Query<Real>& query,
                              const Reply<Real>& reply, double energy, int number, Index n) {
    const double weight = st.tree[energy_start] - energy;
    const double total = number == 0 ? weight : log_sum(st.tree[log_subtree], weight);
    const bool take =
        number == 0 || uniform(rng, Purpose::progressive, std::uint32_t(st.tree[steps])) < math::exp(weight - total);
    int slot = 0;
    for (int bits = number >> 1; bits; bits &= bits - 1) ++slot;
    const Row<Real> slot_r = st.slot_r.row(slot, n), slot_sum = st.slot_sum.row(slot, n);
    team.sync();
    team.for_each(n, [&](Index i) {
      st.sub_sum[i] = number == 0 ? st.r[i] : st.sub_sum[i] + st.r[i];
      if (number % 2 == 0) {
        slot_r[i] = st.r[i];
        slot_sum[i] = st.sub_sum[i];
      }
      if (take) {
        st.new_q[i] = query.point[i];
        st.new_g[i] = reply.gradient[i];
        if constexpr (products_made<Team>) st.new_ftg[i] = st.wg[i];
      }
    });
    team.single([&] {
      st.tree[log_subtree] = total;
      if (take) st.tree[lp_new] = *reply.lp, st.tree[energy_new] = energy;
    });
    team.sync();
    bool turned = false;
    if (Rules::checks_subtrees())
      for (int closed = number; closed % 2 == 1 && !turned; closed >>= 1, --slot)
        turned = turns(team, st.slot_r.row(slot, n), st.r, st.sub_sum, st.slot_sum.row(slot, n), n);
    return turned;
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const int at_depth = int(st.tree[depth]), number = int(st.tree[leaf]);
    const bool forward = st.tree[direction] > 0;
    const Real e = Real(forward ? *a.step : -*a.step);
    double energy = std::numeric_limits<double>::infinity();
    if (math::finite(*reply.lp) && all_finite(team, reply.gradient, n)) {
      team.for_each(n, [&](Index i) { st.wg[i] = Real(0); });
      kick(team, s.mass, a, Real(1), reply.gradient, st.wg, st.work, n);
      team.for_each(n, [&](Index i) { st.r[i] += Real(0.5) * e * st.wg[i]; });
      energy = kinetic(team, st.r, n) - *reply.lp;
      if (!math::finite(energy)) energy = std::numeric_limits<double>::infinity();
    }
    const double error = energy - st.tree[energy_start];
    const bool diverging = !(error <= s.max_energy_error);
    team.single([&] {
      st.tree[steps] += 1;
      st.tree[acceptance] += error > 0 ? math::exp(-error) : 1.0;
    });
    team.sync();
    const bool dropped = diverging || take_leaf(team, rng, st, query, reply, energy, number, n);
    int reached = at_depth;
    if (!dropped) {
      if (number + 1 < (1 << at_depth)) {
        team.single([&] { st.tree[leaf] = number + 1; });
        step_from(team, s, a, st, query.point, query, e, n);
        return Step::ask;
      }
      reached = at_depth + 1;
      if (!append(team, rng, st, query, at_depth, forward, n) && reached < s.max_tree_depth) {
        begin_doubling(team, rng, s, a, st, query, reached, n);
        return Step::ask;
      }
    }
    return finish(team, s, at, a, st, info, reached, diverging, n);
  }

  /// Joins a finished doubling to the tree. Returns whether the whole tree has turned.
  template <class Team>
  static KC_HD bool append(const Team& team, const Rng& rng, State& st, const Query<Real>& query, int at_depth,
                           bool forward, Index n) {
    const double log_p = Rules::log_replace(st.tree[log_subtree], st.tree[log_weight]);
    const bool replace = log_p >= 0 || uniform(rng, Purpose::trajectory, std::uint32_t(at_depth)) < math::exp(log_p);
    const double total = log_sum(st.tree[log_weight], st.tree[log_subtree]);
    const Row<Real> q = forward ? st.right_q : st.left_q, r = forward ? st.right_r : st.left_r,
                    wg = forward ? st.right_wg : st.left_wg;
    team.sync();
    team.for_each(n, [&](Index i) {
      q[i] = query.point[i];
      r[i] = st.r[i];
      wg[i] = st.wg[i];
      st.sum[i] += st.sub_sum[i];
      if (replace) {
        st.x[i] = st.new_q[i];  // no one needs the old position any more: both ends of the tree have their own
        st.g[i] = st.new_g[i];
        if constexpr (products_made<Team>) st.ftg[i] = st.new_ftg[i];
      }
    });
    team.single([&] {
      st.tree[log_weight] = total;
      if (replace) st.tree[lp_kept] = st.tree[lp_new], st.tree[energy_kept] = st.tree[energy_new];
    });
    team.sync();
    return turns(team, st.left_r, st.right_r, st.sum, Row<Real>{}, n);
  }

  template <class Team>
  static KC_HD Step finish(const Team& team, const Settings& s, const Schedule& at, const Adaptation& a, State& st,
                           Info& info, int reached, bool diverging, Index n) {
    const double mean_acceptance = st.tree[acceptance] / st.tree[steps];
    info.lp = st.tree[lp_kept];
    info.acceptance_rate = mean_acceptance;
    info.accepted = st.tree[energy_kept] != st.tree[energy_start];
    info.diverging = diverging;
    info.stats[0] = reached;
    info.stats[1] = st.tree[steps];
    info.stats[2] = st.tree[energy_kept];
    info.stats[3] = st.tree[energy_kept] - st.tree[energy_start];
    info.stats[4] = reached >= s.max_tree_depth;
    info.stats[5] = *a.step;
    team.single([&] { *st.lp = st.tree[lp_kept]; });
    Base::write_signal(team, s, at, a, st, mean_acceptance, n);
    return Step::done;
  }
};

}  // namespace kilochain
