// Kernels that are right, and kernels with one fault each, for the tests of the emulated device.
#pragma once
#include <vector>

#include "kernels/device/context.hpp"

namespace kilochain {

enum class Faulty {
  none,
  race_in_warp,        ///< lane 0 writes what the others read, without a sync
  race_after_shuffle,  ///< as before, with a shuffle between: it orders no memory
  race_in_block,       ///< a warp reads what another wrote, with a sync of each warp between
  race_of_blocks,      ///< every block adds to one number
  race_with_readers,   ///< one block writes what all have read, each with a sync of its own between
  race_of_bytes,       ///< a lane writes the byte of another, among those of one word
  race_after_atomic,   ///< atomic additions, and a plain read without a sync
  past_the_end,
  freed,
  host_memory,
  others_stack,
  unwritten_shared,
  misaligned,         ///< a pair of floats from an odd one on
  exited_lane,        ///< a shuffle whose mask names a lane that has returned
  divergent_barrier,  ///< half of the block comes to another barrier
  left_barrier,       ///< a thread returns before the barrier
  broken_promise      ///< KC_CHECK
};
/// Runs one kernel of 64 threads in each of 3 blocks and waits: out[i] for i < 192, of what every thread found.
std::vector<int> run_faulty(const Context& context, Faulty which);
/// The same sums by shuffles, by shared memory and by atomics: each thread's warp, block and grid.
std::vector<int> run_sums(const Context& context);
/// A kernel with a launch bound of 64, started with `threads`, in `blocks_y` rows of blocks.
void run_bounded(const Context& context, int threads, unsigned blocks_y);
struct Many {
  char bytes[5000];
};
void run_with(const Context& context, const Many& many);
/// The host adds to a number, in a .cu file.
void touch_pinned(float* number);
/// Blocks that are to run at once.
void run_together(const Context& context, int blocks);

}  // namespace kilochain
