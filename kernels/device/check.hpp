// KC_CHECK(condition): an assertion, tested where KILOCHAIN_CHECKED is defined (the dev and sanitize presets, and
// projects that ask for it) and absent elsewhere. What a user can get wrong is an Error (base/error.hpp) instead.
// One that fails ends the program with the condition, file and line; on a device the kernel traps.
#pragma once
#include "kernels/device/platform.hpp"

#if defined(KILOCHAIN_CHECKED)
#include <cstdio>
#include <cstdlib>

namespace kilochain {
[[noreturn]] KC_HD inline void promise_broken(const char* condition, const char* file, int line) {
  std::printf("kilochain: a promise does not hold: %s (%s:%d). Please report this with what was run.\n", condition,
              file, line);
#if defined(KC_ON_DEVICE)
  __trap();
#else
  std::fflush(stdout);
  std::abort();
#endif
}
}  // namespace kilochain
#define KC_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::kilochain::promise_broken(#condition, __FILE__, __LINE__))
#else
#define KC_CHECK(condition) static_cast<void>(0)
#endif
