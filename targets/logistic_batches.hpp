// What the CPU's evaluators for many chains share: how chains are brought together, and the prior.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <numbers>

#include "kernels/device/team.hpp"
#include "targets/target.hpp"

namespace kilochain {

/// A way of computing many chains' answers at once.
template <class Real>
class ManyChains {
 public:
  virtual ~ManyChains() = default;
  /// Answers the queries of chains first..last-1 whose needs are not `nothing`. Threads call it side by side.
  virtual void evaluate(const Exchange<Real>& exchange, Index first, Index last) const = 0;
};

}  // namespace kilochain

namespace kilochain::logistic {

// 20 or 25 accumulators of AVX-512's 32 registers, 12 of AVX's 16.
#if defined(__AVX512F__)
constexpr int micro = 5;            ///< chains in a micro-kernel
constexpr int feature_tile = 5;     ///< features in a micro-kernel of products
constexpr Index group = 2 * micro;  ///< chains whose residuals stay in L1 together, at most
#else
constexpr int micro = 3, feature_tile = 4;
constexpr Index group = 4 * micro;
#endif
constexpr Index batch = (65 + micro - 1) / micro * micro;  ///< chains whose sums are kept at once

/// Chains in sets of at most `micro`, as even as can be: 32 are 5 5 5 5 4 4 4, since a set of 2 takes nearly the
/// time of 5.
struct Sets {
  Index count, sets = (count + micro - 1) / micro, size = count / sets, larger = count % sets;
  Index first(Index set) const { return set * size + std::min(set, larger); }
  Index width(Index set) const { return size + (set < larger); }
};

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

/// run(needs, chains, count) for the chains of first..last-1 that want the same, at most `most` at a time.
template <class Real, class Run>
void in_batches(const Exchange<Real>& exchange, Index first, Index last, Run&& run, Index most = batch) {
  Index chains[batch];
  for (const Needs needs : {Needs::gradient, Needs::value, Needs::hessian_vector}) {
    Index count = 0;
    for (Index c = first; c < last; ++c) {
      if (exchange.needs[c] == needs) chains[count++] = c;
      if (count < most && (c + 1 < last || count == 0)) continue;
      run(needs, chains, count);
      count = 0;
    }
  }
}

/// w ~ N(0, s^2 I), n weights.
struct Prior {
  Prior() = default;
  Prior(double sd, Index n)
      : inverse_variance(1 / (sd * sd)), log_constant(-n * (std::log(sd) + 0.5 * std::log(2 * std::numbers::pi))) {}
  double inverse_variance = 1, log_constant = 0;

  /// Answers a query: from the likelihood's value, and sum(j), coordinate j of its gradient or Hessian product.
  template <class Real, class Sum>
  void answer(Needs needs, Index n, const Query<Real>& query, const Reply<Real>& reply, double likelihood,
              Sum&& sum) const {
    const bool hessian = needs == Needs::hessian_vector;
    const Real *at = hessian ? query.direction : query.point, scale = Real(inverse_variance);
    Real* out = hessian ? reply.hessian_vector : reply.gradient;
    if (needs != Needs::value)
      for (Index j = 0; j < n; ++j) out[j] = sum(j) - scale * at[j];
    if (hessian) return;
    const double square = HostTeam{}.sum<double>(n, [&](Index j) { return double(at[j]) * double(at[j]); });
    *reply.lp = likelihood - 0.5 * inverse_variance * square + log_constant;
  }
};

}  // namespace kilochain::logistic
