// Arrays of a model's data, as its log density reads them on every device: a pointer with its length and its name.
//   DataArray y: y[i], y.size();   DataMatrix x: x(i, j), x.row(i), x.rows(), x.columns()
// Every index is checked, in release builds too: one out of range is an Error that names the array on the CPU; on a
// device it reads NaN, so that the density there is not defined.
#pragma once
#include <limits>

#include "kernels/device/platform.hpp"

namespace kilochain {
namespace model_detail {

[[noreturn]] __attribute__((cold)) void throw_index(const char* array, Index i, Index length);
[[noreturn]] __attribute__((cold)) void throw_length(const char* array, Index length, Index wanted);

KC_INLINE bool outside(Index i, Index length) {
  return static_cast<std::uint32_t>(i) >= static_cast<std::uint32_t>(length);
}
/// What an index out of range reads.
KC_INLINE double no_element([[maybe_unused]] const char* array, [[maybe_unused]] Index i,
                            [[maybe_unused]] Index length) {
#if defined(KC_ON_DEVICE)
  return std::numeric_limits<double>::quiet_NaN();
#else
  throw_index(array, i, length);
#endif
}
/// Whether two things that belong together have one length.
KC_INLINE bool same_length([[maybe_unused]] const char* array, Index length, Index wanted) {
#if !defined(KC_ON_DEVICE)
  if (length != wanted) throw_length(array, length, wanted);
#endif
  return length == wanted;
}

}  // namespace model_detail

class DataArray {
 public:
  DataArray() = default;
  KC_INLINE DataArray(const double* values, Index size, const char* name) : values_(values), name_(name), size_(size) {}
  KC_INLINE double operator[](Index i) const {
    return model_detail::outside(i, size_) ? model_detail::no_element(name_, i, size_) : values_[i];
  }
  KC_INLINE Index size() const { return size_; }
  KC_INLINE const char* name() const { return name_; }
  /// For libraries that want a pointer; nothing checks what they do with it.
  KC_INLINE const double* data() const { return values_; }
  KC_INLINE const double* begin() const { return values_; }
  KC_INLINE const double* end() const { return values_ + size_; }

 private:
  const double* values_ = nullptr;
  const char* name_ = "";  // on the host
  Index size_ = 0;
};

/// Row after row.
class DataMatrix {
 public:
  DataMatrix() = default;
  KC_INLINE DataMatrix(const double* values, Index rows, Index columns, const char* name)
      : values_(values), name_(name), rows_(rows), columns_(columns) {}
  KC_INLINE double operator()(Index i, Index j) const { return row(i)[j]; }
  KC_INLINE DataArray row(Index i) const {
    if (!model_detail::outside(i, rows_)) return {values_ + static_cast<std::ptrdiff_t>(i) * columns_, columns_, name_};
    static_cast<void>(model_detail::no_element(name_, i, rows_));
    return {nullptr, 0, name_};
  }
  KC_INLINE Index rows() const { return rows_; }
  KC_INLINE Index columns() const { return columns_; }
  KC_INLINE const double* data() const { return values_; }

 private:
  const double* values_ = nullptr;
  const char* name_ = "";
  Index rows_ = 0, columns_ = 0;
};

}  // namespace kilochain
