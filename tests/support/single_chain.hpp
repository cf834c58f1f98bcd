// One chain of one sampler, a call at a time: what the host does in a round, with every field of the chain in view.
#pragma once
#include "host/chains/chain_memory.hpp"
#include "kernels/linalg/triangular.hpp"

namespace kilochain::testing_support {

template <class Move>
class SingleChain {
 public:
  static constexpr int P = HostTeam::panel<double>;
  SingleChain(const Context& context, Target<double>& target, const typename Move::Settings& settings)
      : memory(context, 1, target.info().dim, Scope::chain, settings), target_(target), n(target.info().dim) {
    state = memory.view().template state<P>(0);
    adaptation = memory.view().template adaptation<P>(0);
    query = memory.view().exchange.query(0);
    reply = memory.view().exchange.reply(0);
    Move::start_adaptation(team, memory.view().settings, adaptation, n);
  }
  void start(const std::vector<double>& x) {
    memory.place(x);
    ask();
    Move::start(team, settings(), adaptation, state, query, reply, n);
  }
  /// One iteration up to and without its adaptation; returns how often the target was asked.
  int iterate(const Rng& rng, const Schedule& at) {
    propose_point<Move>(team, rng, settings(), at, adaptation, state, query, n);
    for (int asked = 1;; ++asked) {
      ask();
      if (Move::update(team, rng, settings(), at, adaptation, state, query, reply, info, n) == Step::done) return asked;
    }
  }
  Signal<double> signal() const { return Move::signal(settings(), state, info.accepted); }
  const typename Move::Settings& settings() const { return memory.view().settings; }
  void ask() { target_.evaluate(memory.view().exchange, 0, 1); }

  HostTeam team;
  ChainMemory<Move, double, P> memory;
  typename Move::State state;
  typename Move::Adaptation adaptation;
  Query<double> query;
  Reply<double> reply;
  Info info;

 private:
  Target<double>& target_;

 public:
  Index n;
};

}  // namespace kilochain::testing_support
