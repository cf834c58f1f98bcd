// A team of CPU threads that takes the device's branch of every algorithm: panels of 32 rows, lanes that run at their
// own pace and meet only where the algorithm says sync or sum. Under ThreadSanitizer a missing sync is a reported race.
#pragma once
#include <barrier>
#include <thread>
#include <vector>

#include "kernels/device/platform.hpp"

namespace kilochain {

struct ThreadTeam {
  static constexpr bool on_host = false;
  static constexpr int lanes = 4;
  template <class Real>
  static constexpr int panel = 32;

  struct Shared {
    std::barrier<> all{lanes};
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
  void sync() const { shared->all.arrive_and_wait(); }

  /// body(team) on every lane.
  template <class F>
  static void run(F&& body) {
    Shared shared;
    std::vector<std::jthread> threads;
    for (int lane = 0; lane < lanes; ++lane) threads.emplace_back([&, lane] { body(ThreadTeam{&shared, lane}); });
  }
};

}  // namespace kilochain
