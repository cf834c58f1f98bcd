// A model's real coordinates as the numbers that its derivatives need: plain, duals with seeds, or the tape's inputs.
#pragma once
#include "model/var.hpp"

namespace kilochain {

/// Coordinate i as a T: a number, a dual with its seed along coordinates seed, seed + 1, ..., or an input of the tape.
/// weigh: the sum of weight[i] times coordinate first + i, whose derivatives are the weights.
template <class T>
struct Coordinates;
template <>
struct Coordinates<double> {
  const double* x;  ///< null: all are 0, however many are asked for
  KC_INLINE double operator()(Index i) const { return x ? x[i] : 0.0; }
  KC_INLINE double weigh(const double* weight, Index first, Index n) const {
    return x ? weighted_sum(weight, x + first, n) : 0.0;
  }
};
template <int W>
struct Coordinates<Dual<double, W>> {
  const double* x;
  Index seed;
  KC_INLINE Dual<double, W> operator()(Index i) const {
    Dual<double, W> out(x[i]);
    for (int k = 0; k < W; ++k) out.d[k] = i == seed + k ? 1.0 : 0.0;
    return out;
  }
  KC_INLINE Dual<double, W> weigh(const double* weight, Index first, Index n) const {
    Dual<double, W> out(weighted_sum(weight, x + first, n));
    for (int k = 0; k < W; ++k) {
      const Index i = seed + k - first;
      if (i >= 0 && i < n) out.d[k] = weight[i];
    }
    return out;
  }
};
/// The same with values that move along `direction`.
template <int W>
struct Coordinates<Dual<Dual<double, 1>, W>> {
  const double *x, *direction;
  Index seed;
  KC_INLINE Dual<Dual<double, 1>, W> operator()(Index i) const {
    Dual<Dual<double, 1>, W> out(x[i]);
    out.v.d[0] = direction[i];
    for (int k = 0; k < W; ++k) out.d[k] = Dual<double, 1>(i == seed + k ? 1.0 : 0.0);
    return out;
  }
  KC_INLINE Dual<Dual<double, 1>, W> weigh(const double* weight, Index first, Index n) const {
    Dual<Dual<double, 1>, W> out(weighted_sum(weight, x + first, n));
    out.v.d[0] = weighted_sum(weight, direction + first, n);
    for (int k = 0; k < W; ++k) {
      const Index i = seed + k - first;
      if (i >= 0 && i < n) out.d[k] = weight[i];
    }
    return out;
  }
};
/// Inputs of the tape, 0, 1, ...
template <>
struct Coordinates<Var<double>> {
  const double* x;
  Var<double> operator()(Index i) const { return {x[i], i}; }
  Var<double> weigh(const double* weight, Index first, Index n) const {
    return {weighted_sum(weight, x + first, n), Tape<double>::current->weigh(weight, first, n)};
  }
};
template <>
struct Coordinates<Var<Dual<double, 1>>> {
  const double *x, *direction;
  Var<Dual<double, 1>> operator()(Index i) const {
    Dual<double, 1> value(x[i]);
    value.d[0] = direction[i];
    return {value, i};
  }
  Var<Dual<double, 1>> weigh(const double* weight, Index first, Index n) const {
    Dual<double, 1> value(weighted_sum(weight, x + first, n));
    value.d[0] = weighted_sum(weight, direction + first, n);
    return {value, Tape<Dual<double, 1>>::current->weigh(weight, first, n)};
  }
};

}  // namespace kilochain
