#include "targets/logistic_blocked.hpp"

#include <array>
#include <utility>

#include "targets/logistic_kernels.hpp"

namespace kilochain {
namespace {

using namespace logistic;

constexpr std::size_t slab_bytes = 640 * 1024;  // of X: the rest of L2 is the chains'
constexpr std::size_t strip_bytes = 24 * 1024;  // of a block of X, for which logits stay in L1

template <class Real>
using LogitKernel = void (*)(const Real*, const std::int32_t*, Index, Index, const Real* const*, Real*, std::size_t,
                             std::ptrdiff_t);
template <class Real, int... K>
constexpr std::array<LogitKernel<Real>, micro> logit_table(std::integer_sequence<int, K...>) {
  return {logits<Real, K + 1>...};
}
template <class Real>
using ProductKernel = void (*)(const Real*, std::size_t, Index, const Real*, std::size_t, Real*, bool);
template <class Real, int... K>
constexpr std::array<ProductKernel<Real>, feature_tile * micro> product_table(std::integer_sequence<int, K...>) {
  return {products<Real, K / micro + 1, K % micro + 1>...};
}
template <class Real>
constexpr auto logit_kernels = logit_table<Real>(std::make_integer_sequence<int, micro>());
template <class Real>
constexpr auto product_kernels =
    product_table<Real>(std::make_integer_sequence<int, feature_tile * micro>());  // [features - 1][chains - 1]

}  // namespace

template <class Real>
BlockedLogistic<Real>::BlockedLogistic(const Design& design, double prior_sd, Arena<Real>& arena) {
  constexpr std::size_t rows = block_rows<Real>;
  const std::size_t n = design.columns, blocks = (design.rows + rows - 1) / rows;
  sign_ = arena.place(blocks * rows, [&](Real* to) {
    for (std::size_t i = 0; i < design.rows; ++i) to[i] = static_cast<Real>(2 * design.y[i] - 1);
  });
  x_ = arena.place(blocks * rows * n, [&](Real* to) {
    for (std::size_t i = 0; i < design.rows; ++i)
      for (std::size_t j = 0; j < n; ++j)
        to[(i / rows * n + j) * rows + i % rows] = static_cast<Real>(design.x[i * n + j]);
  });
  n_ = static_cast<Index>(n);
  prior_ = Prior(prior_sd, n_);
  num_blocks_ = static_cast<Index>(blocks);
  slab_ = std::clamp<Index>(static_cast<Index>(slab_bytes / (rows * n * sizeof(Real))), 1, max_packs / block_packs);
  padding_ = std::ldexp(1.0, -static_cast<int>(blocks * rows - design.rows));
}

template <class Real>
void BlockedLogistic<Real>::evaluate(const Exchange<Real>& exchange, Index first, Index last) const {
  in_batches(exchange, first, last, [&](Needs needs, const Index* chains, Index count) {
    if (count == 1 && needs != Needs::hessian_vector)
      run_one(exchange, needs == Needs::gradient, chains[0]);
    else
      run(exchange, needs, chains, count);
  });
}

template <class Real>
void BlockedLogistic<Real>::run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const {
  const bool hessian = needs == Needs::hessian_vector;
  constexpr Index rows = block_rows<Real>;
  const std::size_t block = static_cast<std::size_t>(rows) * n_,
                    ld = static_cast<std::size_t>(rows) * slab_ +
                         Register<Real>::size;  // no power of 2: columns would share cache sets
  const Index tiles = (n_ + feature_tile - 1) / feature_tile;
  constexpr std::size_t sums_size = product_size<Real>(feature_tile, micro);
  const std::size_t sums_row = sums_size * tiles;  // of micro chains
  Real* const t = thread_scratch<Real>(ld * group * 2 + sums_row * (batch / micro));
  Real* const sums = t + ld * group * 2;
  const Real* point[batch];
  const Real* direction[batch];
  double linear[batch] = {}, logarithm[batch] = {};
  const Sets all{count};
  for (Index c = 0; c < count; ++c)
    point[c] = exchange.query(chains[c]).point, direction[c] = exchange.query(chains[c]).direction;

  const auto fill = [&](const Real* const* vectors, Index first_set, Index end_set, const Real* x, Index blocks,
                        Real* to) {
    const Index strip = static_cast<Index>(strip_bytes / (rows * sizeof(Real)));
    for (Index b = 0; b < blocks; ++b)
      for (Index j = 0; j < n_; j += strip)
        for (Index s = first_set; s < end_set; ++s)
          logit_kernels<Real>[all.width(s) - 1](x + block * b, nullptr, j, std::min(n_, j + strip),
                                                vectors + all.first(s),
                                                to + ld * (all.first(s) - all.first(first_set)) + rows * b, ld, 0);
  };
  for (Index slab = 0; slab < num_blocks_; slab += slab_) {
    const Index blocks = std::min(slab_, num_blocks_ - slab), length = rows * blocks;
    const bool last = slab + blocks == num_blocks_;
    const Real* x = x_ + block * slab;
    for (Index first_set = 0; first_set < all.sets; first_set += group / micro) {
      const Index end_set = std::min(first_set + group / micro, all.sets), c0 = all.first(first_set),
                  here = all.first(end_set) - c0;
      fill(point, first_set, end_set, x, blocks, t);
      if (hessian) {
        fill(direction, first_set, end_set, x, blocks, t + ld * group);
        for (Index c = 0; c < here; ++c) curvatures(t + ld * c, t + ld * (group + c), length);
      } else {
        double product[group];
        for (Index c = 0; c < here; ++c) {
          const LogLikelihood l = residuals(t + ld * c, sign_ + static_cast<std::size_t>(rows) * slab, length);
          linear[c0 + c] += l.linear, product[c] = l.product * (last ? padding_ : 1.0);
        }
        add_logs(product, logarithm + c0, here);
      }
      if (needs == Needs::value) continue;
      // The next slab is fetched while the last chains use this one.
      const Index ahead = end_set < all.sets ? 0 : std::min(slab_, num_blocks_ - slab - blocks);
      for (Index tile = 0; tile < tiles; ++tile) {
        for (Index b = 0; b < ahead; ++b) {
          const Real* soon = x + block * (blocks + b) + static_cast<std::size_t>(rows) * tile * feature_tile;
          for (Index k = 0; k < rows * feature_tile; k += Register<Real>::size) __builtin_prefetch(soon + k, 0, 2);
        }
        for (Index s = first_set; s < end_set; ++s)
          product_kernels<Real>[(std::min(feature_tile, n_ - tile * feature_tile) - 1) * micro + all.width(s) - 1](
              x + static_cast<std::size_t>(rows) * tile * feature_tile, block, blocks, t + ld * (all.first(s) - c0), ld,
              sums + sums_row * s + sums_size * tile, slab == 0);
      }
    }
  }
  for (Index set = 0, c = 0; c < count; ++c) {
    set += c == all.first(set + 1);
    const Index place = c - all.first(set);
    const Real* from = sums + sums_row * set;  // [tile][chain][feature of the tile]
    prior_.answer(needs, n_, exchange.query(chains[c]), exchange.reply(chains[c]), linear[c] - logarithm[c],
                  [&](Index j) {
                    const Index tile = j / feature_tile, features = std::min(feature_tile, n_ - tile * feature_tile);
                    return from[sums_size * tile + place * features + j % feature_tile];
                  });
  }
}

/// One chain alone is bound by the bandwidth of the caches: each slab is read in memory's order, for its logits from
/// wherever X is, for its products from L2. The same sums in the same order as in `run`.
template <class Real>
void BlockedLogistic<Real>::run_one(const Exchange<Real>& exchange, bool gradient, Index chain) const {
  using P = Register<Real>;
  constexpr Index rows = block_rows<Real>;
  const std::size_t block = static_cast<std::size_t>(rows) * n_, ld = static_cast<std::size_t>(rows) * slab_;
  const std::size_t row = (static_cast<std::size_t>(n_) + P::size - 1) / P::size * P::size;
  Real* const t = thread_scratch<Real>(ld + row * (P::size + 1));
  Real *const g = t + ld, *const sums = g + row;
  std::fill_n(g, row * (P::size + 1), Real(0));
  const Real* point = exchange.query(chain).point;
  double linear = 0, logarithm = 0;
  for (Index slab = 0; slab < num_blocks_; slab += slab_) {
    const Index blocks = std::min(slab_, num_blocks_ - slab);
    const Real* x = x_ + block * slab;
    for (Index b = 0; b < blocks; ++b)
      logits<Real, 1>(x + block * b, nullptr, 0, n_, &point, t + static_cast<std::size_t>(rows) * b, ld);
    const LogLikelihood l = residuals(t, sign_ + static_cast<std::size_t>(rows) * slab, rows * blocks);
    const double product = l.product * (slab + blocks == num_blocks_ ? padding_ : 1.0);
    linear += l.linear;
    add_logs(&product, &logarithm, 1);
    if (!gradient) continue;
    products_of_one(x, n_, blocks, t, sums);
    add_panel_sums(n_, 1, sums, g, row);
  }
  prior_.answer(gradient ? Needs::gradient : Needs::value, n_, exchange.query(chain), exchange.reply(chain),
                linear - logarithm, [&](Index j) { return g[j]; });
}

template class BlockedLogistic<float>;
template class BlockedLogistic<double>;

}  // namespace kilochain
