// A team that takes the device's branch of every algorithm: panels of 32 rows, lanes that meet only where the algorithm
// says sync or sum. Lanes are fibers: each runs to its next meeting, first to last and then last to first, so that what
// needs a meeting and has none goes wrong in one order or the other. (Threads that wait for each other would take
// minutes where cores are few. Races of kernels are found by the emulated device.)
#pragma once
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "kernels/device/platform.hpp"
#include "tests/emulated_device/fiber.hpp"

namespace kilochain {

struct FiberTeam {
  static constexpr bool on_host = false;
  static constexpr int lanes = 4;
  template <class Real>
  static constexpr int panel = 32;

  struct Shared {
    std::function<void(const FiberTeam&)> body;
    emulated::Fiber scheduler, lane[lanes];
    int running = 0, left = lanes;
    double parts[lanes] = {};
  };
  Shared* shared;
  int rank;

  template <class F>
  void for_each(Index n, F&& f) const {
    for (Index i = rank; i < n; i += lanes) f(i);
  }
  template <class T, class F>
  T sum(Index n, F&& f) const {
    T part{};
    for (Index i = rank; i < n; i += lanes) part += f(i);
    shared->parts[rank] = static_cast<double>(part);
    sync();
    T total{};
    for (double p : shared->parts) total += static_cast<T>(p);
    sync();
    return total;
  }
  template <class F>
  void single(F&& f) const {
    if (rank == 0) f();
  }
  void sync() const { emulated::switch_fibers(shared->lane[rank], shared->scheduler); }

  /// body(team) on every lane. Lanes that end while others wait end the program.
  template <class F>
  static void run(F&& body) {
    constexpr std::size_t stack_bytes = 1 << 20;
    Shared shared{std::forward<F>(body), {}, {}};
    std::vector<char> stacks(lanes * stack_bytes);
    for (int l = 0; l < lanes; ++l) shared.lane[l].prepare(&stacks[l * stack_bytes], stack_bytes, enter);
    at_work = &shared;
    for (bool forwards = true; shared.left > 0; forwards = !forwards) {
      if (shared.left < lanes) {
        std::fputs("FiberTeam: some lanes ended where others wait for them\n", stderr);
        std::abort();
      }
      for (int l = 0; l < lanes; ++l) {
        shared.running = forwards ? l : lanes - 1 - l;
        emulated::switch_fibers(shared.scheduler, shared.lane[shared.running]);
      }
    }
  }

 private:
  static inline thread_local Shared* at_work = nullptr;
  static void enter() {
    const FiberTeam team{at_work, at_work->running};
    team.shared->body(team);
    --team.shared->left;
    team.sync();
  }
};

}  // namespace kilochain
