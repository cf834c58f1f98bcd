// Replicas of a spin model, one for each chain, as the chains' host side sees them: bound to memory, stepped one by one.
// The sampler and its board are one template below this (kernels/discrete/replica.hpp), so a step is one virtual call.
#pragma once
#include <memory>

#include "kernels/device/context.hpp"
#include "kernels/discrete/replica.hpp"

namespace kilochain::discrete {

class Replicas {
 public:
  virtual ~Replicas() = default;
  /// Puts one replica (all its rungs) at spins (n), of the turned model.
  virtual void assign(Index chain, const std::int8_t* spins) = 0;
  virtual void step(Index chain, const Rng& rng, Info& info) = 0;
  virtual double energy(Index chain) = 0;
  virtual std::int64_t up(Index chain) = 0;
  virtual std::int8_t spin(Index chain, Index i) = 0;
  virtual std::size_t bytes() const = 0;  ///< of one replica
  virtual char* memory() = 0;             ///< replica after replica
};

/// Owner: keeps the model's arrays alive.
template <class Sampler, class Board, class Owner>
class CpuReplicas final : public Replicas {
 public:
  CpuReplicas(const Context& context, Index num_chains, Replica<Sampler, Board> replica, std::shared_ptr<Owner> owner)
      : replica_(replica),
        owner_(std::move(owner)),
        bytes_((replica.bytes() + 127) / 128 * 128),
        memory_(context, bytes_ * static_cast<std::size_t>(num_chains), "state of the chains") {}
  void assign(Index chain, const std::int8_t* spins) override { replica_.assign(HostTeam{}, of(chain), spins); }
  void step(Index chain, const Rng& rng, Info& info) override { replica_.step(HostTeam{}, rng, of(chain), info); }
  double energy(Index chain) override { return board(chain).energy(); }
  std::int64_t up(Index chain) override { return board(chain).up(); }
  std::int8_t spin(Index chain, Index i) override { return board(chain).spin(i); }
  std::size_t bytes() const override { return bytes_; }
  char* memory() override { return memory_.data(); }

 private:
  char* of(Index chain) { return memory_.data() + bytes_ * static_cast<std::size_t>(chain); }
  Board board(Index chain) { return replica_.board(of(chain), 0); }
  Replica<Sampler, Board> replica_;
  std::shared_ptr<Owner> owner_;
  std::size_t bytes_;
  Buffer<char> memory_;
};

}  // namespace kilochain::discrete
