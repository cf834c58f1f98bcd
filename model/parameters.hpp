// How a model reads its parameters: by name, in order, each with its constraint. The same function of the model is
// called with numbers (its value), with duals or the tape (its derivatives) and to record: what it reads the first time
// is what exists, and every later evaluation is held to it (model/layout.hpp). Array elements are checked as data are.
//   real, reals; positive, positives; lower, upper, interval; ordered, positive_ordered, simplex;
//   report for other values
#pragma once
#include <cstring>
#include <type_traits>

#include "model/arrays.hpp"
#include "model/coordinates.hpp"
#include "model/layout.hpp"
#include "model/transforms.hpp"

namespace kilochain {

/// Sizes that a model knows when it is compiled: p.simplex("weights", size<3>).
template <int N>
inline constexpr std::integral_constant<int, N> size{};

template <class T>
class Parameters {
 public:
  using Scalar = T;
  /// layout: what is read; with its `variables` on the host, without on a device.
  KC_INLINE Parameters(const Coordinates<T>& coordinates, const Layout& layout) : u_(coordinates), layout_(layout) {}
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
  KC_INLINE T lower(const char* name, double bound) {
    return number(Kind::lower, name, [&](const T& u, T& j) { return transforms::lower(u, bound, j); });
  }
  KC_INLINE T upper(const char* name, double bound) {
    return number(Kind::upper, name, [&](const T& u, T& j) { return transforms::upper(u, bound, j); });
  }
  KC_INLINE T interval(const char* name, double low, double high) {
    return number(Kind::interval, name, [&](const T& u, T& j) { return transforms::interval(u, low, high, j); });
  }
  KC_INLINE View<false> reals(const char* name, Index n) {
    const Place at = next({name, n, n, Kind::reals});
    const View<false> out{u_, at.first, at.first < 0 ? 0 : n, name};
    write(at, n, [&](Index i) { return out.unchecked(i); });
    return out;
  }
  KC_INLINE View<true> positives(const char* name, Index n) {
    const Place at = next({name, n, n, Kind::positives});
    const View<true> out{u_, at.first, at.first < 0 ? 0 : n, name};
    for (Index i = 0; i < out.count; ++i) log_jacobian_ += u_(at.first + i);
    write(at, n, [&](Index i) { return out.unchecked(i); });
    return out;
  }
  template <int N>
  KC_INLINE Array<N> ordered(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N>(Kind::ordered, name, [](auto&& u, T* x, T& j) { transforms::ordered<N>(u, x, j); });
  }
  template <int N>
  KC_INLINE Array<N> positive_ordered(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N>(Kind::positive_ordered, name,
                             [](auto&& u, T* x, T& j) { transforms::positive_ordered<N>(u, x, j); });
  }
  template <int N>
  KC_INLINE Array<N> simplex(const char* name, std::integral_constant<int, N>) {
    return constrained<N, N - 1>(Kind::simplex, name, [](auto&& u, T* x, T& j) { transforms::simplex<N>(u, x, j); });
  }

  /// Records a value beside the parameters, under its own name.
  KC_INLINE void report(const char* name, const T& value) {
    if (recording()) write(next({name, 1, 0, Kind::report}), 1, [&](Index) { return value; });
  }
  /// Records value(0) .. value(n - 1).
  template <class F>
  KC_INLINE void report(const char* name, Index n, const F& value) {
    if (recording()) write(next({name, n, 0, Kind::reports}), n, value);
  }

  /// Whether this call records: values that are only reported need not be computed otherwise.
  KC_INLINE bool recording() const {
    if constexpr (std::is_same_v<T, double>) return recorder_ != nullptr;
    return false;
  }
  /// What log_density returned, as a density of the coordinates. An Error, on a device NaN, where less was read than
  /// is there.
  /// (__CUDA_ARCH__ and not KC_ON_DEVICE: where the device is emulated, one compilation is both.)
  KC_INLINE T finish(const T& lp) const {
    if (recording()) {
#if !defined(__CUDA_ARCH__)
      recorder_->finish();
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
  struct Place {
    Index first;
    double* values;
  };
  KC_INLINE Place next(const Block& block) {
    Place at{coordinate_, nullptr};
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
        compare_names(layout_.variables, at_, block.given, block.size, block.coordinates, block.kind);
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
    return a.kind == b.kind && a.size == b.size && a.given == b.given;
  }
  template <class F>
  KC_INLINE T number(Kind kind, const char* name, const F& transform) {
    const Place at = next({name, 1, 1, kind});
    if (at.first < 0) return std::numeric_limits<double>::quiet_NaN();
    const T value = transform(u_(at.first), log_jacobian_);
    write(at, 1, [&](Index) { return value; });
    return value;
  }
  template <int N, int Reals, class F>
  KC_INLINE Array<N> constrained(Kind kind, const char* name, const F& transform) {
    Array<N> out;
    out.name = name;
    const Place at = next({name, N, Reals, kind});
    if (at.first < 0) {
      for (T& x : out.values) x = std::numeric_limits<double>::quiet_NaN();
      return out;
    }
    transform([&](Index k) { return u_(at.first + k); }, out.values, log_jacobian_);
    write(at, N, [&](Index i) { return out.values[i]; });
    return out;
  }
  template <class F>
  KC_INLINE void write([[maybe_unused]] const Place& at, [[maybe_unused]] Index n, [[maybe_unused]] const F& value) {
    if constexpr (std::is_same_v<T, double>)
      for (Index i = 0; at.values && i < n; ++i) at.values[i] = value(i);
  }

  Coordinates<T> u_;
  Layout layout_;
  Recorder* recorder_ = nullptr;
  Index at_ = 0, coordinate_ = 0;  ///< parameters and coordinates that were read
  std::uint32_t sum_ = nothing_read;
  T log_jacobian_ = 0.0;
};

}  // namespace kilochain
