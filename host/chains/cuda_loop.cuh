// A segment of a sampler that asks a different number of times, as one launch: a graph whose loops the device ends itself
// (kernels/device/branches.cuh). The host learns nothing in between.
//   sampling, or alone    rounds, as long as a chain waits
//   pooled                iterations, as long as some are left: proposals, rounds as above, a pooled step
#pragma once
#include "host/chains/chains.hpp"
#include "host/chains/cuda_replay.cuh"
#include "kernels/device/branches.cuh"

namespace kilochain::cuda {

/// Ends a round: `waiting` chains go on, or the loop does not.
template <class Handle>
__global__ void __launch_bounds__(32) end_round(int* waiting, Handle loop) {
  if (threadIdx.x != 0) return;
  set_condition(loop, *waiting > 0);
  *waiting = 0;
}
/// Begins an iteration of all chains: there will be rounds.
template <class Handle>
__global__ void __launch_bounds__(32) begin_iteration(Handle rounds) {
  if (threadIdx.x == 0) set_condition(rounds, true);
}
/// Ends it: the next one, or none where `all` ends.
template <class Real, class Handle>
__global__ void __launch_bounds__(32)
    end_iteration(Segment<Real>* __restrict__ now, const Segment<Real>* __restrict__ all, Handle iterations) {
  if (threadIdx.x != 0) return;
  set_condition(iterations, now->until < all->until);
  if (now->until < all->until) ++now->until;
}

class Loop : public Captured {
 public:
  /// least_driver: 12040, or 12060 where kernels whose blocks meet are inside.
  Loop(const Place& place, int least_driver) : Captured(place), waiting_(place, 32, "counters") {
    int driver = 0;
    able_ = has_branches && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= least_driver;
  }
  /// Whether device and driver know such graphs; what they refuse at a capture they do not.
  bool able() const { return able_; }

  /// Records body(branches, counter), which counts the chains that wait in *counter, zero at a launch. Nothing is recorded
  /// where it turns out that such graphs are not known, or cannot be recorded for whatever reason: nothing was launched then, the
  /// host goes on, and a device that is lost says so at its next call.
  template <class Body>
  void capture(const RoundKind& kind, Body&& body) {
    kind_.reset();
    forget();
    CUDA_CHECK(set_device(place_.device));
    CUDA_CHECK(cudaMemsetAsync(waiting_.data(), 0, sizeof(int), stream_of(place_)));
    CUDA_CHECK(cudaGraphCreate(&graph_, 0));  // it stays: what has branches can be instantiated once only
    const Mark mark(capturing_);
    try {
      record_graph(place_, graph_, [&](Branches& branches) { body(branches, waiting_.data()); });
      Branches::known(cudaGraphInstantiate(&exec_, graph_, 0));
      kind_ = kind;
    } catch (const NoBranches&) {
      able_ = false;
    } catch (const Error& error) {
      if (error.status() != ExitStatus::device) throw;
      cudaGetLastError();
      able_ = false;
    }
  }

 private:
  struct Mark {
    bool& on;
    explicit Mark(bool& on_) : on(on_) { on = true; }
    ~Mark() { on = false; }
  };
  bool able_ = false;
  Buffer<int> waiting_;
};

}  // namespace kilochain::cuda
