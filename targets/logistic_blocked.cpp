#include "targets/logistic_blocked.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "targets/logistic_kernels.hpp"

namespace kilochain {
namespace {

using namespace logistic;

constexpr int max_logit_chains = 6, max_features = 6, max_product_chains = 4;  // 24 accumulators of 32 registers
constexpr Index group = 12;                                                    // chains whose residuals stay in L1
constexpr std::size_t slab_bytes = 384 * 1024;                                 // of X: the rest of L2 is the chains'
constexpr Index max_slab_packs = 64;                                           // logistic::residuals

template <class Real>
void all_logits(const Real* x, Index n, int count, const Real* const* w, Real* t, std::size_t ld) {
  using Kernel = void (*)(const Real*, Index, const Real* const*, Real*, std::size_t);
  static constexpr Kernel kernels[max_logit_chains] = {logits<Real, 1>, logits<Real, 2>, logits<Real, 3>, logits<Real, 4>, logits<Real, 5>, logits<Real, 6>};
  kernels[count - 1](x, n, w, t, ld);
}

template <class Real>
using Product = void (*)(const Real*, std::size_t, Index, const Real*, std::size_t, Real* const*, bool);
template <class Real, int... K>
constexpr auto product_table(std::integer_sequence<int, K...>) {
  return std::array<Product<Real>, sizeof...(K)>{products<Real, K / max_product_chains + 1, K % max_product_chains + 1>...};
}
template <class Real>
constexpr auto product_kernels = product_table<Real>(std::make_integer_sequence<int, max_features * max_product_chains>());

/// 64-byte aligned memory of this thread that only grows.
template <class Real>
Real* thread_scratch(std::size_t count) {
  struct Free {
    void operator()(Real* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  thread_local std::unique_ptr<Real[], Free> memory;
  thread_local std::size_t size = 0;
  if (size < count) {
    memory.reset(new (std::align_val_t(64)) Real[count]());
    size = count;
  }
  return memory.get();
}

}  // namespace

template <class Real>
BlockedLogistic<Real>::BlockedLogistic(const Design& design, double prior_sd, Arena<Real>& arena) {
  constexpr std::size_t rows = block_rows<Real>;
  const std::size_t n = design.columns, blocks = (design.rows + rows - 1) / rows;
  std::vector<double> buffer(blocks * rows, 0.0);
  for (std::size_t i = 0; i < design.rows; ++i) buffer[i] = 2 * design.y[i] - 1;
  sign_ = arena.put(buffer);
  buffer.assign(blocks * rows * n, 0.0);
  for (std::size_t i = 0; i < design.rows; ++i)
    for (std::size_t j = 0; j < n; ++j) buffer[(i / rows * n + j) * rows + i % rows] = design.x[i * n + j];
  x_ = arena.put(buffer);
  inverse_variance_ = 1 / (prior_sd * prior_sd);
  log_constant_ = -static_cast<double>(n) * (std::log(prior_sd) + 0.5 * std::log(2 * std::numbers::pi));
  n_ = static_cast<Index>(n);
  num_blocks_ = static_cast<Index>(blocks);
  slab_ = std::clamp<Index>(static_cast<Index>(slab_bytes / (rows * n * sizeof(Real))), 1, max_slab_packs / block_packs);
}

template <class Real>
void BlockedLogistic<Real>::evaluate(const Exchange<Real>& exchange, Index first, Index last) const {
  for (const Needs needs : {Needs::gradient, Needs::value, Needs::hessian_vector}) {
    std::vector<Index> chains;
    for (Index c = first; c < last; ++c)
      if (exchange.needs[c] == needs) chains.push_back(c);
    if (!chains.empty()) run(exchange, needs, chains);
  }
}

template <class Real>
void BlockedLogistic<Real>::run(const Exchange<Real>& exchange, Needs needs, const std::vector<Index>& chains) const {
  const bool hessian = needs == Needs::hessian_vector;
  const Index count = static_cast<Index>(chains.size());
  const std::size_t rows = block_rows<Real>, block = rows * n_, ld = rows * slab_;
  Real* const t = thread_scratch<Real>(ld * group * (hessian ? 2 : 1));
  std::vector<const Real*> w, direction;
  std::vector<Real*> g;
  std::vector<double> lp(chains.size(), 0.0);
  for (const Index c : chains) {
    w.push_back(exchange.query(c).point), direction.push_back(exchange.query(c).direction);
    g.push_back(hessian ? exchange.reply(c).hessian_vector : exchange.reply(c).gradient);
  }
  const auto fill = [&](const Real* const* vectors, Index chains_here, const Real* x, Index blocks, Real* to) {
    for (Index c = 0; c < chains_here; c += max_logit_chains)
      for (Index b = 0; b < blocks; ++b)
        all_logits(x + block * b, n_, std::min(max_logit_chains, chains_here - c), vectors + c, to + ld * c + rows * b, ld);
  };
  for (Index slab = 0; slab < num_blocks_; slab += slab_) {
    const Index blocks = std::min(slab_, num_blocks_ - slab), length = static_cast<Index>(rows) * blocks;
    const Real *x = x_ + block * slab, *sign = sign_ + rows * slab;
    for (Index c0 = 0; c0 < count; c0 += group) {
      const Index here = std::min(group, count - c0);
      fill(&w[c0], here, x, blocks, t);
      if (hessian) fill(&direction[c0], here, x, blocks, t + ld * group);
      for (Index c = 0; c < here; ++c) {
        if (hessian)
          curvatures(t + ld * c, t + ld * (group + c), length);
        else
          lp[c0 + c] += residuals(t + ld * c, sign, length);
      }
      if (needs == Needs::value) continue;
      for (Index j = 0; j < n_; j += max_features) {
        const int features = std::min(max_features, n_ - j);
        for (Index c = 0; c < here; c += max_product_chains) {
          const int width = std::min(max_product_chains, here - c);
          Real* to[max_product_chains];
          for (int k = 0; k < width; ++k) to[k] = g[c0 + c + k] + j;
          product_kernels<Real>[(features - 1) * max_product_chains + width - 1](x + rows * j, block, blocks, t + ld * c, ld, to, slab == 0);
        }
      }
    }
  }
  for (Index c = 0; c < count; ++c) {
    const Real* prior = hessian ? direction[c] : w[c];
    if (needs != Needs::value)
      for (Index j = 0; j < n_; ++j) g[c][j] -= Real(inverse_variance_) * prior[j];
    if (hessian) continue;
    const double square = HostTeam{}.sum<double>(n_, [&](Index j) { return double(prior[j]) * double(prior[j]); });
    exchange.lp[chains[c]] = lp[c] - 0.5 * inverse_variance_ * square + log_constant_;
  }
}

template class BlockedLogistic<float>;
template class BlockedLogistic<double>;

}  // namespace kilochain
