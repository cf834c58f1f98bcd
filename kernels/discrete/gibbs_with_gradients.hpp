// Gibbs with gradients (Grathwohl, Swersky, Hashemi, Duvenaud, Maddison 2021), which for energies of pairs is the
// locally balanced proposal with exact differences of a flip: d_i = -2 beta v_i, and spins are chosen by exp(d_i / 2).
//   free: choose i among all and flip it;  slice: choose i among the up and j among the down spins, flip both
// The law of the choice is that of one flip; the pair's coupling enters where the exact ratio accepts:
//   log r = -beta (E_new - E_old) + log q(back) - log q(forth)
// Flips turn an odd count of up spins into an even one. Where all states are as likely none is refused, so that an even
// number of moves would never see the others: there a tie is taken by half, and so is the one swap of two spins.
#pragma once
#include "kernels/discrete/board.hpp"

namespace kilochain::discrete {

struct GradientSettings {
  std::int32_t moves = 1;
  bool slice = false;  ///< filled in by the model
};

template <class Board>
struct GibbsWithGradients {
  static constexpr const char* meaning =
      "one flip, or a swap of two spins on a slice, chosen by the energy that it costs (Grathwohl and others 2021)";
  static constexpr bool on_slice = true, on_free = true;
  static constexpr int num_stats = 1;
  static constexpr const char* stat_names[] = {"flips"};
  using Settings = GradientSettings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("moves", s.moves, between(1, 1 << 20), "moves of one iteration, each accepted or not");
  }
  static KC_INLINE std::size_t scratch(const Settings&, const typename Board::Model&) { return 0; }

  /// log of the probability that a swap chooses up spin i and down spin j, or that a flip chooses i.
  static KC_INLINE double log_choice(const Board& board, bool slice, Index i, Index j) {
    if (slice) return math::log(board.weight(i) / board.total(1)) + math::log(board.weight(j) / board.total(0));
    return math::log(board.weight(i) / (board.total(0) + board.total(1)));
  }

  static void resolve(Settings& s, const Facts& facts) { s.slice = facts.slice; }

  static void step(const Rng& rng, const Settings& s, const Heat& heat, Board& board, char*, Info& info) {
    const double beta = heat.beta;
    Uniforms drawn(rng, Purpose::proposal), accept(rng, Purpose::accept);
    board.set_law({Law::half, beta});
    const double tie = s.slice && board.size() > 2 ? 1 : 0.5;
    double accepted = 0;
    for (std::int32_t m = 0; m < s.moves; ++m) {
      const auto t = static_cast<std::uint32_t>(m);
      const double before = board.energy(), up = board.total(1), down = board.total(0);
      Index i = 0, j = -1;
      if (s.slice) {
        i = board.choose(1, up, drawn(2 * t)), j = board.choose(0, down, drawn(2 * t + 1));
      } else {
        const int side = drawn(2 * t) * (up + down) < up;
        i = board.choose(side, side ? up : down, drawn(2 * t + 1));
      }
      const double forth = log_choice(board, s.slice, i, j);
      board.flip(i);
      if (s.slice) board.flip(j);
      const double back = s.slice ? log_choice(board, true, j, i) : log_choice(board, false, i, j);
      const double log_r = -beta * (board.energy() - before) + back - forth;
      const double rate = is_tie(log_r) ? tie : log_r < 0 ? math::exp(log_r) : 1;
      info.acceptance_rate += rate / s.moves;
      if (accept(t) < rate) {
        accepted += 1;
        continue;
      }
      if (s.slice) board.flip(j);
      board.flip(i);
    }
    info.accepted = accepted > 0;
    info.stats[0] = (s.slice ? 2 : 1) * accepted;
  }
};

}  // namespace kilochain::discrete
