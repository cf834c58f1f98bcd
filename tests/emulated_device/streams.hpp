// Streams, events and graphs as the emulated device holds them.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <thread>

#include "tests/emulated_device/runtime.hpp"

namespace kilochain::emulated {

struct Node {
  Work work;
  std::vector<std::size_t> after;
};
/// A graph and the bodies of its conditional nodes, however deep.
struct Family;
/// The value that a conditional node looks at.
struct Conditional {
  unsigned value = 0, at_launch = 0;
  bool assigns = false, used = false;
  bool set = false;  ///< in this launch, by a kernel or by `assigns`
  const Family* of = nullptr;
};
struct Family {
  int instances = 0;  ///< executable graphs made of it that live
  std::map<cudaGraphConditionalHandle, std::shared_ptr<Conditional>> conditionals;
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<cudaGraphConditionalHandle> conditionals;  ///< of its own nodes
  std::vector<std::shared_ptr<Graph>> bodies;            ///< of those
  std::deque<cudaGraph_t> told;                          ///< as their phGraph_out point to them
  std::shared_ptr<Family> family = std::make_shared<Family>();
  bool captured = false;  ///< now: a capture has its nodes
};
struct GraphExec {
  std::vector<Node> nodes;
  std::shared_ptr<Family> family;
};
/// A launch of it begins; null: has ended.
void begin_launch(Family* family);
/// A node's handle is its place, from 1 on.
inline cudaGraphNode_t handle_of(std::size_t node) { return reinterpret_cast<cudaGraphNode_t>(node + 1); }
/// In any order that respects the edges.
void run_nodes(const std::vector<Node>& nodes);
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::thread::id thread;
  cudaStreamCaptureMode mode;
  Stream* origin;
  bool invalid = false;
  Graph* into = nullptr;              ///< the graph that the nodes become part of, where there was one before
  std::vector<cudaGraphNode_t> told;  ///< as cudaStreamGetCaptureInfo points to them
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
