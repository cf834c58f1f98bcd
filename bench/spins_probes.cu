// What a device does for one flip, piece by piece: kernels that do one thing once, whose code bench/spins_roofline.py counts.
// They are compiled and never run.
#include "host/chains/cuda_trials.cuh"
#include "kernels/discrete/class_board.hpp"
#include "kernels/discrete/intracluster.hpp"
#include "kernels/discrete/packed_lattice.hpp"

namespace kilochain::discrete {

using Trials = TrialBoard<64>;
using Lists = ClassBoard<std::uint16_t>;

/// The board in shared memory, as advance_trials has it; f(board) returns something that must be made.
#define KC_TRIAL_PROBE(name, result)                                                                                 \
  __global__ void __launch_bounds__(64, 1)                                                                           \
      name(const __grid_constant__ Trials::Model model, const __grid_constant__ Rng rng, int* to, int side, int i) { \
    __shared__ Trials::Bits words[Trials::most_words * 64];                                                          \
    Trials board(model, reinterpret_cast<char*>(words + threadIdx.x));                                               \
    to[threadIdx.x] = static_cast<int>(result);                                                                      \
  }
KC_TRIAL_PROBE(probe_trial_nothing, (words[threadIdx.x] = 1, side))
KC_TRIAL_PROBE(probe_trial_attempt, board.attempt(side, rng, static_cast<std::uint32_t>(i)))
KC_TRIAL_PROBE(probe_trial_tilt, board.tilt(i))
KC_TRIAL_PROBE(probe_trial_total, board.total(side))
KC_TRIAL_PROBE(probe_trial_flip, (board.flip(cuda::ThreadTeam{}, i), side))
__global__ void probe_log(double* x) { x[threadIdx.x] = math::log(x[threadIdx.x] / x[threadIdx.x + 64]); }
__global__ void probe_double(double* x) { x[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x + 64]; }

#define KC_LISTS_PROBE(name, result)                                                                   \
  __global__ void __launch_bounds__(128, 1)                                                            \
      name(const __grid_constant__ Lists::Model model, char* memory, double* to, int side, double u) { \
    Lists board(model, memory);                                                                        \
    to[threadIdx.x] = static_cast<double>(result);                                                     \
  }
KC_LISTS_PROBE(probe_lists_nothing, side* u)
KC_LISTS_PROBE(probe_lists_total, board.total(side))
KC_LISTS_PROBE(probe_lists_choose, board.choose(side, u, u))
KC_LISTS_PROBE(probe_lists_flip, (board.flip(WarpTeam{}, static_cast<Index>(side)), u))

__global__ void __launch_bounds__(128, 1)
    probe_words_sweep(const __grid_constant__ PackedLattice::Model model, char* memory, const __grid_constant__ Rng rng,
                      const __grid_constant__ FlipRule rule, double* to) {
  PackedLattice board(model, memory);
  to[threadIdx.x] = board.sweep(WarpTeam{}, rng, rule);
}
__global__ void probe_nothing(const __grid_constant__ Rng rng, std::uint32_t* to) { to[threadIdx.x] = threadIdx.x; }
__global__ void probe_philox(const __grid_constant__ Rng rng, std::uint32_t* to) {
  const Words w = rng.words(Purpose::proposal, threadIdx.x);
  to[threadIdx.x] = w.v[0] ^ w.v[1] ^ w.v[2] ^ w.v[3];
}

}  // namespace kilochain::discrete
