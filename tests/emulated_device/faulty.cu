#include "kernels/device/launch.cuh"
#include "kernels/device/view.hpp"
#include "tests/emulated_device/faulty.hpp"

namespace kilochain {
namespace {

__global__ void __launch_bounds__(64, 1) faulty_kernel(Faulty which, int* data, int* out, int* elsewhere, int* host) {
  __shared__ int box[64];
  __shared__ int* leaked;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, i = static_cast<int>(blockIdx.x) * 64 + t;
  int mine = t, found = 0;
  switch (which) {
    case Faulty::none:
      box[t] = t;
      __syncthreads();
      found = box[63 - t];
      break;
    case Faulty::race_in_warp:
      if (lane == 0) data[i] = 7;
      found = data[i - lane];
      break;
    case Faulty::race_after_shuffle:
      if (lane == 0) data[i] = 7;
      mine = __shfl_xor_sync(0xffffffffu, mine, 1);
      found = data[i - lane];
      break;
    case Faulty::race_in_block:
      box[t] = t;
      __syncwarp();
      found = box[63 - t];
      break;
    case Faulty::race_of_blocks:
      if (t == 0) data[0] += 1;
      break;
    case Faulty::race_with_readers:
      found = data[0];
      __syncthreads();
      if (t == 5 && blockIdx.x == 1) data[0] = 7;
      break;
    case Faulty::race_of_bytes: {
      char* const bytes = reinterpret_cast<char*>(data + i - lane);
      bytes[lane] = 1;
      if (lane == 4) bytes[7] = 2;
      break;
    }
    case Faulty::race_after_atomic:
      atomicAdd(data, 1);
      found = t == 40 ? data[0] : 0;
      break;
    case Faulty::past_the_end:
      found = data[i + 100];
      break;
    case Faulty::freed:
      found = elsewhere[i];
      break;
    case Faulty::host_memory:
      found = host[0];
      break;
    case Faulty::others_stack:
      if (t == 0) leaked = &mine;
      __syncthreads();
      found = *leaked;
      break;
    case Faulty::unwritten_shared:
      found = box[t];
      break;
    case Faulty::misaligned: {
      const auto at = reinterpret_cast<const long long*>(data + 1);
      found = static_cast<int>(*at);
      break;
    }
    case Faulty::exited_lane:
      if (lane == 5) return;
      mine = __shfl_xor_sync(0xffffffffu, mine, 1);
      break;
    case Faulty::divergent_barrier:
      if (t < 32)
        __syncthreads();
      else
        found = __syncthreads_or(1);
      break;
    case Faulty::left_barrier:
      if (t == 3) return;
      __syncthreads();
      break;
    case Faulty::broken_promise: {
      const View1<int> view{data, 192};
      found = view[i == 70 ? 192 : i];
      break;
    }
  }
  out[i] = found + mine;
}

__global__ void sums_kernel(int* out, int* total) {
  const int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x) * 64 + t;
  const int warp = WarpTeam().sum<int>(32, [](Index k) { return static_cast<int>(k); });
  const int block = BlockTeam<64>().sum<int>(64, [](Index k) { return static_cast<int>(k); });
  atomicAdd(total, t);
  out[i] = 10000 * warp + block;
}

__global__ void __launch_bounds__(64, 1) bounded_kernel(int* data) {
  if (threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0) data[0] = 1;
}
__global__ void wide_kernel(Many many, int* data) { data[0] = many.bytes[0]; }

}  // namespace

std::vector<int> run_faulty(const Context& context, Faulty which) {
  Buffer<int> data(context, 192), out(context, 192);
  int* elsewhere = nullptr;
  {
    Buffer<int> other(context, 192);
    elsewhere = other.data();
  }
  static int* const host = new int(3);
  cuda::launch(context, faulty_kernel, dim3(3), 64, which, data.data(), out.data(), elsewhere, host);
  return out.host();
}

std::vector<int> run_sums(const Context& context) {
  Buffer<int> out(context, 192), total(context, 1);
  cuda::launch(context, sums_kernel, dim3(3), 64, out.data(), total.data());
  std::vector<int> all = out.host();
  all.push_back(total.host()[0]);
  return all;
}

void run_bounded(const Context& context, int threads, unsigned blocks_y) {
  Buffer<int> data(context, 1);
  cuda::launch(context, bounded_kernel, dim3(1, blocks_y), threads, data.data());
  synchronize(context);
}
void touch_pinned(float* number) { *number += 1; }
void run_together(const Context& context, int blocks) {
  Buffer<int> data(context, 1);
  cuda::launch_together(context, bounded_kernel, blocks, 1, data.data());
  synchronize(context);
}
void run_with(const Context& context, const Many& many) {
  Buffer<int> data(context, 1);
  cuda::launch(context, wide_kernel, dim3(1), 1, many, data.data());
}

}  // namespace kilochain
