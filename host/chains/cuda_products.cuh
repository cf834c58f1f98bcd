// The products of a sampler's table (kernels/factor_products.hpp) of all chains at once: to = L from or L^T from, where
// the rows of all chains are the columns of a matrix, by cuBLAS in the run's own precision.
// L lies in panels; products want it as a square with zeros above the diagonal: a kernel writes it after each change.
// Promise: the same bits for the same number of chains; numbers that are not finite stay in their chain's column.
// Cost: 2 n^2 flops for a product and chain, twice what the triangle needs.
#pragma once
#include "host/chains/advance.hpp"
#include "kernels/device/gemm_cublas.cuh"
#include "kernels/linalg/triangular.hpp"

namespace kilochain::cuda {

/// A warp for which the engine made the products.
struct ProductsTeam : WarpTeam {
  static constexpr bool products_made = true;
};

/// From this dimension on products are made of all chains: a smaller one would not fill a tile of 128 x 128 of cuBLAS,
/// and its factor (33 KB of floats) stays in the L1 cache that all warps of a multiprocessor read it from.
inline constexpr Index least_product_dim = 128;

/// L, in panels, to a column-major square with `row` numbers in a column, whose zeros above the diagonal stay. Blocks
/// (256 rows, column).
template <class Real>
__global__ void __launch_bounds__(256, 1)
    square_factor(const Real* __restrict__ L, Index n, Index row, Real* __restrict__ square) {
  const Index i = here::thread_of_all(), j = here::block_row();
  if (i >= j && i < n)
    square[static_cast<std::size_t>(j) * static_cast<std::size_t>(row) + static_cast<std::size_t>(i)] =
        L[factor_index<32>(i, j)];
}

template <class Sampler, class Real>
class FactorProducts {
 public:
  FactorProducts(const Context& context, const ChainsView<Sampler, Real>& c) : context_(context) {
    choose(c, c.dim >= least_product_dim);
  }
  /// A factor that all chains share, and that is more than its diagonal.
  static bool possible(const ChainsView<Sampler, Real>& c) {
    return c.scope == Scope::pooled && factor_of(c.template adaptation<32>(0)).shape == FactorShape::dense;
  }
  /// Of what such chains have beside.
  static std::size_t bytes(Index num_chains, Index dim, Scope scope, const typename Sampler::Settings& settings) {
    ChainsView<Sampler, Real> c{};
    c.settings = settings, c.num_chains = num_chains, c.dim = dim, c.scope = scope;
    return possible(c) && dim >= least_product_dim ? elements(dim) * sizeof(Real) : 0;
  }
  static std::size_t elements(Index n) { return padded(static_cast<std::size_t>(n)) * static_cast<std::size_t>(n); }

  void choose(const ChainsView<Sampler, Real>& c, bool together) {
    if (!possible(c)) return;
    together_ = together, stale_ = true;
    if (together && square_.size() == 0) square_ = Buffer<Real>(context_, elements(c.dim), "pooled sums");
  }
  bool together() const { return together_; }
  /// How they are made, for people; empty where chains share no such factor.
  static std::string text(const ChainsView<Sampler, Real>& c, bool together) {
    if (!possible(c)) return "";
    return together ? "matrix products of all chains" : "a warp for each chain";
  }

  /// The factor is another since the last product, or may be.
  void changed() { stale_ = true; }
  /// Queues the square of the factor as it is by then.
  void take(const ChainsView<Sampler, Real>& c) {
    const dim3 blocks(static_cast<unsigned>((c.dim + 255) / 256), static_cast<unsigned>(c.dim));
    launch(context_, square_factor<Real>, blocks, 256,
           static_cast<const Real*>(factor_of(c.template adaptation<32>(0)).data), c.dim, row_of(c), square_.data());
    stale_ = false;
  }
  void take_if_changed(const ChainsView<Sampler, Real>& c) {
    if (stale_) take(c);
  }

  bool any(const ChainsView<Sampler, Real>& c, Before when, bool adapting) const {
    bool found = false;
    table(c, adapting, 0, [&](Before w, Times, const Row<Real>&, const Row<Real>&) { found = found || w == when; });
    return found;
  }
  void make(const ChainsView<Sampler, Real>& c, Before when, bool adapting, Index first, Index last) const {
    const Index row = row_of(c);
    table(c, adapting, first, [&](Before w, Times times, const Row<Real>& from, const Row<Real>& to) {
      if (w == when)
        product(context_, times == Times::lower ? CUBLAS_OP_N : CUBLAS_OP_T, c.dim, last - first, c.dim, square_.data(),
                row, from.data, row, to.data, row);
    });
  }

 private:
  static Index row_of(const ChainsView<Sampler, Real>& c) { return static_cast<Index>(c.exchange.row); }
  /// Its rows are those of chain `first`; the next chain's lie `row_of` further.
  template <class Visit>
  static void table(const ChainsView<Sampler, Real>& c, bool adapting, Index first, Visit&& visit) {
    const auto st = c.template state<32>(first);
    Sampler::products(visit, c.settings, adapting, st, c.exchange.query(first), c.exchange.reply(first));
  }

  Context context_;
  bool together_ = false, stale_ = true;
  Buffer<Real> square_;
};

/// Of samplers that move freely: nothing.
template <class Sampler, class Real>
requires(Sampler::moves == Moves::freely) class FactorProducts<Sampler, Real> {
 public:
  FactorProducts(const Context&, const ChainsView<Sampler, Real>&) {}
  static std::size_t bytes(Index, Index, Scope, const typename Sampler::Settings&) { return 0; }
  void choose(const ChainsView<Sampler, Real>&, bool) {}
  void changed() {}
  bool together() const { return false; }
  static std::string text(const ChainsView<Sampler, Real>&, bool) { return ""; }
};

}  // namespace kilochain::cuda
