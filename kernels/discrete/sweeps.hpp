// Samplers of free models that ask every spin in turn, colour after colour (a checkerboard on lattices of even sizes):
//   gibbs: flips with probability 1 / (1 + exp(2 beta v));  metropolis: with min(1, exp(-2 beta v)),
// or 1/2 where beta v = 0; a flip costs 2 v. In an RBM a layer is a colour: its block Gibbs sampler.
#pragma once
#include "kernels/discrete/sweep_board.hpp"

namespace kilochain::discrete {

struct SweepSettings {
  std::int32_t sweeps = 1;
};

template <class Board, FlipRule::Kind kind>
struct Sweeps {
  static constexpr bool on_slice = false, on_free = true;
  static constexpr int num_stats = 0;
  static constexpr const char* stat_names[] = {nullptr};
  using Settings = SweepSettings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("sweeps", s.sweeps, between(1, 1024), "sweeps of one iteration: each asks every spin once");
  }
  static KC_INLINE std::size_t scratch(const Settings&, const typename Board::Model&) { return 0; }

  static void resolve(Settings&, const Facts&) {}

  static void step(const Rng& rng, const Settings& s, const Heat& heat, Board& board, char*, Info& info) {
    double rate = 0;
    for (std::int32_t k = 0; k < s.sweeps; ++k) {
      // A sweep has numbers of its own where no other iteration has any: 2^40 of them on (tempering: 2^50).
      const Rng own{rng.seed, rng.chain, rng.iteration + (static_cast<std::int64_t>(k) << 40)};
      rate += board.sweep(own, {kind, heat.beta});
    }
    info.acceptance_rate = kind == FlipRule::heat_bath ? 1 : rate / s.sweeps;
    info.accepted = true;
  }
};

template <class Board>
struct Gibbs : Sweeps<Board, FlipRule::heat_bath> {
  static constexpr const char* meaning = "every spin drawn from its law given the others; free models (heat bath)";
};
template <class Board>
struct Metropolis : Sweeps<Board, FlipRule::metropolis> {
  static constexpr const char* meaning =
      "every spin asked to flip, by colours, ties taken by half; free models, 64 spins to a word in 2-D";
};

}  // namespace kilochain::discrete
