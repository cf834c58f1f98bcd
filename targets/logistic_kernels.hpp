// The inner loops of logistic_blocked.cpp, for blocks of 4 registers of observations, [feature][observation].
// logits: t = X w for C chains.  products: X^T r for J features and C chains.  residuals: t -> r in place.
// products_of_panels: X^T r where panels of zeros (one feature of one block) are not stored.
// Registers: 4 x C accumulators, or J x C; every multiply-add is a vector of X times something of a chain. The fewer of
// its two sides are held, the others come one by one. Sums run in an order that C does not change, so a chain's bits do
// not depend on its company.
#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/device/math.hpp"
#include "kernels/device/pack.hpp"

namespace kilochain::logistic {

constexpr int block_packs = 4;
/// Registers of observations in one call of residuals: 2 KB; with more than 64, a product of floats could overflow.
constexpr int max_packs = register_bytes == 64 ? 32 : 64;
template <class Real>
constexpr int block_rows{block_packs * Register<Real>::size};
/// Numbers that products adds for J features and C chains: whole registers.
template <class Real>
constexpr int product_size(int features, int chains) {
  return (features * chains + Register<Real>::size - 1) / Register<Real>::size * Register<Real>::size;
}

/// Keeps the compiler from reading a value again from memory at each use: loads, not products, would be the limit.
template <class V>
KC_INLINE V in_register(V v) {
#if defined(__AVX__) && !defined(__CUDACC__)
  asm("" : "+v"(v));
#endif
  return v;
}
/// each(m, n, left(m), right(n)) for all m < M, n < N.
template <int M, int N, class Left, class Right, class Each>
KC_INLINE void outer(Left&& left, Right&& right, Each&& each) {
  if constexpr (M <= N) {
    decltype(left(0)) held[M];
    KC_UNROLL
    for (int m = 0; m < M; ++m) held[m] = in_register(left(m));
    KC_UNROLL
    for (int n = 0; n < N; ++n) {
      const auto next = in_register(right(n));
      KC_UNROLL
      for (int m = 0; m < M; ++m) each(m, n, held[m], next);
    }
  } else {
    outer<N, M>(right, left, [&](int n, int m, auto b, auto v) { each(m, n, v, b); });
  }
}

/// A register of X: as it is stored, or from bytes.
template <class Real, class Stored>
KC_INLINE typename Register<Real>::Type load_stored(const Stored* x) {
  if constexpr (std::is_same_v<Real, Stored>)
    return Register<Real>::load(x);
  else
    return Register<Real>::load_bytes(x);
}
/// Fetches a part of a panel into L2: a half of what is stored as numbers, the whole of what is stored as bytes.
template <class Real, bool second, class Stored>
KC_INLINE void fetch(const Stored* panel) {
  constexpr int line = 64 / sizeof(Stored), lines = (block_rows<Real> + line - 1) / line, half = (lines + 1) / 2;
  KC_UNROLL
  for (int k = second ? half : 0; k < (second ? lines : half); ++k) __builtin_prefetch(panel + k * line, 0, 2);
}

/// t[c][observation of the block] = sum_j x[j][observation] w[c][j], in the order of j; panels first to last - 1, and
/// the sum goes on from t unless first is 0. Panel k is feature k, or `listed`: feature[k].
template <class Real, int C, bool listed = false, class Stored = Real>
void logits(const Stored* x, const std::int32_t* feature, Index first, Index last, const Real* const* w, Real* t,
            std::size_t ld, std::ptrdiff_t ahead = 0) {
  using P = Register<Real>;
  typename P::Wide a[C][block_packs] = {};
  const Real* weight[C];
  KC_UNROLL
  for (int c = 0; c < C; ++c) weight[c] = w[c];
  if (first != 0) {
    KC_UNROLL
    for (int c = 0; c < C; ++c) KC_UNROLL
    for (int k = 0; k < block_packs; ++k) a[c][k] = P::load(t + c * ld + k * P::size);
  }
  x += static_cast<std::size_t>(first) * block_rows<Real>;
  for (Index k = first; k < last; ++k, x += block_rows<Real>) {
    const Index j = listed ? feature[k] : k;
    if constexpr (listed) fetch<Real, false>(x + ahead);
    outer<block_packs, C>([&](int k) -> typename P::Wide { return load_stored<Real>(x + k * P::size); },
                          [&](int c) -> typename P::Wide { return P::all(weight[c][j]); },
                          [&](int k, int c, auto v, auto b) { a[c][k] = P::multiply_add(v, b, a[c][k]); });
  }
  KC_UNROLL
  for (int c = 0; c < C; ++c) KC_UNROLL
  for (int k = 0; k < block_packs; ++k) P::store(t + c * ld + k * P::size, a[c][k]);
}

/// g[c J + j] += sum over the observations of `blocks` blocks of x[j] r[c], for J features from x on, C chains from r
/// on; `fresh`: = in place of +=. g: product_size(J, C) numbers.
template <class Real, int J, int C>
void products(const Real* x, std::size_t block_stride, Index blocks, const Real* r, std::size_t ld, Real* g,
              bool fresh) {
  using P = Register<Real>;
  constexpr int all = product_size<Real>(J, C);
  typename P::Wide a[C * J] = {};
  for (Index b = 0; b < blocks; ++b, x += block_stride, r += block_rows<Real>) {
#pragma GCC unroll 1
    for (int k = 0; k < block_rows<Real>; k += P::size) {
      outer<J, C>(
          [&](int j) -> typename P::Wide { return P::load(x + j * block_rows<Real> + k); },
          [&](int c) -> typename P::Wide { return P::load(r + c * ld + k); },
          [&](int j, int c, auto v, auto residual) { a[c * J + j] = P::multiply_add(v, residual, a[c * J + j]); });
    }
  }
  KC_UNROLL
  for (int from = 0; from < all; from += P::size) {
    typename P::Type part[P::size] = {};
    KC_UNROLL
    for (int k = 0; k < P::size; ++k)
      if (from + k < C * J) part[k] = (typename P::Type)a[from + k];
    const auto sums = P::sums(part);
    P::store(g + from, fresh ? sums : P::load(g + from) + sums);
  }
}

/// sums[j][c] += x[j] r[c], lane by lane, for one block's `count` panels from x on, features feature[0] - first and so
/// on. `sums`: C registers for each feature.
template <class Real, int C, class Stored>
void products_of_panels(const Stored* x, const std::int32_t* feature, Index count, Index first, const Real* r,
                        std::size_t ld, Real* sums, std::ptrdiff_t ahead) {
  using P = Register<Real>;
  typename P::Wide residual[C][block_packs];
  KC_UNROLL
  for (int c = 0; c < C; ++c) KC_UNROLL
  for (int k = 0; k < block_packs; ++k) residual[c][k] = in_register(P::load(r + c * ld + k * P::size));
  for (Index p = 0; p < count; ++p, x += block_rows<Real>) {
    fetch<Real, true>(x + ahead);
    typename P::Wide v[block_packs];
    KC_UNROLL
    for (int k = 0; k < block_packs; ++k) v[k] = in_register(load_stored<Real>(x + k * P::size));
    Real* const sum = sums + static_cast<std::size_t>(feature[p] - first) * (C * P::size);
    KC_UNROLL
    for (int c = 0; c < C; ++c) {
      typename P::Wide a = P::load(sum + c * P::size);
      KC_UNROLL
      for (int k = 0; k < block_packs; ++k) a = P::multiply_add(v[k], residual[c][k], a);
      P::store(sum + c * P::size, a);
    }
  }
}
/// g[c][j] += the sum over the lanes of sums[j][c], which becomes 0, for whole registers of features.
template <class Real>
void add_panel_sums(Index features, Index chains, Real* sums, Real* g, std::size_t ld) {
  using P = Register<Real>;
  for (Index j = 0; j < features; j += P::size)
    for (Index c = 0; c < chains; ++c) {
      typename P::Type part[P::size];
      for (int k = 0; k < P::size; ++k) {
        Real* const sum = sums + static_cast<std::size_t>((j + k) * chains + c) * P::size;
        part[k] = P::load(sum);
        P::store(sum, P::all(Real(0)));
      }
      Real* const to = g + ld * c + j;
      P::store(to, P::load(to) + P::sums(part));
    }
}

/// products for one chain and all n features, in the order in which X lies in memory: sums[j] += x[j] r, lane by lane.
/// `sums`: n registers; add_panel_sums reduces them as products does, so that the result has the same bits.
template <class Real>
void products_of_one(const Real* x, Index n, Index blocks, const Real* r, Real* sums) {
  using P = Register<Real>;
  for (Index b = 0; b < blocks; ++b, r += block_rows<Real>) {
    typename P::Wide residual[block_packs];
    KC_UNROLL
    for (int k = 0; k < block_packs; ++k) residual[k] = P::load(r + k * P::size);
    for (Index j = 0; j < n; ++j, x += block_rows<Real>) {
      typename P::Wide a = P::load(sums + j * P::size);
      KC_UNROLL
      for (int k = 0; k < block_packs; ++k) a = P::multiply_add(P::load(x + k * P::size), residual[k], a);
      P::store(sums + j * P::size, a);
    }
  }
}
/// e^x for x <= 0 in every lane: math::exp without what only large results need; below the range, the smallest result.
template <class Real>
KC_INLINE typename Register<Real>::Wide exp_falling(typename Register<Real>::Wide x) {
  using P = Register<Real>;
  using B = math::Bits<Real>;
  using V = typename P::Wide;
  const V lowest = P::all(B::lowest), c = lowest > x ? lowest : x;  // this way round a NaN stays
  const V shifted = c * Real(1.4426950408889634074) + B::magic, k = shifted - B::magic;
  const V r = (c - k * B::ln2_high) - k * B::ln2_low;
  // Float: the term r^7/7! of Taylor's series is spread over its odd powers by T_7 on |r| <= a = ln2/2 (error 2e-9).
  constexpr bool single = sizeof(Real) == 4;
  constexpr int terms = single ? 6 : B::exp_terms;
  constexpr double a2 = 0.34657359 * 0.34657359, spread = single ? 1.0 / 5040 : 0;
  double factorial = 1;
  KC_UNROLL
  for (int i = 2; i <= terms; ++i) factorial *= i;
  V p = P::all(Real(1 / factorial));
  KC_UNROLL
  for (int i = terms - 1; i >= 0; --i) {
    factorial /= i + 1;
    const double more = i == 5 ? 1.75 * a2 : (i == 3 ? -0.875 * a2 * a2 : (i == 1 ? 0.109375 * a2 * a2 * a2 : 0));
    p = p * r + Real(1 / factorial + spread * more);
  }
  // The integer k stands in the low bits of `shifted`; those of the magic number itself leave at the top.
  const typename P::Ints scale =
      ((typename P::Ints)shifted << B::mantissa) + (typename P::Int(B::exponent_one) << B::mantissa);
  return p * (V)scale;
}

/// What residuals gathers over observations: sum log sigma(u) = sum min(u, 0) - log(product of all 1 + e^-|u|).
struct LogLikelihood {
  double linear, product;  ///< product <= 2^512: no overflow
};

template <class Real, class Combine>
KC_INLINE double over_lanes(typename Register<Real>::Wide v, Combine&& combine) {
  double part[Register<Real>::size];
  for (int l = 0; l < Register<Real>::size; ++l) part[l] = double(v[l]);
  KC_UNROLL
  for (int half = Register<Real>::size / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) part[l] = combine(part[l], part[l + half]);
  return part[0];
}

/// t: (rows) logits, replaced by residuals sign sigma(-u); sign: (rows), at most max_packs registers. A row of padding
/// (X = 0, sign = 0) multiplies the product by exactly 2.
template <class Real>
__attribute__((noinline)) LogLikelihood residuals(Real* t, const Real* sign, Index rows) {
  using P = Register<Real>;
  using V = typename P::Wide;
  V twice{}, product = P::all(1);
  for (Index i = 0; i < rows; i += P::size) {
    const V s = P::load(sign + i), u = s * P::load(t + i);
    const V falling = (V)((typename P::Ints)u | (typename P::Ints)P::all(Real(-0.0)));  // -|u|
    const V e = exp_falling<Real>(falling), factor = e + 1;
    P::store(t + i, s * (u > 0 ? e : P::all(1)) / factor);
    twice += u + falling;  // 2 min(u, 0)
    product *= factor;
  }
  return {0.5 * over_lanes<Real>(twice, [](double a, double b) { return a + b; }),
          over_lanes<Real>(product, [](double a, double b) { return a * b; })};
}

/// sum[c] += log x[c]: the chains fill the lanes. (Not inlined: GCC 12 assumes an alignment of its caller's arrays that
/// it did not give them.)
inline __attribute__((noinline)) void add_logs(const double* x, double* sum, Index count) {
  for (Index c = 0; c < count; ++c) sum[c] += math::log(x[c]);
}

/// t: (rows) logits, replaced by -p (1 - p) slope.
template <class Real>
__attribute__((noinline)) void curvatures(Real* t, const Real* slope, Index rows) {
  using P = Register<Real>;
  using V = typename P::Wide;
  for (Index i = 0; i < rows; i += P::size) {
    const V u = P::load(t + i), e = exp_falling<Real>((V)((typename P::Ints)u | (typename P::Ints)P::all(Real(-0.0))));
    const V factor = e + 1;
    P::store(t + i, -e / (factor * factor) * (V)P::load(slope + i));
  }
}

}  // namespace kilochain::logistic
