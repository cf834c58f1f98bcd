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
/// The point, in the numbers whose derivatives are taken: along a direction too where these carry one.
template <class Base>
struct PointOf;
template <>
struct PointOf<double> {
  const double* x;
  KC_INLINE double operator()(Index i) const { return x[i]; }
  KC_INLINE double weigh(const double* weight, Index first, Index n) const {
    return weighted_sum(weight, x + first, n);
  }
};
template <>
struct PointOf<Dual<double, 1>> {
  const double *x, *direction;
  KC_INLINE Dual<double, 1> operator()(Index i) const {
    Dual<double, 1> out(x[i]);
    out.d[0] = direction[i];
    return out;
  }
  KC_INLINE Dual<double, 1> weigh(const double* weight, Index first, Index n) const {
    Dual<double, 1> out(weighted_sum(weight, x + first, n));
    out.d[0] = weighted_sum(weight, direction + first, n);
    return out;
  }
};
template <class Base, int W>
struct Coordinates<Dual<Base, W>> {
  PointOf<Base> point;
  Index seed;
  KC_INLINE Dual<Base, W> operator()(Index i) const {
    Dual<Base, W> out;
    out.v = point(i);
    for (int k = 0; k < W; ++k) out.d[k] = i == seed + k ? 1.0 : 0.0;
    return out;
  }
  KC_INLINE Dual<Base, W> weigh(const double* weight, Index first, Index n) const {
    Dual<Base, W> out;
    out.v = point.weigh(weight, first, n);
    for (int k = 0; k < W; ++k) {
      const Index i = seed + k - first;
      if (i >= 0 && i < n) out.d[k] = weight[i];
    }
    return out;
  }
};
/// Inputs of the tape, 0, 1, ...
template <class Base>
struct Coordinates<Var<Base>> {
  PointOf<Base> point;
  Var<Base> operator()(Index i) const { return {point(i), i}; }
  Var<Base> weigh(const double* weight, Index first, Index n) const {
    return {point.weigh(weight, first, n), Tape<Base>::current->weigh(weight, first, n)};
  }
};

}  // namespace kilochain
