// Arrays of a model's numbers whose length is known only when data are read, in memory allocated beforehand.
//   Values x: x[i], x.size();   Values2 x: x(i, j), x.row(i), x.rows(), x.columns()
// A copy stands for the same numbers. An index out of range is an Error on the CPU; on a device it is NaN, and what is
// written there goes nowhere.
#pragma once
#include "model/var.hpp"

namespace kilochain {

template <class T>
struct Values {
  T *at, *nowhere;
  Index count;
  const char* name;
  KC_INLINE T& operator[](Index i) const {
    if (!model_detail::outside(i, count)) return at[i];
    return *nowhere = model_detail::no_element(name, i, count);
  }
  KC_INLINE Index size() const { return count; }
};

/// Row after row.
template <class T>
struct Values2 {
  T *at, *nowhere;
  Index num_rows, num_columns;
  const char* name;
  KC_INLINE T& operator()(Index i, Index j) const { return row(i)[j]; }
  KC_INLINE Values<T> row(Index i) const {
    if (!model_detail::outside(i, num_rows))
      return {at + static_cast<std::ptrdiff_t>(i) * num_columns, nowhere, num_columns, name};
    *nowhere = model_detail::no_element(name, i, num_rows);
    return {at, nowhere, 0, name};
  }
  KC_INLINE Index rows() const { return num_rows; }
  KC_INLINE Index columns() const { return num_columns; }
  KC_INLINE Index size() const { return num_rows * num_columns; }
};

/// The sum of a(k) b(k) over k < n: one node of a tape.
template <class A, class B>
KC_INLINE auto sum_of_products(Index n, const A& a, const B& b) {
  using X = std::remove_cvref_t<decltype(a(0))>;
  using Y = std::remove_cvref_t<decltype(b(0))>;
  if constexpr (is_var<X> && is_var<Y>) {
    auto& tape = *Tape<decltype(X::v)>::current;
    const std::size_t from = tape.waiting();
    decltype(X::v) f = 0.0;
    for (Index k = 0; k < n; ++k) {
      const X x = a(k), y = b(k);
      f += x.v * y.v;
      tape.wait(x.node, y.v), tape.wait(y.node, x.v);
    }
    return X{f, tape.result_of_waiting(from)};
  } else {
    std::remove_cvref_t<decltype(a(0) * b(0))> out = 0.0;
    for (Index k = 0; k < n; ++k) out += a(k) * b(k);
    return out;
  }
}

}  // namespace kilochain
