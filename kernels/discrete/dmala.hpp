// Discrete MALA (Zhang, Liu, Liu 2022) with its Metropolis step: all spins are asked at once. With d = -2 beta v the
// gain of a flip in log density and |change|^2 / 2 = 2, its probability is logistic(d / 2 - 2 / step_size).
//   slice: a partner for each spin, i and r - i modulo n with r uniform; pairs of unlike spins swap with probability
//   logistic((d_i + d_j) / 2 - 4 / step_size). Partners do not depend on the spins, so the way back is as likely.
//   log r = -beta (E_new - E_old) + log q(back) - log q(forth);  cost: twice the edges, for as many spins as flip
// The paper's step is of states 0 and 1, where |change|^2 is a quarter: step_size here is 4 times that.
#pragma once
#include "kernels/discrete/sweep_board.hpp"

namespace kilochain::discrete {

struct DmalaSettings {
  double step_size = 0;
  bool slice = false;  ///< filled in by the model
};

template <class Board>
struct Dmala {
  static constexpr const char* meaning =
      "all spins, or pairs of them on a slice, at once by their fields (Zhang, Liu, Liu 2022)";
  static constexpr bool on_slice = true, on_free = true;
  static constexpr int num_stats = 1;
  static constexpr const char* stat_names[] = {"flips"};
  using Settings = DmalaSettings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit(
        "step_size", s.step_size, at_least(0),
        "step of the Langevin proposal: small ones flip few spins; 0: by the number of spins n, 4 / log(n), on a slice "
        "8 / log(n / 4)");
  }
  /// v of every spin, and what was flipped.
  static KC_INLINE std::size_t scratch(const Settings&, const typename Board::Model& model) {
    return static_cast<std::size_t>(Board(model, nullptr).size()) * (sizeof(double) + 1);
  }
  static KC_INLINE Index partner(Index i, Index r, Index n) { return r >= i ? r - i : r - i + n; }
  /// log of the probability that something of this logit happens, or does not.
  static KC_INLINE double log_probability(double logit, bool happens) {
    const double x = happens ? -logit : logit;
    return -((x > 0 ? x : 0) + math::log(1 + math::exp(x > 0 ? -x : x)));
  }
  /// The logit of spin i, or of i and its partner; false where nothing can happen or the partner speaks for both.
  static KC_INLINE bool logit(const Settings& s, double beta, const Board& board, const double* v, Index i, Index r,
                              double& out) {
    if (!s.slice) return out = -beta * v[i] - 2 / s.step_size, true;
    const Index j = partner(i, r, board.size());
    if (j <= i || board.spin(i) == board.spin(j)) return false;
    return out = -beta * (v[i] + v[j]) - 4 / s.step_size, true;
  }

  /// Without a step of its own it flips about sqrt(n) of n spins that feel no field, or swaps as many of the n / 4
  /// pairs that are unlike: then the log ratio, a sum over pairs of what moved, neither grows nor vanishes with n.
  /// Figures: docs/discrete.md.
  static void resolve(Settings& s, const Facts& facts) {
    s.slice = facts.slice;
    if (s.step_size > 0) return;
    const double able = s.slice ? facts.n / 4.0 : facts.n;
    s.step_size = (s.slice ? 8 : 4) / math::log(able < 4 ? 4 : able);
  }

  static void step(const Rng& rng, const Settings& s, const Heat& heat, Board& board, char* memory, Info& info) {
    const double beta = heat.beta;
    const Index n = board.size();
    double* const v = reinterpret_cast<double*>(memory);
    auto* const flipped = reinterpret_cast<std::int8_t*>(v + n);
    const auto r = static_cast<Index>(uniform_index(rng, Purpose::direction, 0, static_cast<std::uint32_t>(n)));
    const double before = board.energy();
    board.values(v);
    const double forth = cpu.sum<double>(n, [&](Index i) {
      double l = 0;
      flipped[i] = 0;
      if (!logit(s, beta, board, v, i, r, l)) return 0.0;
      flipped[i] = uniform(rng, Purpose::proposal, static_cast<std::uint32_t>(i)) * (1 + math::exp(-l)) < 1;
      return log_probability(l, flipped[i] != 0);
    });
    const double flips = turn(s, board, flipped, r);
    board.values(v);
    const double back = cpu.sum<double>(n, [&](Index i) {
      double l = 0;
      return logit(s, beta, board, v, i, r, l) ? log_probability(l, flipped[i] != 0) : 0.0;
    });
    board.recount();
    const double log_r = -beta * (board.energy() - before) + back - forth;
    info.acceptance_rate = log_r < 0 ? math::exp(log_r) : 1;
    info.accepted = uniform(rng, Purpose::accept) < info.acceptance_rate;
    info.stats[0] = flips;
    if (info.accepted) return;
    turn(s, board, flipped, r);
    board.recount();
  }

 private:
  static double turn(const Settings& s, Board& board, const std::int8_t* flipped, Index r) {
    const double flips = cpu.sum<double>(board.size(), [&](Index i) {
      if (!flipped[i]) return 0.0;
      board.turn(i);
      if (s.slice) board.turn(partner(i, r, board.size()));
      return s.slice ? 2.0 : 1.0;
    });
    return flips;
  }
};

}  // namespace kilochain::discrete
