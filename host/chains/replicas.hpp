// Replicas of a spin model, one for each chain: a sampler and its board (kernels/discrete/replica.hpp) bound to memory,
// their types left behind. Threads step replicas of their own.
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
  /// Returns the energy after it.
  virtual double step(Index chain, const Rng& rng, Info& info) = 0;
  virtual double energy(Index chain) const = 0;
  virtual std::int64_t up(Index chain) const = 0;
  virtual std::int8_t spin(Index chain, Index i) const = 0;
  virtual Buffer<char>& memory() = 0;
  virtual std::size_t bytes(Index num_chains) const = 0;  ///< of so many of them
};

/// Owner: keeps the model's arrays alive.
template <class Sampler, class Board, class Owner>
class BoundReplicas final : public Replicas {
 public:
  BoundReplicas(const Context& context, Index num_chains, Replica<Sampler, Board> replica, std::shared_ptr<Owner> owner)
      : owner_(std::move(owner)),
        replica_(replica),
        bytes_((replica.bytes() + 127) / 128 * 128),
        memory_(context, bytes(num_chains), "state of the chains") {}

  void assign(Index chain, const std::int8_t* spins) override { replica_.assign(of(chain), spins); }
  double step(Index chain, const Rng& rng, Info& info) override {
    replica_.step(rng, of(chain), info);
    return energy(chain);
  }
  double energy(Index chain) const override { return board(chain).energy(); }
  std::int64_t up(Index chain) const override { return board(chain).up(); }
  std::int8_t spin(Index chain, Index i) const override { return board(chain).spin(i); }
  Buffer<char>& memory() override { return memory_; }
  std::size_t bytes(Index num_chains) const override { return bytes_ * static_cast<std::size_t>(num_chains); }

 private:
  char* of(Index chain) const { return memory_.data() + bytes(chain); }
  Board board(Index chain) const { return replica_.board(of(chain), 0); }

  std::shared_ptr<Owner> owner_;
  Replica<Sampler, Board> replica_;
  std::size_t bytes_;  ///< of one replica
  Buffer<char> memory_;
};

}  // namespace kilochain::discrete
