// Work in a process of its own that ends as if it were killed, before a chosen write or after some time.
#pragma once
#include <sys/time.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdint>

#include "tests/draws/draws_support.hpp"

namespace kilochain::draws_support {

extern std::int64_t writes_left;  ///< of this process: test_draws_killed.cpp counts them; negative: no end

struct Kill {
  std::int64_t write = -1;        ///< before this one, from 0 on
  std::int64_t microseconds = 0;  ///< by a signal after so long; 0: never
};

/// 0 where f() has returned, 77 where the process was killed, another number where it failed. The caller has no
/// threads.
template <class F>
int in_child(const Kill& kill, const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGALRM, SIG_DFL);
    writes_left = kill.write;
    const itimerval timer{{}, {kill.microseconds / 1000000, kill.microseconds % 1000000}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    try {
      f();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int raw = 0;
  waitpid(child, &raw, 0);
  if (WIFSIGNALED(raw)) return WTERMSIG(raw) == SIGALRM ? 77 : 1000 + WTERMSIG(raw);
  return WEXITSTATUS(raw);
}

}  // namespace kilochain::draws_support
