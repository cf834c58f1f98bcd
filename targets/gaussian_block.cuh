// A Gaussian of several chains by one block, its precision in the block's shared memory: a warp multiplies 32 or 64 of
// its rows by K chains' centred points, in the order in which the model's own function adds: the bits are the same.
// Where the precision is diagonal chains share nothing, and a warp evaluates a chain by the model's function.
#pragma once
#include "targets/block_model.cuh"
#include "targets/gaussian.hpp"

namespace kilochain {

template <class Real>
struct BlockModel<Gaussian<Real>, Real> {
  using Model = Gaussian<Real>;
  using Data = typename Model::Data;
  static constexpr bool by_blocks = true, by_warps = true;
  static constexpr int K = cuda::group_chains<Real>;

  Data d;
  Index chains = K;  ///< of a block: a multiple of K, or any number with a diagonal precision

  struct Layout {
    std::uint32_t minus = 0, out = 0, bytes = 0;  ///< where a block's arrays begin
  } layout{};

  static bool fit(const Data& d, Index chains, std::size_t bytes, BlockModel& out) {
    out = {d, chains};
    return out.lay_out() <= bytes;
  }
  std::size_t bytes() const { return layout.bytes; }
  static bool alone(const Data& d) { return d.diagonal; }
  /// Warps that have something to do at the same time.
  Index warps() const { return d.diagonal ? chains : chains / K * (rows() / (32 * width())); }

  /// Rows to a lane, and of all of a warp's.
  KC_HD Index width() const { return d.n <= 32 ? 1 : 2; }
  KC_HD Index rows() const { return (d.n + 32 * width() - 1) / (32 * width()) * (32 * width()); }

  struct Places {
    Real* precision;  ///< (coordinate, row): symmetric, so its rows are its columns
    Real *minus,
        *out;  ///< (coordinate, slot): mean - x; (slot, row): the gradient. Slot: a chain's place, cuda::Asking
  };
  KC_HD Places places(char* base) const {
    const auto reals = [&](std::uint32_t at) { return reinterpret_cast<Real*>(base + at); };
    return {reals(0), reals(layout.minus), reals(layout.out)};
  }
  /// Bytes of all arrays, side by side.
  std::size_t lay_out() {
    const std::size_t n = d.diagonal ? 0 : std::size_t(d.n), many = std::size_t(chains);
    cuda::SideBySide next;
    next.take<Real>(n * std::size_t(rows()));
    layout.minus = next.take<Real>(n * many);
    layout.out = next.take<Real>(many * (d.diagonal ? std::size_t(d.row) : std::size_t(rows())));
    return layout.bytes = next.all();
  }

#if defined(KC_CUDA)
  /// Brings the precision. The block must meet before it evaluates: evaluate does.
  __device__ void load(char* shared) const {
    if (d.diagonal) return;
    const Places p = places(shared);
    for (Index k = cuda::here::thread(); k < d.n * rows(); k += cuda::here::threads()) {
      const Index j = k / rows(), i = k % rows();
      p.precision[k] = i < d.n ? d.precision[std::size_t(j) * std::size_t(d.row) + std::size_t(i)] : Real(0);
    }
  }

  /// Of a diagonal precision.
  __device__ void evaluate_chain(char* shared, Needs needs, const Query<Real>& query, const Reply<Real>& reply) const {
    Model::evaluate(WarpTeam{}, d, needs, query, reply, places(shared).out + cuda::here::warp() * d.row);
  }
  /// Answers chains first..last-1, at most `chains`, which ask for at most a gradient. The block must meet before it
  /// calls this again; the warp of chain - first, counted round, sees the answer after its next sync.
  __device__ void evaluate(char* shared, const Exchange<Real>& exchange, Index first, Index last) const {
    const Places p = places(shared);
    const Index warp = cuda::here::warp(), warps = cuda::here::warps();
    if (d.diagonal) {
      for (Index chain = first + warp; chain < last; chain += warps)
        if (exchange.needs[chain] != Needs::nothing)
          evaluate_chain(shared, exchange.needs[chain], exchange.query(chain), exchange.reply(chain));
      return;
    }
    const cuda::Asking asks = cuda::asking(exchange.needs, first, last);
    for (Index k = cuda::here::thread(); k < d.n * chains; k += cuda::here::threads()) {
      const Index c = k / d.n, j = k % d.n;
      p.minus[j * chains + asks.slot(c)] = asks(c) ? -(exchange.query(first + c).point[j] - d.mean[j]) : Real(0);
    }
    __syncthreads();
    const Index groups = (asks.count() + K - 1) / K, parts = rows() / (32 * width());
    for (Index k = warp; k < groups * parts; k += warps) {
      if (width() == 1)
        products<1>(p, k % groups, k / groups);
      else
        products<2>(p, k % groups, k / groups);
    }
    __syncthreads();
    for (Index c = warp; c < chains; c += warps)
      if (asks(c)) answer(p, exchange.reply(first + c), asks.slot(c));
  }

 private:
  template <int V>
  __device__ __forceinline__ void products(const Places& p, Index group, Index part) const {
    const Index i = (part * 32 + cuda::here::lane()) * V;
    Real a[V][K];
    cuda::multiply(p.precision + i, rows(), p.minus + group * K, chains, d.n, a);
#pragma unroll
    for (int c = 0; c < K; ++c)
#pragma unroll
      for (int v = 0; v < V; ++v) p.out[(group * K + c) * rows() + i + v] = a[v][c];
  }
  __device__ void answer(const Places& p, const Reply<Real>& reply, Index c) const {
    const WarpTeam team;
    const Real* out = p.out + c * rows();
    const double square =
        team.template sum<double>(d.n, [&](Index i) { return double(-p.minus[i * chains + c]) * double(out[i]); });
    team.single([&] { *reply.lp = d.log_constant + 0.5 * square; });
    team.for_each(d.n, [&](Index i) { reply.gradient[i] = out[i]; });
  }
#endif
};

}  // namespace kilochain
