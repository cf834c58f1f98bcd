// Replicas that are bits (kernels/discrete/row_board.hpp) on CUDA: a thread for each, and its words in shared memory
// while a segment lasts; a thread's team is itself. In device memory 32 replicas lie side by side, word after word, so that
// a block reads and writes them whole.
#pragma once
#include "host/chains/replicas.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/discrete/row_board.hpp"

namespace kilochain::discrete {
namespace cuda {

inline constexpr int row_block = 32;

/// One thread is the team.
struct ThreadTeam {
  static constexpr bool on_host = false;
  static constexpr int lanes = 1;
  template <class F>
  KC_INLINE void for_each(Index n, F&& f) const {
    for (Index i = 0; i < n; ++i) f(i);
  }
  template <class T, class F>
  KC_INLINE T sum(Index n, F&& f) const {
    T all{};
    for (Index i = 0; i < n; ++i) all += f(i);
    return all;
  }
  template <class F>
  KC_INLINE void single(F&& f) const {
    f();
  }
  KC_INLINE void sync() const {}
};

}  // namespace cuda

/// A Replica of one rung whose board and scratch lie apart.
template <class Sampler, class Board>
struct RowReplica {
  struct Memory {
    typename Board::Bits* words;
    char* scratch;
  };
  typename Board::Model model;
  typename Sampler::Settings settings;
  double beta;

  KC_INLINE Board board(const Memory& memory, Index) const { return {model, reinterpret_cast<char*>(memory.words)}; }
  KC_INLINE char* scratch(const Memory& memory) const { return memory.scratch; }
  template <class Team>
  KC_HD void assign(const Team& team, const Memory& memory, const std::int8_t* spins) const {
    board(memory, 0).assign(team, spins);
  }
  template <class Team>
  KC_HD void step(const Team& team, const Rng& rng, const Memory& memory, Info& info) const {
    Board b = board(memory, 0);
    Sampler::step(team, rng, settings, Heat{beta}, b, memory.scratch, info);
  }
};

/// All that a kernel needs of them.
template <class Sampler, class Board>
struct RowsView {
  using Bits = typename Board::Bits;
  RowReplica<Sampler, Board> replica;
  Bits* words;  ///< (blocks of chains, words, chains of a block)
  char* scratch;
  std::size_t scratch_bytes;  ///< of one replica

  KC_INLINE Bits* words_of(Index chain) const {
    const Index block = chain / cuda::row_block;
    return words +
           static_cast<std::size_t>(block) * static_cast<std::size_t>(Board::words(replica.model)) * cuda::row_block +
           chain % cuda::row_block;
  }
  KC_INLINE char* scratch_of(Index chain) const { return scratch + scratch_bytes * static_cast<std::size_t>(chain); }
};

namespace cuda {

template <class Sampler, class Board>
__global__ void __launch_bounds__(row_block, 1)
    advance_rows(const __grid_constant__ RowsView<Sampler, Board> rows, const __grid_constant__ SpinsView view,
                 const __grid_constant__ SpinSegment segment, Index last) {
  __shared__ typename Board::Bits words[Board::most_words * row_block];
  const auto chain = static_cast<Index>(blockIdx.x * row_block + threadIdx.x);
  if (chain >= last) return;
  typename Board::Bits *const home = rows.words_of(chain), *const own = words + threadIdx.x;
  const Index count = Board::words(rows.replica.model);
  for (Index w = 0; w < count; ++w) own[w * row_block] = home[static_cast<std::size_t>(w) * row_block];
  const typename RowReplica<Sampler, Board>::Memory memory{own, rows.scratch_of(chain)};
  advance_replica(ThreadTeam{}, rows.replica, memory, view, segment, chain);
  for (Index w = 0; w < count; ++w) home[static_cast<std::size_t>(w) * row_block] = own[w * row_block];
}

template <class Sampler, class Board>
__global__ void __launch_bounds__(row_block, 1)
    tell_rows(const __grid_constant__ RowsView<Sampler, Board> rows, const __grid_constant__ SpinsView view, double* to,
              Index last) {
  const auto chain = static_cast<Index>(blockIdx.x * row_block + threadIdx.x);
  if (chain >= last) return;
  const typename RowReplica<Sampler, Board>::Memory memory{rows.words_of(chain), nullptr};
  tell_replica(ThreadTeam{}, rows.replica.board(memory, 0), view, to, chain);
}

}  // namespace cuda

/// Owner: as CudaReplicas has one.
template <class Sampler, class Board, class Owner>
class CudaRows final : public Replicas {
 public:
  CudaRows(const Context& context, Index num_chains, const Replica<Sampler, Board>& replica, std::shared_ptr<Owner>)
      : place_(context), num_chains_(num_chains) {
    view_.replica = {replica.model, replica.settings, replica.rungs.beta};
    const std::size_t n = static_cast<std::size_t>(replica.model.n()),
                      walks = Sampler::scratch(replica.settings, replica.model);
    view_.scratch_bytes = (std::max(n, walks) + 63) / 64 * 64;
    memory_ = Buffer<char>(context, bytes(num_chains), "state of the chains");
    view_.words = reinterpret_cast<typename Board::Bits*>(memory_.data());
    view_.scratch = memory_.data() + bytes_of_words(num_chains);
    // A block's words may take 43 KB: L1 cedes what it can, so that several blocks share a multiprocessor.
    CUDA_CHECK(kilochain::cuda::set_device(place_.device));
    CUDA_CHECK(cudaFuncSetAttribute(cuda::advance_rows<Sampler, Board>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
  }
  /// All chains: a device has one tile.
  void advance(const SpinsView& view, const SpinSegment& segment, Index, Index last) override {
    kilochain::cuda::launch(place_, cuda::advance_rows<Sampler, Board>,
                            dim3(static_cast<unsigned>(blocks(num_chains_))), cuda::row_block, view_, view, segment,
                            last);
  }
  void tell(const SpinsView& view, double* to) override {
    kilochain::cuda::launch(place_, cuda::tell_rows<Sampler, Board>, dim3(static_cast<unsigned>(blocks(num_chains_))),
                            cuda::row_block, view_, view, to, num_chains_);
  }
  Buffer<char>& memory() override { return memory_; }
  std::size_t bytes(Index num_chains) const override {
    return bytes_of_words(num_chains) + view_.scratch_bytes * static_cast<std::size_t>(num_chains);
  }

 private:
  static std::size_t blocks(Index num_chains) {
    return (static_cast<std::size_t>(num_chains) + cuda::row_block - 1) / cuda::row_block;
  }
  std::size_t bytes_of_words(Index num_chains) const {
    return blocks(num_chains) * static_cast<std::size_t>(Board::words(view_.replica.model)) * cuda::row_block *
           sizeof(typename Board::Bits);
  }
  Place place_;
  Index num_chains_;
  Buffer<char> memory_;
  RowsView<Sampler, Board> view_{};
};

}  // namespace kilochain::discrete
