// A model written for one chain, as a target for all chains on CUDA: a warp for each chain, scratch in device memory.
#pragma once
#include <type_traits>

#include "kernels/device/launch.cuh"
#include "targets/target.hpp"

namespace kilochain {
namespace cuda {

template <class Model, class Real>
__global__ void __launch_bounds__(max_block, 1)
    evaluate_chains(const __grid_constant__ typename Model::Data data, const __grid_constant__ Exchange<Real> exchange,
                    Real* scratch, std::size_t row, Index first, Index last) {
  const Index chain = chain_of_warp(first);
  if (chain >= last || exchange.needs[chain] == Needs::nothing) return;
  Model::evaluate(WarpTeam{}, data, exchange.needs[chain], exchange.query(chain), exchange.reply(chain),
                  scratch + static_cast<std::size_t>(chain - first) * row);
}

}  // namespace cuda

template <class Model, class Real>
class CudaTarget final : public Target<Real> {
  static_assert(std::is_trivially_copyable_v<typename Model::Data>, "a model's data travels to kernels by value");

 public:
  CudaTarget(const Context& context, const typename Model::Settings& settings)
      : context_(context),
        arena_(context),
        data_(Model::prepare(settings, arena_, this->info_)),
        row_(padded(Model::scratch(data_) + 1)) {
    this->info_.scratch_bytes = [row = row_](Index chains) {
      return row * sizeof(Real) * static_cast<std::size_t>(chains);
    };
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    const std::size_t size = row_ * static_cast<std::size_t>(last - first);
    if (scratch_.size() < size) scratch_ = Buffer<Real>(context_, size);
    cuda::for_each_chain(context_, cuda::evaluate_chains<Model, Real>, first, last, data_, exchange, scratch_.data(),
                         row_);
  }
  std::string evaluation() const override { return "a warp for each chain"; }

 private:
  Context context_;
  Arena<Real> arena_;
  typename Model::Data data_;
  std::size_t row_;
  Buffer<Real> scratch_;
};

}  // namespace kilochain
