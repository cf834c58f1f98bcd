// Streams, events and graphs as the emulated device holds them.
#pragma once
#include <deque>
#include <memory>
#include <thread>

#include "tests/emulated_device/runtime.hpp"

namespace kilochain::emulated {

struct Node {
  Work work;
  std::vector<std::size_t> after;
};
struct Graph {
  std::vector<Node> nodes;
};
struct GraphExec {
  std::vector<Node> nodes;
};
/// In any order that respects the edges.
void run_nodes(const std::vector<Node>& nodes);
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::thread::id thread;
  cudaStreamCaptureMode mode;
  Stream* origin;
  bool invalid = false;
};

/// One record of an event: done, or to be reached in its stream, or inside a capture.
struct Mark {
  bool done = false;
  Times times;  ///< of the record
  Stream* stream = nullptr;
  std::shared_ptr<Capture> capture;
  std::vector<std::size_t> nodes;
};
struct Event {
  std::shared_ptr<Mark> mark;
};
struct Job {
  std::function<void()> run;
  std::shared_ptr<Mark> waits;
  std::int64_t launches = 0;  ///< of kernels
  Times submitted = host_times();
};
struct Stream {
  std::uint32_t number = new_stream();
  Times times;
  std::deque<Job> queue;
  std::shared_ptr<Capture> capture;
  std::vector<std::size_t> last;  ///< while capturing: what the next node comes after
};

bool known(Stream* s);
cudaError_t not_a_stream();
/// Runs all that waits in a stream, and the host has waited for it.
void drain(Stream& s);

}  // namespace kilochain::emulated
