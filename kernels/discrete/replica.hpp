// One replica, or a ladder of them: a sampler and a board bound to memory, advanced by one iteration.
//   replica_step: the sampler's step at beta
//   ladder_step (replica exchange; Swendsen & Wang 1986): a step on each rung at its own beta, then neighbours exchange
//   places with probability min(1, exp((beta_r - beta_s) (E_r - E_s))), pairs beginning at even and odd rungs by turns.
//   Rung 0 has the beta asked for, and is what is recorded.
// Memory: a Ladder, a board for each rung, one scratch. Every 1024th iteration boards make what they add up anew.
#pragma once
#include <algorithm>

#include "kernels/discrete/board.hpp"

namespace kilochain::discrete {

inline constexpr Index most_rungs = 32;

/// Which of the boards in memory stands on each rung.
struct Ladder {
  std::int32_t board[most_rungs];
};

/// Rungs 0 .. count - 1 at geometric steps from beta to beta_min.
struct Rungs {
  Index count = 1;
  double beta = 1, beta_min = 1;
  KC_INLINE double at(Index r) const {
    return count == 1 ? beta : beta * math::exp(math::log(beta_min / beta) * r / (count - 1));
  }
};

template <class Sampler, class Board>
struct Replica {
  typename Board::Model model;
  typename Sampler::Settings settings;
  Rungs rungs;

  static constexpr std::size_t round_up(std::size_t b) { return (b + 63) / 64 * 64; }
  KC_INLINE std::size_t board_bytes() const { return (Board::bytes(model) + 63) / 64 * 64; }
  /// The scratch also holds the spins (n) that a replica starts from.
  std::size_t bytes() const {
    const std::size_t spins = static_cast<std::size_t>(Board(model, nullptr).size());
    return round_up(sizeof(Ladder)) + board_bytes() * static_cast<std::size_t>(rungs.count) +
           round_up(std::max(spins, Sampler::scratch(settings, model)));
  }
  KC_INLINE Ladder& ladder(char* memory) const { return *reinterpret_cast<Ladder*>(memory); }
  KC_INLINE Board board(char* memory, Index rung) const {
    return Board(model, memory + (sizeof(Ladder) + 63) / 64 * 64 +
                            board_bytes() * static_cast<std::size_t>(ladder(memory).board[rung]));
  }
  KC_INLINE char* scratch(char* memory) const {
    return memory + (sizeof(Ladder) + 63) / 64 * 64 + board_bytes() * static_cast<std::size_t>(rungs.count);
  }

  void assign(char* memory, const std::int8_t* spins) const {
    for (Index r = 0; r < rungs.count; ++r) ladder(memory).board[r] = r;
    for (Index r = 0; r < rungs.count; ++r) board(memory, r).assign(spins);
  }
  void step(const Rng& rng, char* memory, Info& info) const {
    if (rungs.count > 1) return ladder_step(rng, memory, info);
    Board b = board(memory, 0);
    if ((rng.iteration & 1023) == 1023) b.refresh();
    Sampler::step(rng, settings, Heat{rungs.beta}, b, scratch(memory), info);
  }

 private:
  /// Numbers of a rung: no iteration comes that far.
  static KC_INLINE Rng of_rung(const Rng& rng, Index r) {
    return {rng.seed, rng.chain, rng.iteration + (static_cast<std::int64_t>(r) << 50)};
  }
  void ladder_step(const Rng& rng, char* memory, Info& info) const {
    for (Index r = 0; r < rungs.count; ++r) {
      Board b = board(memory, r);
      if ((rng.iteration & 1023) == 1023) b.refresh();
      Info own;
      const double beta = rungs.at(r);
      Sampler::step(of_rung(rng, r), settings, Heat{beta, rungs.beta > 0 ? beta / rungs.beta : 1}, b, scratch(memory),
                    own);
      if (r == 0) info.acceptance_rate = own.acceptance_rate, info.accepted = own.accepted;
    }
    double exchanged = 0, pairs = 0;
    Uniforms drawn(rng, Purpose::momentum);
    for (auto r = static_cast<Index>(rng.iteration & 1); r + 1 < rungs.count; r += 2) {
      const double gap = (rungs.at(r) - rungs.at(r + 1)) * (board(memory, r).energy() - board(memory, r + 1).energy());
      const double rate = gap < 0 ? math::exp(gap) : 1;
      pairs += 1, exchanged += rate;
      const bool accept = drawn(static_cast<std::uint32_t>(r)) < rate;
      if (accept) {
        Ladder& l = ladder(memory);
        const std::int32_t board = l.board[r];
        l.board[r] = l.board[r + 1], l.board[r + 1] = board;
      }
    }
    info.stats[0] = pairs > 0 ? exchanged / pairs : 0;
  }
};

}  // namespace kilochain::discrete
