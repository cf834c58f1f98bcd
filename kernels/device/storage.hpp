// What the memory of a chain is made of, by type. A row has room for 32 elements at a time, so that what streams it
// cannot run over its end; a number is another type, so that no row is ever allocated as one.
//   Scalar<T>   a number, *s.lp              Row<T>     a value for each coordinate, s.x[i]
//   Numbers<T>  some numbers, s.tree[k]      Rows<T>    some rows, s.slots.row(k, n)
//                                            Factor<T>  a triangular factor in panels (kernels/device/panels.hpp)
// Each is a pointer; where KILOCHAIN_CHECKED is defined it knows its length and every index is checked.
#pragma once
#include "kernels/device/check.hpp"
#include "kernels/device/panels.hpp"

namespace kilochain {

constexpr KC_INLINE std::size_t padded(std::size_t n) { return (n + 31) / 32 * 32; }

/// A pointer that knows its length where lengths are checked, and costs a pointer where they are not.
template <class T>
struct FieldData {
  T* data = nullptr;
#if defined(KILOCHAIN_CHECKED)
  std::size_t length = 0;
#endif
  FieldData() = default;
  KC_INLINE FieldData(T* data_, [[maybe_unused]] std::size_t length_) : data(data_) {
#if defined(KILOCHAIN_CHECKED)
    length = length_;
#endif
  }
  template <class I>
  KC_INLINE T& operator[](I i) const {
    KC_CHECK(static_cast<std::size_t>(i) < length);  // a negative index is a large one
    return data[i];
  }
};

template <class T>
struct Scalar {
  T* data = nullptr;
  KC_INLINE T& operator*() const { return *data; }
};

template <class T>
struct Numbers : FieldData<T> {
  using FieldData<T>::FieldData;
};

/// The coordinates of one chain. What streams a row a register at a time reads its zero padding through `data`.
template <class T>
struct Row : FieldData<T> {
  using FieldData<T>::FieldData;
  KC_INLINE operator T*() const { return this->data; }
};

template <class T>
Row(T*, std::size_t) -> Row<T>;

template <class T>
struct Rows : FieldData<T> {
  using FieldData<T>::FieldData;
  KC_INLINE Row<T> row(Index k, Index n) const {
    const std::size_t stride = padded(std::size_t(n));
    KC_CHECK((std::size_t(k) + 1) * stride <= this->length);
    return {this->data + std::size_t(k) * stride, std::size_t(n)};
  }
  /// All of them as one, padding between.
  KC_INLINE Row<T> all() const {
#if defined(KILOCHAIN_CHECKED)
    return {this->data, this->length};
#else
    return {this->data, 0};
#endif
  }
};

/// A factor, entry k of its panels or of its diagonal.
template <class T>
struct Factor : FieldData<T> {
  FactorShape shape = FactorShape::dense;
  Factor() = default;
  KC_INLINE Factor(T* data, std::size_t length, FactorShape shape_) : FieldData<T>(data, length), shape(shape_) {}
};

}  // namespace kilochain
