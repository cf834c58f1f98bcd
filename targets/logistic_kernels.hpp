// The inner loops of logistic_blocked.cpp, for blocks of 4 registers of observations, [feature][observation].
// logits: t = X w for C chains.  products: g += X^T r for J features and C chains.  residuals: t -> r in place.
// Registers: 4 x C accumulators, or J x C; every multiply-add is a vector of X times something of a chain.
#pragma once
#include <algorithm>

#include "kernels/device/math.hpp"
#include "kernels/device/pack.hpp"

namespace kilochain::logistic {

constexpr int block_packs = 4;
template <class Real>
constexpr int block_rows = block_packs* Pack<Real>::size;

/// t[c][observation of the block] = sum_j x[j][observation] w[c][j], in the order of j.
template <class Real, int C>
void logits(const Real* x, Index n, const Real* const* w, Real* t, std::size_t ld) {
  using P = Pack<Real>;
  typename P::Wide a[C][block_packs] = {};
  const Real* weight[C];
  for (int c = 0; c < C; ++c) weight[c] = w[c];
  for (Index j = 0; j < n; ++j, x += block_rows<Real>) {
    typename P::Wide v[block_packs];
    for (int k = 0; k < block_packs; ++k) v[k] = P::load(x + k * P::size);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const typename P::Wide b = P::all(weight[c][j]);
#pragma GCC unroll 4
      for (int k = 0; k < block_packs; ++k) a[c][k] += v[k] * b;
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 4
    for (int k = 0; k < block_packs; ++k) P::store(t + c * ld + k * P::size, a[c][k]);
}

/// g[c][j] += sum over the observations of `blocks` blocks of x[j] r[c], for J features from x on; `fresh`: = in place of +=.
template <class Real, int J, int C>
void products(const Real* x, std::size_t block_stride, Index blocks, const Real* r, std::size_t ld, Real* const* g, bool fresh) {
  using P = Pack<Real>;
  typename P::Wide a[J][C] = {};
  for (Index b = 0; b < blocks; ++b, x += block_stride, r += block_rows<Real>) {
    for (int k = 0; k < block_rows<Real>; k += P::size) {
      typename P::Wide v[J];
#pragma GCC unroll 8
      for (int j = 0; j < J; ++j) v[j] = P::load(x + j * block_rows<Real> + k);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const typename P::Wide residual = P::load(r + c * ld + k);
#pragma GCC unroll 8
        for (int j = 0; j < J; ++j) a[j][c] += v[j] * residual;
      }
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < C; ++c)
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j) {
      const Real sum = P::sum(a[j][c]);
      g[c][j] = fresh ? sum : g[c][j] + sum;
    }
}

/// What the residual pass gathers for one chain: sums over lanes of min(u, 0), and of log(1 + e^-|u|).
/// t: (rows) logits, replaced by residuals sign sigma(-u); sign: (rows). At most 64 registers of rows, so that the product
/// of the factors 1 + e^-|u| <= 2 cannot overflow and one logarithm for each lane suffices.
template <class Real>
__attribute__((noinline)) double residuals(Real* t, const Real* sign, Index rows) {
  using P = Pack<Real>;
  constexpr int lanes = P::size;
  Real linear[lanes] = {}, product[lanes];
  for (int l = 0; l < lanes; ++l) product[l] = 1;
  for (Index i = 0; i < rows; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      const Real s = sign[i + l], u = s * t[i + l], size = u > 0 ? u : -u;
      const Real e = math::exp(-size);
      const Real factor = e * (s * s) + Real(1), inverse = Real(1) / factor;
      t[i + l] = s * (u > 0 ? e * inverse : inverse);
      linear[l] += u > 0 ? Real(0) : u;
      product[l] *= factor;
    }
  double sum = 0;
  for (int l = 0; l < lanes; ++l) sum += double(linear[l]) - math::log(double(product[l]));
  return sum;
}

/// t: (rows) logits, replaced by -p (1 - p) slope.
template <class Real>
__attribute__((noinline)) void curvatures(Real* t, const Real* slope, Index rows) {
  for (Index i = 0; i < rows; ++i) {
    const Real size = t[i] > 0 ? t[i] : -t[i];
    const Real e = math::exp(-size), inverse = Real(1) / (e + Real(1));
    t[i] = -(e * inverse * inverse) * slope[i];
  }
}

}  // namespace kilochain::logistic
