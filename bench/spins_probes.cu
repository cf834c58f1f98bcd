// What a device does for one flip, piece by piece: kernels that do one thing once, whose code bench/spins_roofline.py counts.
// They are compiled and never run.
#include "host/chains/cuda_rows.cuh"
#include "kernels/discrete/class_board.hpp"
#include "kernels/discrete/intracluster.hpp"
#include "kernels/discrete/packed_lattice.hpp"

namespace kilochain::discrete {

using Lists = ClassBoard<MemberLists<std::uint16_t>>;

/// The board in shared memory, as advance_rows has it, and a loop of flips like a walk's.
using Rows = RowBoard<cuda::row_block>;
template <int side>
__global__ void __launch_bounds__(cuda::row_block, 1)
    probe_rows(const __grid_constant__ RowLattice model, const __grid_constant__ Rng rng, char* memory, double* to,
               int k) {
  __shared__ Rows::Bits words[Rows::most_words * cuda::row_block];
  Rows board(model, reinterpret_cast<char*>(words + threadIdx.x));
  board.take(cuda::ThreadTeam{}, Rows::Kept(model, memory));
  Numbers<std::uint64_t> chosen(rng, Purpose::proposal);
  double from = 1, back = 1, tilted = 0;
#pragma unroll 1
  for (int t = 0; t < k; ++t) {
    from *= board.total(side);
    const auto place = board.choose(side, chosen(static_cast<std::uint32_t>(t)));
    tilted += board.tilt(side, place);
    board.flip(cuda::ThreadTeam{}, side, place);
    back *= board.total(1 - side);
  }
  to[threadIdx.x] = from / back + tilted;
}
template __global__ void probe_rows<0>(const __grid_constant__ RowLattice, const __grid_constant__ Rng, char*, double*,
                                       int);
template __global__ void probe_rows<1>(const __grid_constant__ RowLattice, const __grid_constant__ Rng, char*, double*,
                                       int);
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
