// Kernels of device_progress.hpp: a thread for each chain and parameter that is followed adds, a block for each parameter
// makes its figures.
#include <algorithm>

#include "host/statistics/device_progress.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain {
namespace {

constexpr int block_threads = 256;

/// What is followed.
struct Followed {
  ProgressChain* chains;
  int num_chains, num_parameters;
  std::int64_t parameters[kProgressParameters];
  double shift[kProgressParameters];
};

template <class Real>
__global__ void __launch_bounds__(block_threads)
    add_progress(const __grid_constant__ Followed f, View3<const Real> draws, std::int64_t first_chain,
                 std::int64_t count, const __grid_constant__ ProgressClock at, const std::uint8_t* excluded) {
  const int i = cuda::here::block() * block_threads + cuda::here::thread();
  const int of = i / kProgressParameters, k = i % kProgressParameters;
  if (of >= f.num_chains || k >= f.num_parameters) return;
  ProgressChain& chain = f.chains[of];
  const std::int64_t c = chain.number - first_chain;
  if (c < 0 || c >= draws.planes) return;
  if (excluded[c]) {
    if (k == 0) chain.excluded = true;
    return;
  }
  const Real* x = draws.data + c * draws.rows * draws.columns + f.parameters[k];
  add_to_progress(chain, k, at, x, draws.columns, count, f.shift[k]);
}

__global__ void __launch_bounds__(block_threads)
    make_progress(const __grid_constant__ Followed f, const __grid_constant__ ProgressClock at, ProgressFigures* to) {
  static_assert(block_threads >= kProgressChains);
  __shared__ int counted[kProgressChains];  // the chains that count
  const int i = cuda::here::thread(), k = cuda::here::block();
  const bool counts = i < f.num_chains && !f.chains[i].excluded;
  int before = 0;
  for (int j = 0; counts && j < i; ++j) before += !f.chains[j].excluded;
  if (counts) counted[before] = i;
  const Index num_counted = __syncthreads_count(counts);
  const BlockTeam<block_threads> team;
  const auto chain_at = [&](Index c) -> const ProgressChain& { return f.chains[counted[c]]; };
  const ProgressFigures of = progress_figures(team, num_counted, chain_at, k, at);
  team.single([&] { to[k] = of; });
}

class CudaProgress final : public DeviceProgress {
 public:
  CudaProgress(const Place& place, const std::vector<ProgressChain>& chains,
               const std::vector<std::int64_t>& parameters, const double* shift)
      : place_(place), chains_(place, chains.size(), "streaming statistics") {
    chains_.upload(chains.data());
    followed_ = {chains_.data(), static_cast<int>(chains.size()), static_cast<int>(parameters.size()), {}, {}};
    std::copy(parameters.begin(), parameters.end(), followed_.parameters);
    std::copy_n(shift, parameters.size(), followed_.shift);
  }
  void add(View3<const float> draws, std::int64_t first_chain, std::int64_t count, const ProgressClock& at,
           const std::uint8_t* excluded) override {
    add_draws(draws, first_chain, count, at, excluded);
  }
  void add(View3<const double> draws, std::int64_t first_chain, std::int64_t count, const ProgressClock& at,
           const std::uint8_t* excluded) override {
    add_draws(draws, first_chain, count, at, excluded);
  }
  void figures(const ProgressClock& at, ProgressFigures* to) override {
    cuda::launch(place_, make_progress, dim3(static_cast<unsigned>(followed_.num_parameters)), block_threads, followed_,
                 at, to);
  }

 private:
  template <class Real>
  void add_draws(View3<const Real> draws, std::int64_t first_chain, std::int64_t count, const ProgressClock& at,
                 const std::uint8_t* excluded) {
    const int series = followed_.num_chains * kProgressParameters;
    cuda::launch(place_, add_progress<Real>, dim3(static_cast<unsigned>((series + block_threads - 1) / block_threads)),
                 block_threads, followed_, draws, first_chain, count, at, excluded);
  }

  Place place_;
  Buffer<ProgressChain> chains_;
  Followed followed_;
};

}  // namespace

std::unique_ptr<DeviceProgress> make_device_progress(const Place& place, const std::vector<ProgressChain>& chains,
                                                     const std::vector<std::int64_t>& parameters, const double* shift) {
  return std::make_unique<CudaProgress>(place, chains, parameters, shift);
}

}  // namespace kilochain
