// How a model reads its parameters: by name, in order, each with its constraint. The same function of the model is called
// with numbers (its value), with duals (its derivatives) and to record: what it reads is what exists.
//   real, reals; positive, positives; lower, upper, interval; ordered, positive_ordered, simplex; report for other values
#pragma once
#include <type_traits>

#include "model/transforms.hpp"

namespace kilochain {

/// Sizes that a model knows when it is compiled: p.simplex("weights", size<3>).
template <int N>
inline constexpr std::integral_constant<int, N> size{};

/// One recorded variable.
struct RecordedBlock {
  static constexpr int most = 64;
  const char* name;
  Index size;  ///< 0: a number
};
/// Where a model's values go when it is called to record. Plain memory: models are compiled for devices too.
struct Record {
  RecordedBlock blocks[RecordedBlock::most] = {};
  Index num_blocks = 0, num_values = 0;
  double* values = nullptr;  ///< (num_values), or null to count only
};

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

template <class T>
class Parameters {
 public:
  using Scalar = T;
  KC_INLINE explicit Parameters(const Coordinates<T>& coordinates, Record* record = nullptr)
      : u_(coordinates), record_(record) {}

  /// Elements computed when they are asked for.
  template <bool positive>
  struct View {
    Coordinates<T> u;
    Index first, count;
    KC_INLINE T operator[](Index i) const {
      if constexpr (positive)
        return exp(u(first + i));
      else
        return u(first + i);
    }
    KC_INLINE Index size() const { return count; }
    /// For dot: quicker than the sum of its terms.
    KC_INLINE T weigh(const double* weight, Index n) const requires(!positive) { return u.weigh(weight, first, n); }
  };
  template <int N>
  struct Array {
    T values[N];
    KC_INLINE const T& operator[](Index i) const { return values[i]; }
    static constexpr Index size() { return N; }
  };

  KC_INLINE T real(const char* name) { return number(name, u_(at_++)); }
  KC_INLINE T positive(const char* name) { return lower(name, 0.0); }
  KC_INLINE T lower(const char* name, double bound) {
    return number(name, transforms::lower(u_(at_++), bound, log_jacobian_));
  }
  KC_INLINE T upper(const char* name, double bound) {
    return number(name, transforms::upper(u_(at_++), bound, log_jacobian_));
  }
  KC_INLINE T interval(const char* name, double low, double high) {
    return number(name, transforms::interval(u_(at_++), low, high, log_jacobian_));
  }
  KC_INLINE View<false> reals(const char* name, Index n) {
    const View<false> out{u_, at_, n};
    at_ += n;
    report(name, n, [&](Index i) { return out[i]; });
    return out;
  }
  KC_INLINE View<true> positives(const char* name, Index n) {
    const View<true> out{u_, at_, n};
    for (Index i = 0; i < n; ++i) log_jacobian_ += u_(at_ + i);
    at_ += n;
    report(name, n, [&](Index i) { return out[i]; });
    return out;
  }
  template <int N>
  KC_INLINE Array<N> ordered(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N>(name, [](auto&& u, T* x, T& log_jacobian) { transforms::ordered<N>(u, x, log_jacobian); });
  }
  template <int N>
  KC_INLINE Array<N> positive_ordered(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N>(
        name, [](auto&& u, T* x, T& log_jacobian) { transforms::positive_ordered<N>(u, x, log_jacobian); });
  }
  template <int N>
  KC_INLINE Array<N> simplex(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N - 1>(name,
                                 [](auto&& u, T* x, T& log_jacobian) { transforms::simplex<N>(u, x, log_jacobian); });
  }

  /// Records a value beside the parameters, under its own name.
  KC_INLINE void report(const char* name, const T& value) { number(name, value); }
  /// Records value(0) .. value(n - 1).
  template <class F>
  KC_INLINE void report(const char* name, Index n, const F& value) {
    if constexpr (std::is_same_v<T, double>)
      if (record_) {
        double* to = add(name, n, n);
        for (Index i = 0; to && i < n; ++i) to[i] = value(i);
      }
  }

  KC_INLINE const T& log_jacobian() const { return log_jacobian_; }
  KC_INLINE Index num_coordinates() const { return at_; }
  /// Whether this call records: values that are only reported need not be computed otherwise.
  KC_INLINE bool recording() const { return record_ != nullptr; }

 private:
  KC_INLINE T number(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, double>)
      if (record_) {
        double* to = add(name, 0, 1);
        if (to) *to = value;
      }
    return value;
  }
  template <int N, int Reals, class F>
  KC_INLINE Array<N> constrained(const char* name, const F& transform) {
    Array<N> out;
    const Index from = at_;
    transform([&](Index k) { return u_(from + k); }, out.values, log_jacobian_);
    at_ += Reals;
    report(name, N, [&](Index i) { return out[i]; });
    return out;
  }
  KC_INLINE double* add(const char* name, Index size, Index count) {
    Record& r = *record_;
    if (r.num_blocks < RecordedBlock::most) r.blocks[r.num_blocks] = {name, size};
    ++r.num_blocks;
    double* to = r.values ? r.values + r.num_values : nullptr;
    r.num_values += count;
    return to;
  }

  Coordinates<T> u_;
  Record* record_;
  Index at_ = 0;
  T log_jacobian_ = 0.0;
};

}  // namespace kilochain
