// Processor seconds of the calling thread: a core's time, whoever else wants the machine.
#pragma once
#include <time.h>

namespace kilochain {

inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace kilochain
