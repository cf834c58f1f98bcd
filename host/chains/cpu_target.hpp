// A model written for one chain, as a target for all chains on the CPU.
#pragma once
#include "kernels/sampler_concept.hpp"
#include "targets/target.hpp"

namespace kilochain {

template <class Model, class Real>
class CpuTarget final : public Target<Real> {
  static_assert(PointwiseModel<Model, Real>,
                "a model has meaning, Settings and their table, Data, scratch(data) and "
                "evaluate(team, data, needs, query, reply, scratch)");

 public:
  CpuTarget(const Context& context, const typename Model::Settings& settings)
      : arena_(context),
        data_(Model::prepare(settings, arena_, this->info_)),
        scratch_(padded(Model::scratch(data_) + 1)) {
    if constexpr (requires { Model::prepare_host(data_); }) Model::prepare_host(data_);
    this->info_.scratch_bytes = [bytes = scratch_ * sizeof(Real) * static_cast<std::size_t>(context.threads)](Index) {
      return bytes;  // of each thread
    };
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    thread_local std::vector<Real> scratch;
    if (scratch.size() < scratch_) scratch.resize(scratch_);
    for (Index chain = first; chain < last; ++chain)
      if (exchange.needs[chain] != Needs::nothing)
        Model::evaluate(HostTeam{}, data_, exchange.needs[chain], exchange.query(chain), exchange.reply(chain),
                        scratch.data());
  }

 private:
  Arena<Real> arena_;
  typename Model::Data data_;
  std::size_t scratch_;
};

}  // namespace kilochain
