// What one chain tells an adaptation after one iteration, and where an adaptation reads it: from one chain
// (ChainSource), or as the mean over all chains (PooledSource). Both answer alike, so an adaptation is written once:
//   source(i, j, offset)   entry of the matrix sum_k a_k b_k^T; offset: its place in the factor's layout
//   source.column(first, j, offset)   entries (first .. first + pack size, j), on the CPU;   source.vector(i)
//   source.acceptance(), source.chains()   mean acceptance, and of how many chains
#pragma once
#include "kernels/contract.hpp"

namespace kilochain {

/// Outer products sum_k a_k b_k^T (lower triangle, or their diagonal), a vector, and the acceptance.
template <class Real>
struct Signal {
  static constexpr int max_rank = 6;
  int rank = 0;
  Row<Real> a[max_rank] = {};
  Row<Real> b[max_rank] = {};
  Row<Real> vector = {};  ///< null where About::signals_vector is false
  double acceptance = 0;
};

/// The signal of a sampler that learns from its acceptance alone.
template <class Real>
KC_INLINE Signal<Real> acceptance_signal(double acceptance) {
  Signal<Real> out;
  out.acceptance = acceptance;
  return out;
}
/// The signal of one outer product a b^T.
template <class Real>
KC_INLINE Signal<Real> outer_signal(double acceptance, Row<Real> a, Row<Real> b) {
  Signal<Real> out = acceptance_signal<Real>(acceptance);
  out.rank = 1;
  out.a[0] = a, out.b[0] = b;
  return out;
}

/// How many numbers a signal's vector has: n, or what the sampler's vector_length(settings, n) says.
template <class Sampler, class Settings>
KC_HD Index vector_length(const Settings& settings, Index n) {
  if constexpr (requires { Sampler::vector_length(settings, n); })
    return Sampler::vector_length(settings, n);
  else
    return n;
}

/// One chain's signal.
template <class Real>
struct ChainSource {
  static constexpr bool pooled = false;
  Signal<Real> s;
  KC_INLINE Real operator()(Index i, Index j, std::size_t) const {
    Real v = 0;
    KC_UNROLL  // so that a device keeps the pointers in registers
    for (int k = 0; k < Signal<Real>::max_rank; ++k)
      if (k < s.rank) v += s.a[k][i] * s.b[k][j];
    return v;
  }
  KC_INLINE auto column(Index first, Index j, std::size_t) const {
    auto v = Pack<Real>::load(s.a[0].data + first) * s.b[0][j];
    for (int k = 1; k < s.rank; ++k) v += Pack<Real>::load(s.a[k].data + first) * s.b[k][j];
    return v;
  }
  KC_INLINE Real vector(Index i) const { return s.vector[i]; }
  KC_INLINE double acceptance() const { return s.acceptance; }
  KC_INLINE double chains() const { return 1; }
};

/// The mean over chains: a matrix in the layout of the factor, and a vector.
template <class Real>
struct PooledSource {
  static constexpr bool pooled = true;
  const Real* matrix;
  const Real* mean_vector;
  double mean_acceptance;
  double num_chains;
  KC_INLINE Real operator()(Index, Index, std::size_t offset) const { return matrix[offset]; }
  KC_INLINE auto column(Index, Index, std::size_t offset) const { return Pack<Real>::load(matrix + offset); }
  KC_INLINE Real vector(Index i) const { return mean_vector[i]; }
  KC_INLINE double acceptance() const { return mean_acceptance; }
  KC_INLINE double chains() const { return num_chains; }
};

}  // namespace kilochain
