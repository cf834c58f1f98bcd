#include "host/chains/window_digest.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain {
namespace cuda {
namespace {

constexpr int digest_threads = 256;

/// A warp a chain: whether it is quarantined, and how many of its draws diverged.
__global__ void __launch_bounds__(max_block, 1)
    digest_chains(const __grid_constant__ WindowRecords w, std::uint8_t* quarantined, WindowDigest* digest, Index first,
                  Index last) {
  const Index chain = chain_of_warp(first);
  if (chain >= last) return;
  const WarpTeam team;
  const ChainControl& control = w.control[chain];
  const bool running = control.status == ChainStatus::running;
  const Count made = running ? w.count : (control.iteration - w.first_iteration) / w.thin;
  const Index draws = static_cast<Index>(made < 0 ? 0 : (made < w.count ? made : w.count));
  const int diverged = team.sum<int>(draws, [&](Index t) { return static_cast<int>(w.diverging(chain, t)); });
  team.single([&] {
    quarantined[chain] = running ? 0 : 1;
    if (diverged > 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(&digest->divergences), static_cast<unsigned long long>(diverged));
  });
}

/// One block, in a fixed order.
__global__ void __launch_bounds__(digest_threads)
    digest_records(const ChainControl* control, Index chains, WindowDigest* to) {
  const BlockTeam<digest_threads> team;
  const auto over_running = [&](auto&& f) {
    return team.sum<double>(chains,
                            [&](Index c) { return control[c].status == ChainStatus::running ? f(control[c]) : 0.0; });
  };
  const double running = over_running([](const ChainControl&) { return 1.0; });
  const double accepted = over_running([](const ChainControl& c) { return c.acceptance_sum; });
  const double counted = over_running([](const ChainControl& c) { return static_cast<double>(c.counted); });
  team.single([&] {
    to->quarantined = chains - static_cast<std::int64_t>(running);
    to->acceptance_sum = accepted;
    to->counted = counted;
  });
}

}  // namespace
}  // namespace cuda

void digest_window(const Place& place, const WindowRecords& records, std::uint8_t* quarantined, WindowDigest* digest) {
  const Index chains = static_cast<Index>(records.diverging.rows);
  begin_clear(place, digest, sizeof *digest);
  cuda::for_each_chain(place, cuda::digest_chains, 0, chains, records, quarantined, digest);
  cuda::launch(place, cuda::digest_records, dim3(1), cuda::digest_threads, records.control, chains, digest);
}

}  // namespace kilochain
