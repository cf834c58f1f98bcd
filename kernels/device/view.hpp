// Views: a pointer with its shape, passed by value. Indices are signed and go through one multiplication in 64 bits, so
// that callers need no casts; each is checked in builds with KILOCHAIN_CHECKED (kernels/device/check.hpp).
//   View1<double> lp{p, n};  View2<float> x{p, chains, dim};  View3<float> draws{p, chains, capacity, dim};
// The last index is contiguous. A view owns nothing, and a const view of T may still write through T.
#pragma once
#include "kernels/device/check.hpp"

namespace kilochain {

using Count = std::int64_t;  ///< a length or position in host memory; products of two never overflow here

template <class T>
struct View1 {
  T* data = nullptr;
  Count size = 0;
  KC_INLINE T& operator[](Count i) const {
    KC_CHECK(i >= 0 && i < size);
    return data[i];
  }
  KC_INLINE T* begin() const { return data; }
  KC_INLINE T* end() const { return data + size; }
};

template <class T>
struct View2 {
  T* data = nullptr;
  Count rows = 0, columns = 0;
  KC_INLINE T& operator()(Count i, Count j) const {
    KC_CHECK(i >= 0 && i < rows && j >= 0 && j < columns);
    return data[i * columns + j];
  }
  KC_INLINE View1<T> row(Count i) const {
    KC_CHECK(i >= 0 && i < rows);
    return {data + i * columns, columns};
  }
};

template <class T>
struct View3 {
  T* data = nullptr;
  Count planes = 0, rows = 0, columns = 0;
  KC_INLINE T& operator()(Count i, Count j, Count k) const {
    KC_CHECK(i >= 0 && i < planes && j >= 0 && j < rows && k >= 0 && k < columns);
    return data[(i * rows + j) * columns + k];
  }
  KC_INLINE View1<T> row(Count i, Count j) const {
    KC_CHECK(i >= 0 && i < planes && j >= 0 && j < rows);
    return {data + (i * rows + j) * columns, columns};
  }
  KC_INLINE View2<T> plane(Count i) const {
    KC_CHECK(i >= 0 && i < planes);
    return {data + i * rows * columns, rows, columns};
  }
};

}  // namespace kilochain
