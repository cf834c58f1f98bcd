// Pieces of work that are independent of each other, on some threads.
#pragma once
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "host/chains/thread_team.hpp"

namespace kilochain {

/// Calls work(item, worker) for the items 0 .. count - 1, taken in this order by `workers` threads, until `stop`
/// becomes true; items that were begun are waited for. The first exception sets `stop` and is thrown again here.
template <class Work>
void side_by_side(std::size_t count, int workers, std::atomic<bool>& stop, const Work& work) {
  std::atomic<std::size_t> next{0};
  FirstFailure failure;
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < workers && threads.size() < count; ++k)
      threads.emplace_back([&, k] {
        while (!stop) {
          const std::size_t item = next++;
          if (item >= count) return;
          try {
            work(item, k);
          } catch (...) {
            failure.keep();
            stop = true;
          }
        }
      });
  }
  failure.rethrow();
}

}  // namespace kilochain
