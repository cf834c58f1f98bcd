// Tables in place of code: a State or Adaptation lists its arrays once, `fields(visit, state, n)`, and a Settings its values.
//   visit("L", state.L, size, Keep::yes)  — an array of `size` elements for each chain; size 1 is one number
// From the table the host counts bytes, binds pointers, copies, poisons and saves; no sampler has code for any of these.
// Layout of a field over all chains: (chain, padded size), rows padded to 32 elements: one team owns one row, and the same
// memory is a column-major matrix for GEMM. Padding is zero at the start and no algorithm may write anything else there.
#pragma once
#include "kernels/device/platform.hpp"

namespace kilochain {

/// Whether a field must survive an interruption (state) or is workspace.
enum class Keep { yes, no };

KC_INLINE std::size_t padded(std::size_t n) { return n == 1 ? 1 : (n + 31) / 32 * 32; }

/// Length of a field that is a vector over the coordinates of one chain: never 1, which would be a number without padding.
KC_INLINE std::size_t row_length(Index n) { return n == 1 ? 2 : static_cast<std::size_t>(n); }

/// Visitor that points the fields of one chain into the memory shared by all `chains`.
struct FieldBinder {
  char* base;
  std::size_t chains, chain;
  std::size_t offset = 0;

  template <class T>
  KC_INLINE void operator()(const char*, T*& pointer, std::size_t n, Keep) {
    const std::size_t row = padded(n);
    pointer = reinterpret_cast<T*>(base + offset) + row * chain;
    offset += (row * chains * sizeof(T) + 127) / 128 * 128;
  }
};

/// Bytes that `chains` chains need for the fields of Holder (a State or an Adaptation) in dimension n.
template <class Holder, class... Args>
std::size_t field_bytes(std::size_t chains, const Args&... args) {
  Holder holder{};
  FieldBinder binder{nullptr, chains, 0};
  fields(binder, holder, args...);
  return binder.offset;
}

}  // namespace kilochain
