// Log densities of vectors, counts and matrices, as model/densities.hpp: names and parameters are Stan's,
// categories and indices count from 0. An array has x[i] and x.size(), a matrix L(i, j) and L.rows(). `p`,
// the model's Parameters, lends the room to compute in.
// Cost: n^2 / 2 multiply-adds for multi_normal_cholesky_lp, n^3 / 6 for cholesky_decompose;
// on a tape a node an element.
#pragma once
#include "model/densities.hpp"
#include "model/room.hpp"

namespace kilochain {

namespace model_detail {
/// x[i], or x where it is one number for all.
template <class X>
KC_INLINE auto element(const X& x, [[maybe_unused]] Index i) {
  if constexpr (requires { x[i]; })
    return x[i];
  else
    return x;
}
}  // namespace model_detail

/// The logarithm of the sum of e^x(k) over k < n, without overflow: one node of a tape. Asks for each x(k) three times.
template <class X>
KC_INLINE auto log_sum_exp(Index n, const X& x) {
  using T = std::remove_cvref_t<decltype(x(0))>;
  double most = outside;
  for (Index k = 0; k < n; ++k) {
    const double v = value_of(x(k));
    if (!(v <= most)) most = v;
  }
  if (most == outside) return T(outside);
  if constexpr (is_var<T>) {
    auto& tape = *Tape<decltype(T::v)>::current;
    const std::size_t from = tape.waiting();
    decltype(T::v) sum = 0.0;
    for (Index k = 0; k < n; ++k) sum += exp(x(k).v - most);
    for (Index k = 0; k < n; ++k) {
      const T term = x(k);
      tape.wait(term.node, exp(term.v - most) / sum);
    }
    return T{log(sum) + most, tape.result_of_waiting(from)};
  } else {
    T sum = 0.0;
    for (Index k = 0; k < n; ++k) sum += exp(x(k) - most);
    return T(log(sum) + most);
  }
}

/// y: one of 0 .. K - 1, logits: K of them.
template <class X>
KC_INLINE auto categorical_logit_lp(double y, const X& logits) {
  return logits[static_cast<Index>(y)] -
         log_sum_exp(static_cast<Index>(logits.size()), [&](Index k) { return logits[k]; });
}
/// y: one of 0 .. K - 1, cut: K - 1 of them in order; y <= k has the log odds cut[k] - eta.
template <class E, class C>
KC_INLINE auto ordered_logistic_lp(double y, const E& eta, const C& cut) {
  const Index k = static_cast<Index>(y), last = static_cast<Index>(cut.size());
  using T = std::remove_cvref_t<decltype(cut[0] - eta)>;
  if (k == 0) return T(log_inv_logit(T(cut[0] - eta)));
  if (k == last) return T(log_inv_logit(T(eta - cut[k - 1])));
  const auto below = cut[k - 1], above = cut[k];
  return T(in_one_node(
      [](const auto& eta, const auto& below, const auto& above) {
        return log(-expm1(below - above)) - log1p_exp(below - eta) - log1p_exp(eta - above);
      },
      eta, below, above));
}
/// y: counts of K kinds, theta: a point of the simplex.
template <class Y, class P>
KC_INLINE auto multinomial_lp(const Y& y, const P& theta) {
  const Index K = static_cast<Index>(theta.size());
  double n = 0, constant = 0;
  for (Index k = 0; k < K; ++k) n += y[k], constant -= ::lgamma(y[k] + 1);
  std::remove_cvref_t<decltype(theta[0])> lp = constant + ::lgamma(n + 1);
  for (Index k = 0; k < K; ++k)
    if (y[k] > 0) lp += y[k] * log(theta[k]);
  return lp;
}

/// The Cholesky factor of A, of which the lower triangle is read, in its place: NaN where A is not positive definite.
template <class T>
KC_INLINE void cholesky_decompose(const Values2<T>& A) {
  const Index n = A.rows();
  for (Index j = 0; j < n; ++j) {
    const auto rest = [&](Index i) -> T {
      return A(i, j) - sum_of_products(
                           j, [&](Index k) { return A(i, k); }, [&](Index k) { return A(j, k); });
    };
    A(j, j) = sqrt(rest(j));
    for (Index i = j + 1; i < n; ++i) A(i, j) = rest(i) / A(j, j), A(j, i) = 0.0;
  }
}
/// y and mean: n of them, or one mean for all; L: the Cholesky factor of the covariance.
template <class Y, class M, class F, class P>
KC_INLINE typename P::Scalar multi_normal_cholesky_lp(const Y& y, const M& mean, const F& L, P& p) {
  using T = typename P::Scalar;
  const Index n = static_cast<Index>(y.size());
  const auto borrowed = p.borrow();
  const auto z = p.array(n, "multi_normal");
  T lp = -0.5 * log_2pi * n;
  for (Index i = 0; i < n; ++i) {
    const auto row = sum_of_products(
        i, [&](Index k) { return L(i, k); }, [&](Index k) -> T { return z[k]; });
    z[i] = (y[i] - model_detail::element(mean, i) - row) / L(i, i);
    lp -= 0.5 * square(z[i]) + log(L(i, i));
  }
  return lp;
}
/// Sigma: the covariance, of which the lower triangle is read.
template <class Y, class M, class S, class P>
KC_INLINE typename P::Scalar multi_normal_lp(const Y& y, const M& mean, const S& Sigma, P& p) {
  const Index n = static_cast<Index>(y.size());
  const auto borrowed = p.borrow();
  const auto L = p.matrix(n, n, "multi_normal");
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) L(i, j) = Sigma(i, j);
  cholesky_decompose(L);
  return multi_normal_cholesky_lp(y, mean, L, p);
}
/// The matrix alpha^2 exp(-|x_i - x_j|^2 / (2 rho^2)) of points x: an array of numbers, or the rows of a matrix.
template <class X, class A, class R, class P>
KC_INLINE Values2<typename P::Scalar> gp_exp_quad_cov(const X& x, const A& alpha, const R& rho, P& p) {
  using T = typename P::Scalar;
  constexpr bool numbers = requires { x[0]; };
  Index n;
  if constexpr (numbers)
    n = x.size();
  else
    n = x.rows();
  const auto K = p.matrix(n, n, "gp_exp_quad_cov");
  const T variance = square(T(alpha)), scale = -0.5 / square(T(rho));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      double distance = 0;
      if constexpr (numbers)
        distance = square(x[i] - x[j]);
      else
        for (Index k = 0; k < x.columns(); ++k) distance += square(x(i, k) - x(j, k));
      K(i, j) = K(j, i) = variance * exp(distance * scale);
    }
    K(i, i) = variance;
  }
  return K;
}
/// L: what cholesky_corr gives; eta > 0, 1 is flat over correlation matrices (Lewandowski, Kurowicka and Joe 2009).
template <class F, class E>
KC_INLINE auto lkj_corr_cholesky_lp(const F& L, const E& eta) {
  const Index K = L.rows();
  using T = std::remove_cvref_t<decltype(L(0, 0) * eta)>;
  T lp = 0.0;
  for (Index k = 1; k < K; ++k) {
    lp += (2.0 * eta + double(K - k - 3)) * log(L(k, k));
    lp += lgamma(eta + 0.5 * (K - 1)) - lgamma(eta + 0.5 * (K - 1 - k)) - 0.5 * k * log_pi;
  }
  return lp;
}

}  // namespace kilochain
