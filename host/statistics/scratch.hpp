// Large arrays that are not initialised. The largest lie on pages of 2 MiB where the system grants them, which saves
// most address-translation misses and faults (sorting 2e7 draws: a third of the time). While a ScratchReuse lives, a
// thread keeps all of 64 kB or more from one use to the next, which saves zeroing and mapping them again.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace kilochain {

namespace scratch_detail {
void* take(std::size_t bytes);
void give_back(void* memory, std::size_t bytes);
}  // namespace scratch_detail

struct FreeScratch {
  void operator()(void* memory) const { scratch_detail::give_back(memory, bytes); }
  std::size_t bytes = 0;
};
template <class T>
using Scratch = std::unique_ptr<T[], FreeScratch>;

/// n values of a trivial type, not initialised; throws std::bad_alloc.
template <class T>
Scratch<T> make_scratch(std::int64_t n) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  return Scratch<T>(static_cast<T*>(scratch_detail::take(bytes)), FreeScratch{bytes});
}

/// The same for what is written little by little, and perhaps never: on pages of 4 KiB, which take memory when they are
/// first written. Never kept for another use.
struct FreeRoom {
  void operator()(void* memory) const;
};
template <class T>
using Room = std::unique_ptr<T[], FreeRoom>;
namespace scratch_detail {
void* take_room(std::size_t bytes);
}
template <class T>
Room<T> make_room(std::int64_t n) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  return Room<T>(static_cast<T*>(scratch_detail::take_room(static_cast<std::size_t>(n) * sizeof(T))));
}

/// While one lives (they nest), scratch freed by this thread is kept for its next use; then it is freed.
class ScratchReuse {
 public:
  ScratchReuse();
  ~ScratchReuse();
  ScratchReuse(const ScratchReuse&) = delete;
  ScratchReuse& operator=(const ScratchReuse&) = delete;
};

}  // namespace kilochain
