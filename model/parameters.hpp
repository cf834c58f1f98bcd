// How a model reads its parameters: by name, in order, each with its constraint. The same function of the model is
// called with numbers (its value), with duals or the tape (its derivatives) and to record: what it reads the first time
// is what exists, and every later evaluation is held to it (model/layout.hpp). Array elements are checked as data are.
//   real, reals; positive, positives; lower, upper, interval and lowers, uppers, intervals, whose bounds may depend on
//   parameters; ordered, positive_ordered, simplex and ordereds, positive_ordereds, simplexes; cholesky_corr
//   report for other values; add_jacobian for a change of variables of the model's own; array, matrix to compute in
#pragma once
#include <cstring>
#include <type_traits>

#include "model/arrays.hpp"
#include "model/coordinates.hpp"
#include "model/layout.hpp"
#include "model/room.hpp"
#include "model/transforms.hpp"

namespace kilochain {

/// Sizes that a model knows when it is compiled: p.simplex("weights", size<3>).
template <int N>
inline constexpr std::integral_constant<int, N> size{};

/// The numbers of an evaluation: scalar_of<Parameters> eta[3].
template <class P>
using scalar_of = typename std::remove_cvref_t<P>::Scalar;

template <class T>
class Parameters {
 public:
  using Scalar = T;
  /// layout: what is read; with its `variables` on the host, without on a device. room: as many Ts as it says.
  KC_INLINE Parameters(const Coordinates<T>& coordinates, const Layout& layout, T* room = nullptr)
      : u_(coordinates), layout_(layout), room_(room) {}
  /// An evaluation that records, on the host and with plain numbers.
  Parameters(const Coordinates<T>& coordinates, const Layout& layout, Recorder& recorder)
      : u_(coordinates), layout_(layout), recorder_(&recorder) {}

  /// Elements computed when they are asked for.
  template <bool positive>
  struct View {
    Coordinates<T> u;
    Index first, count;
    const char* name;
    KC_INLINE T operator[](Index i) const {
      if (model_detail::outside(i, count)) return model_detail::no_element(name, i, count);
      return unchecked(i);
    }
    KC_INLINE T unchecked(Index i) const {
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
    const char* name;
    KC_INLINE T operator[](Index i) const {
      if (model_detail::outside(i, N)) return model_detail::no_element(name, i, N);
      return values[i];
    }
    static constexpr Index size() { return N; }
  };

  KC_INLINE T real(const char* name) {
    return number(Kind::real, name, [](const T& u, T&) { return u; });
  }
  KC_INLINE T positive(const char* name) {
    return number(Kind::positive, name, [](const T& u, T& j) { return transforms::lower(u, 0.0, j); });
  }
  /// A bound is a number, or depends on parameters that were read before.
  template <class B>
  KC_INLINE T lower(const char* name, const B& bound) {
    return number(Kind::lower, name, [&](const T& u, T& j) { return transforms::lower(u, nth(bound, 0), j); });
  }
  template <class B>
  KC_INLINE T upper(const char* name, const B& bound) {
    return number(Kind::upper, name, [&](const T& u, T& j) { return transforms::upper(u, nth(bound, 0), j); });
  }
  template <class A, class B>
  KC_INLINE T interval(const char* name, const A& low, const B& high) {
    return number(Kind::interval, name,
                  [&](const T& u, T& j) { return transforms::interval(u, nth(low, 0), nth(high, 0), j); });
  }
  /// n of them; a bound is one for all, or an array of them.
  template <class B>
  KC_INLINE Values<T> lowers(const char* name, Index n, const B& bound) {
    return numbers(Kind::lowers, name, n,
                   [&](Index i, const T& u, T& j) { return transforms::lower(u, nth(bound, i), j); });
  }
  template <class B>
  KC_INLINE Values<T> uppers(const char* name, Index n, const B& bound) {
    return numbers(Kind::uppers, name, n,
                   [&](Index i, const T& u, T& j) { return transforms::upper(u, nth(bound, i), j); });
  }
  template <class A, class B>
  KC_INLINE Values<T> intervals(const char* name, Index n, const A& low, const B& high) {
    return numbers(Kind::intervals, name, n,
                   [&](Index i, const T& u, T& j) { return transforms::interval(u, nth(low, i), nth(high, i), j); });
  }
  KC_INLINE View<false> reals(const char* name, Index n) {
    const Slot at = next({name, n, n, Kind::reals});
    const View<false> out{u_, at.first, at.first < 0 ? 0 : n, name};
    write(at, n, [&](Index i) { return out.unchecked(i); });
    return out;
  }
  KC_INLINE View<true> positives(const char* name, Index n) {
    const Slot at = next({name, n, n, Kind::positives});
    const View<true> out{u_, at.first, at.first < 0 ? 0 : n, name};
    for (Index i = 0; i < out.count; ++i) log_jacobian_ += u_(at.first + i);
    write(at, n, [&](Index i) { return out.unchecked(i); });
    return out;
  }
  template <int N>
  KC_INLINE Array<N> ordered(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N>(Kind::ordered, name, [](auto&& u, T* x, T& j) { transforms::ordered(N, u, x, j); });
  }
  template <int N>
  KC_INLINE Array<N> positive_ordered(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N>(Kind::positive_ordered, name,
                             [](auto&& u, T* x, T& j) { transforms::positive_ordered(N, u, x, j); });
  }
  template <int N>
  KC_INLINE Array<N> simplex(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N - 1>(Kind::simplex, name, [](auto&& u, T* x, T& j) { transforms::simplex(N, u, x, j); });
  }
  /// The same of K that data say; and n of them, as rows.
  KC_INLINE Values<T> ordered(const char* name, Index K) { return ordereds(Kind::ordered, name, 1, K).row(0); }
  KC_INLINE Values<T> positive_ordered(const char* name, Index K) {
    return positive_ordereds(Kind::positive_ordered, name, 1, K).row(0);
  }
  KC_INLINE Values<T> simplex(const char* name, Index K) { return simplexes(Kind::simplex, name, 1, K).row(0); }
  KC_INLINE Values2<T> ordereds(const char* name, Index n, Index K) { return ordereds(Kind::ordereds, name, n, K); }
  KC_INLINE Values2<T> positive_ordereds(const char* name, Index n, Index K) {
    return positive_ordereds(Kind::positive_ordereds, name, n, K);
  }
  KC_INLINE Values2<T> simplexes(const char* name, Index n, Index K) { return simplexes(Kind::simplexes, name, n, K); }
  /// The Cholesky factor of a K x K correlation matrix: rows of length 1, 0 above the diagonal.
  KC_INLINE Values2<T> cholesky_corr(const char* name, Index K) {
    const Slot at = next({name, K * K, K * (K - 1) / 2, Kind::cholesky_corr, K});
    if (at.first < 0) return missing(name);
    const Values2<T> out = matrix(K, K, name);
    if (out.num_rows == 0) return out;
    transforms::cholesky_corr(
        K, [&](Index k) { return u_(at.first + k); }, out.at, log_jacobian_);
    write(at, K * K, [&](Index i) { return out.at[i]; });
    return out;
  }

  /// Adds log |d x / d parameters| where a density is put on x, a transform of the model's own.
  KC_INLINE void add_jacobian(const T& log_determinant) { log_jacobian_ += log_determinant; }

  /// Numbers to compute in, 0 at first: n that data say, which a local array cannot have. name: for messages.
  KC_INLINE Values<T> array(Index n, const char* name = "array") {
    T* const at = take(n, name);
    return {at, &nowhere_, at ? n : 0, name};
  }
  KC_INLINE Values2<T> matrix(Index rows, Index columns, const char* name = "matrix") {
    T* const at = take(rows * columns, name);
    return {at, &nowhere_, at ? rows : 0, at ? columns : 0, name};
  }
  /// Gives back at its end what was taken since.
  struct Borrowed {
    Parameters& p;
    Index used;
    KC_INLINE ~Borrowed() { p.used_ = used; }
  };
  KC_INLINE Borrowed borrow() { return {*this, used_}; }

  /// Records a value beside the parameters, under its own name.
  KC_INLINE void report(const char* name, const T& value) {
    if (recording()) write(next({name, 1, 0, Kind::report}), 1, [&](Index) { return value; });
  }
  /// Records value(0) .. value(n - 1).
  template <class F>
  KC_INLINE void report(const char* name, Index n, const F& value) {
    if (recording()) write(next({name, n, 0, Kind::reports}), n, value);
  }

  /// Records log p(observation i | parameters) and returns it, or 0 where the prior alone is wanted:
  /// lp += p.log_likelihood(i, normal_lp(...)).
  KC_INLINE T log_likelihood([[maybe_unused]] Index i, const T& value) {
#if !defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, double>)
      if (recording()) recorder_->log_likelihood(i, value);
#endif
    if (layout_.prior_only) [[unlikely]]
      return 0.0;
    return value;
  }
  /// Records value(rng, 0) .. value(rng, n - 1), drawn from what the parameters predict (model/predictive.hpp).
  template <class F>
  KC_INLINE void predict(const char* name, Index n, const F& value) {
    predict({name, n, 0, Kind::predictions}, value);
  }
  /// As many as were observed, which is stored beside them.
  template <class F>
  KC_INLINE void predict(const char* name, const DataArray& observed, const F& value) {
    predict({name, observed.size(), 0, Kind::predictions, 0, nullptr, &observed}, value);
  }

  /// Whether this call records: values that are only reported need not be computed otherwise.
  KC_INLINE bool recording() const {
    if constexpr (std::is_same_v<T, double>) return recorder_ != nullptr;
    return false;
  }
  /// What log_density returned, as a density of the coordinates. Where less was read than is there an Error, or NaN.
  /// (__CUDA_ARCH__ and not KC_ON_DEVICE: where the device is emulated, one compilation is both.)
  KC_INLINE T finish(const T& lp) const {
    if (recording()) {
#if !defined(__CUDA_ARCH__)
      recorder_->finish(most_);
#endif
    } else if (layout_.variables) {
#if !defined(__CUDA_ARCH__)
      if (at_ != layout_.num_parameters)
        layout_.variables->throw_fewer(layout_.variables->parameters(), static_cast<std::size_t>(at_));
#endif
    } else if (coordinate_ != layout_.num_coordinates || sum_ != layout_.sum) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    T out = lp;
    return out += log_jacobian_;
  }

 private:
  /// A variable's first coordinate, -1 where there is none for it, and where its values are recorded, if they are.
  struct Slot {
    Index first;
    double* values;
  };
  KC_INLINE Slot next(const Block& block) {
    Slot at{coordinate_, nullptr};
#if !defined(__CUDA_ARCH__)
    if (recording()) {
      at.values = recorder_->next(block);
      coordinate_ += block.coordinates;
      return at;
    }
#endif
    if (layout_.variables) {
#if !defined(__CUDA_ARCH__)
      const bool same = at_ < layout_.num_parameters && is_same(layout_.parameters[at_], block);
      if (!same) [[unlikely]]
        compare_names(layout_.variables, at_, block.given, block.size, block.coordinates, block.kind, block.columns);
      ++at_;
#endif
    } else {
      sum_ = read_more(sum_, block.kind, block.size);
      if (block.coordinates < 0 || block.coordinates > layout_.num_coordinates - coordinate_)
        return {-1, nullptr};  // and the sum differs
    }
    coordinate_ += block.coordinates;
    return at;
  }
  static KC_INLINE bool is_same(const Block& a, const Block& b) {
    return a.kind == b.kind && a.size == b.size && a.columns == b.columns && a.given == b.given;
  }
  template <class F>
  KC_INLINE void predict([[maybe_unused]] const Block& block, [[maybe_unused]] const F& value) {
#if !defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, double>)
      if (recording()) write(next(block), block.size, [&](Index i) { return value(recorder_->rng(), i); });
#endif
  }
  template <class F>
  KC_INLINE T number(Kind kind, const char* name, const F& transform) {
    const Slot at = next({name, 1, 1, kind});
    if (at.first < 0) return std::numeric_limits<double>::quiet_NaN();
    const T value = transform(u_(at.first), log_jacobian_);
    write(at, 1, [&](Index) { return value; });
    return value;
  }
  /// A bound: a double, or a T; the i-th where it is an array.
  template <class B>
  static KC_INLINE auto nth(const B& bound, Index i) {
    if constexpr (std::is_arithmetic_v<B>)
      return static_cast<double>(bound);
    else if constexpr (requires { bound[i]; })
      return nth(bound[i], i);
    else
      return T(bound);
  }
  KC_INLINE Values2<T> missing(const char* name) { return {nullptr, &nowhere_, 0, 0, name}; }
  KC_INLINE T* take(Index n, const char* name) {
    used_ += n;
#if !defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, double>) {
      if (recording()) {
        most_ = most_ > used_ ? most_ : used_;
        return recorder_->take(n, name);
      }
    }
#endif
    if (n < 0 || used_ > layout_.room || !room_) {
#if !defined(__CUDA_ARCH__)
      if (layout_.variables) layout_.variables->throw_room(name, n);
#endif
      static_cast<void>(name);
      used_ -= n;
      return nullptr;
    }
    T* const out = room_ + used_ - n;
    for (Index i = 0; i < n; ++i) out[i] = 0.0;
    return out;
  }
  template <class F>
  KC_INLINE Values<T> numbers(Kind kind, const char* name, Index n, const F& transform) {
    const Slot at = next({name, n, n, kind});
    if (at.first < 0) return {nullptr, &nowhere_, 0, name};
    const Values<T> out = array(n, name);
    for (Index i = 0; i < out.count; ++i) out.at[i] = transform(i, u_(at.first + i), log_jacobian_);
    write(at, n, [&](Index i) { return out.at[i]; });
    return out;
  }
  KC_INLINE Values2<T> ordereds(Kind kind, const char* name, Index n, Index K) {
    return constrained_rows(kind, name, n, K, K, [&](auto&& u, T* x) { transforms::ordered(K, u, x, log_jacobian_); });
  }
  KC_INLINE Values2<T> positive_ordereds(Kind kind, const char* name, Index n, Index K) {
    return constrained_rows(kind, name, n, K, K,
                            [&](auto&& u, T* x) { transforms::positive_ordered(K, u, x, log_jacobian_); });
  }
  KC_INLINE Values2<T> simplexes(Kind kind, const char* name, Index n, Index K) {
    return constrained_rows(kind, name, n, K, K - 1,
                            [&](auto&& u, T* x) { transforms::simplex(K, u, x, log_jacobian_); });
  }
  /// n rows of K, each from as many coordinates; one alone is no matrix in the record.
  template <class F>
  KC_INLINE Values2<T> constrained_rows(Kind kind, const char* name, Index n, Index K, Index coordinates,
                                        const F& transform) {
    const Slot at = next({name, n * K, n * coordinates, kind, kind >= Kind::ordereds ? K : 0});
    if (at.first < 0) return missing(name);
    const Values2<T> out = matrix(n, K, name);
    for (Index r = 0; r < out.num_rows; ++r)
      transform([&](Index k) { return u_(at.first + r * coordinates + k); }, out.at + r * K);
    if (out.num_rows > 0) write(at, n * K, [&](Index i) { return out.at[i]; });
    return out;
  }
  template <int N, int Reals, class F>
  KC_INLINE Array<N> constrained(Kind kind, const char* name, const F& transform) {
    Array<N> out;
    out.name = name;
    const Slot at = next({name, N, Reals, kind});
    if (at.first < 0) {
      for (T& x : out.values) x = std::numeric_limits<double>::quiet_NaN();
      return out;
    }
    transform([&](Index k) { return u_(at.first + k); }, out.values, log_jacobian_);
    write(at, N, [&](Index i) { return out.values[i]; });
    return out;
  }
  template <class F>
  KC_INLINE void write([[maybe_unused]] const Slot& at, [[maybe_unused]] Index n, [[maybe_unused]] const F& value) {
    if constexpr (std::is_same_v<T, double>)
      for (Index i = 0; at.values && i < n; ++i) at.values[i] = value(i);
  }

  Coordinates<T> u_;
  Layout layout_;
  Recorder* recorder_ = nullptr;
  Index at_ = 0, coordinate_ = 0;  ///< parameters and coordinates that were read
  T* room_ = nullptr;
  Index used_ = 0, most_ = 0;  ///< numbers of it; `most_` where it is recorded
  T nowhere_ = 0.0;
  std::uint32_t sum_ = nothing_read;
  T log_jacobian_ = 0.0;
};

}  // namespace kilochain
