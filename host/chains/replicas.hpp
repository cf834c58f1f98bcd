// Replicas of a spin model, one for each chain, as the chains' host side sees them: bound to memory on a device.
// The sampler and its board are one template below this (kernels/discrete/replica.hpp), and an iteration of a chain one
// body over a team, which a CPU loops and a warp of a device runs:
//   advance_replica: starts a chain at its first iteration, steps it to the segment's end, records, quarantines
// A chain starts at random on its set, from (seed, chain) alone, or in order (the first spins up, or none of a free model).
#pragma once
#include <memory>

#include "host/chains/chains.hpp"
#include "kernels/device/context.hpp"
#include "kernels/discrete/replica.hpp"

namespace kilochain::discrete {

/// What every chain of a spin model has, whatever its sampler.
struct SpinsView {
  ChainControl* control;
  const std::int8_t* reference;  ///< (n), of the model as it was given
  double beta;
  Index n, up;             ///< spins; those up on the slice, or -1 of a free model
  std::int32_t num_stats;  ///< at most 3
  bool one_reference;      ///< all of its spins are the same
  bool in_order;           ///< how chains start
};

/// A Segment, in either precision of its draws.
struct SpinSegment {
  std::uint64_t seed = 0;
  std::uint32_t first_chain = 0;
  std::int64_t until = 0;
  Recording<double> recording = {};
  float* float_draws = nullptr;  ///< in place of recording.draws
};
inline SpinSegment spin_segment(const Segment<double>& s) { return {s.seed, s.first_chain, s.until, s.recording}; }
inline SpinSegment spin_segment(const Segment<float>& s) {
  const Recording<float>& r = s.recording;
  Recording<double> other;
  other.lp = r.lp, other.acceptance_rate = r.acceptance_rate, other.diverging = r.diverging, other.stats = r.stats;
  other.stat_stride = r.stat_stride, other.capacity = r.capacity, other.first_iteration = r.first_iteration;
  other.thin = r.thin, other.active = r.active, other.spins = r.spins;
  return {s.seed, s.first_chain, s.until, other, r.draws};
}

/// All that a kernel needs of one sampler's replicas.
template <class Sampler, class Board>
struct ReplicasView {
  Replica<Sampler, Board> replica;
  char* memory;
  std::size_t bytes;  ///< of one replica

  KC_INLINE char* of(Index chain) const { return memory + bytes * static_cast<std::size_t>(chain); }
  KC_INLINE Board board(Index chain) const { return replica.board(of(chain), 0); }
};

/// Spins (n) of the turned model: `up` of them up, or any number when it is negative.
KC_HD inline void starting_spins(const Rng& rng, bool in_order, Index up, std::int8_t* spins, Index n) {
  Uniforms drawn(rng, Purpose::start);
  for (Index i = 0, left = up; i < n; ++i) {
    const double u = drawn(static_cast<std::uint32_t>(i));
    const bool is_up = up < 0 ? !in_order && u < 0.5 : in_order ? i < up : u * (n - i) < left;
    left -= is_up;
    spins[i] = is_up ? 1 : -1;
  }
}

/// Spin i of the model as it was given.
template <class Board>
KC_INLINE std::int8_t given_spin(const SpinsView& v, const Board& board, Index i) {
  return static_cast<std::int8_t>(-v.reference[i] * board.spin(i));
}
/// The mean spin.
template <class Team, class Board>
KC_HD double magnetization(const Team& team, const SpinsView& v, const Board& board) {
  if (v.one_reference) return -v.reference[0] * static_cast<double>(2 * board.up() - v.n) / v.n;
  return team.template sum<double>(v.n, [&](Index i) { return static_cast<double>(given_spin(v, board, i)); }) / v.n;
}

template <class Team, class Board>
KC_HD void record_spins(const Team& team, const SpinsView& v, const SpinSegment& segment, const Board& board,
                        const Info& info, double energy, std::int64_t iteration, Index chain) {
  const Recording<double>& r = segment.recording;
  const std::int64_t k = iteration - r.first_iteration;
  if (!r.active || k < 0 || (k + 1) % r.thin != 0) return;
  const std::int64_t at = chain * r.capacity + k / r.thin;
  if (r.draws || segment.float_draws) {
    const double mean = magnetization(team, v, board);
    team.single([&] {
      if (r.draws) r.draws[2 * at] = energy, r.draws[2 * at + 1] = mean;
      if (segment.float_draws)
        segment.float_draws[2 * at] = static_cast<float>(energy),
                                segment.float_draws[2 * at + 1] = static_cast<float>(mean);
    });
  }
  team.single([&] {
    r.lp[at] = info.lp;
    r.acceptance_rate[at] = static_cast<float>(info.acceptance_rate);
    r.diverging[at] = 0;
    KC_UNROLL
    for (int s = 0; s < 3; ++s)
      if (s < v.num_stats) r.stats[s * r.stat_stride + at] = static_cast<float>(info.stats[s]);
  });
  if (r.spins) team.for_each(v.n, [&](Index i) { r.spins[at * v.n + i] = given_spin(v, board, i); });
}

/// Of a Replica, or what steps as one, and its memory.
template <class Replica, class Memory, class Team>
KC_HD void advance_replica(const Team& team, const Replica& replica, const Memory& memory, const SpinsView& v,
                           const SpinSegment& segment, Index chain) {
  ChainControl control = v.control[chain];
  if (control.status != ChainStatus::running) return;
  const std::uint32_t number = segment.first_chain + static_cast<std::uint32_t>(chain);
  if (control.iteration == 0) {
    auto* const spins = reinterpret_cast<std::int8_t*>(replica.scratch(memory));
    team.single([&] { starting_spins(Rng{segment.seed, number, 0}, v.in_order, v.up, spins, v.n); });
    replica.assign(team, memory, spins);
  }
  while (control.iteration < segment.until) {
    Info info;
    replica.step(team, Rng{segment.seed, number, control.iteration}, memory, info);
    const auto board = replica.board(memory, 0);
    const double energy = board.energy();
    if (!math::finite(energy)) {
      control.status = ChainStatus::proposal;
      break;
    }
    info.lp = -v.beta * energy;
    record_spins(team, v, segment, board, info, energy, control.iteration, chain);
    ++control.iteration, ++control.counted, ++control.gradients;
    control.acceptance_sum += info.acceptance_rate;
    control.lp_sum += info.lp;
    team.sync();  // all have read the board before the next step changes it
  }
  team.sync();  // all know how far the chain was, also where it goes no further
  team.single([&] { v.control[chain] = control; });
}

/// (energy, magnetization) of one chain to to[2 * chain].
template <class Board, class Team>
KC_HD void tell_replica(const Team& team, const Board& board, const SpinsView& v, double* to, Index chain) {
  const double mean = magnetization(team, v, board);
  team.single([&] { to[2 * chain] = board.energy(), to[2 * chain + 1] = mean; });
}

class Replicas {
 public:
  virtual ~Replicas() = default;
  /// Takes the running chains first .. last - 1 to segment.until; of a device it is queued.
  virtual void advance(const SpinsView& view, const SpinSegment& segment, Index first, Index last) = 0;
  /// (energy, magnetization) of each chain, (chain, 2), to memory of the replicas' device.
  virtual void tell(const SpinsView& view, double* to) = 0;
  virtual Buffer<char>& memory() = 0;
  virtual std::size_t bytes(Index num_chains) const = 0;  ///< of so many of them
};

/// Replicas on the CPU can also be stepped one by one.
class SteppedReplicas : public Replicas {
 public:
  /// Puts one replica (all its rungs) at spins (n), of the turned model.
  virtual void assign(Index chain, const std::int8_t* spins) = 0;
  virtual void step(Index chain, const Rng& rng, Info& info) = 0;
  virtual double energy(Index chain) = 0;
  virtual std::int8_t spin(Index chain, Index i) = 0;
};

/// Owner: keeps the model's arrays alive.
template <class Sampler, class Board, class Owner>
class CpuReplicas final : public SteppedReplicas {
 public:
  CpuReplicas(const Context& context, Index num_chains, Replica<Sampler, Board> replica, std::shared_ptr<Owner> owner)
      : owner_(std::move(owner)),
        num_chains_(num_chains),
        memory_(context, bytes_of(replica) * static_cast<std::size_t>(num_chains), "state of the chains"),
        view_{replica, memory_.data(), bytes_of(replica)} {}
  static std::size_t bytes_of(const Replica<Sampler, Board>& replica) { return (replica.bytes() + 127) / 128 * 128; }

  void advance(const SpinsView& view, const SpinSegment& segment, Index first, Index last) override {
    for (Index chain = first; chain < last; ++chain)
      advance_replica(HostTeam{}, view_.replica, view_.of(chain), view, segment, chain);
  }
  void tell(const SpinsView& view, double* to) override {
    for (Index chain = 0; chain < num_chains_; ++chain) tell_replica(HostTeam{}, view_.board(chain), view, to, chain);
  }
  Buffer<char>& memory() override { return memory_; }
  std::size_t bytes(Index num_chains) const override { return view_.bytes * static_cast<std::size_t>(num_chains); }

  void assign(Index chain, const std::int8_t* spins) override {
    view_.replica.assign(HostTeam{}, view_.of(chain), spins);
  }
  void step(Index chain, const Rng& rng, Info& info) override {
    view_.replica.step(HostTeam{}, rng, view_.of(chain), info);
  }
  double energy(Index chain) override { return view_.board(chain).energy(); }
  std::int8_t spin(Index chain, Index i) override { return view_.board(chain).spin(i); }

 private:
  std::shared_ptr<Owner> owner_;
  Index num_chains_;
  Buffer<char> memory_;
  ReplicasView<Sampler, Board> view_;
};

}  // namespace kilochain::discrete
