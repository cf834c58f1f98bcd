// Streams are queues of work that runs when the host waits for it, and then only as far as it must, in the thread that
// waits; with a seed, other streams go on a little at such a time, too. So what was not waited for has not happened,
// and what an event should have ordered comes in the wrong order.
#include "tests/emulated_device/streams.hpp"

#include <algorithm>
#include <set>

namespace kilochain::emulated {
namespace {

/// In the order in which they were made: an order of addresses would differ from run to run.
std::vector<Stream*>& streams() {
  static std::vector<Stream*> all;
  return all;
}
std::set<Event*>& events() {
  static std::set<Event*> all;
  return all;
}
std::vector<std::shared_ptr<Capture>>& captures() {
  static std::vector<std::shared_ptr<Capture>> all;
  return all;
}

void run_until(Mark& mark);
void run_next(Stream& s) {
  Job job = std::move(s.queue.front());
  s.queue.pop_front();
  if (job.waits) {
    run_until(*job.waits);
    merge(s.times, job.waits->times);
  }
  merge(s.times, job.submitted);
  begin_job(s.number, s.times);
  state().counters.ahead -= job.launches;
  if (job.run && (state().sticky == cudaSuccess)) job.run();
}
void run_until(Mark& mark) {
  while (!mark.done && !mark.stream->queue.empty()) run_next(*mark.stream);
  mark.done = true;
}
/// Others go on too, sometimes: nothing says that they do not.
void let_others_run() {
  if (state().seed == 0) return;
  const Open open;
  for (Stream* s : streams())
    while (!s->queue.empty() && random_bits() % 4 == 0) run_next(*s);
}

/// What kernels a job launches, when it is queued.
std::int64_t queue_launches(std::int64_t launches) {
  Counters& c = state().counters;
  c.ahead += launches;
  c.most_ahead = std::max(c.most_ahead, c.ahead);
  return launches;
}
/// The host has waited: does the device still have work?
void note_wait() {
  ++state().counters.synchronisations;
  const auto& all = streams();
  state().counters.dry_waits += std::all_of(all.begin(), all.end(), [](const Stream* s) { return s->queue.empty(); });
}

std::vector<std::size_t> merged(std::vector<std::size_t> a, const std::vector<std::size_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  a.erase(std::unique(a.begin(), a.end()), a.end());
  return a;
}

}  // namespace

void drain(Stream& s) {
  const Open open;
  while (!s.queue.empty()) run_next(s);
  host_waited(s.times);
}

bool known(Stream* s) { return s && std::ranges::count(streams(), s); }
cudaError_t not_a_stream() {
  return refuse(cudaErrorInvalidResourceHandle, "not a stream that exists (the default stream is not used here)");
}

bool capturing_here() {
  for (const auto& c : captures())
    if (c->thread == std::this_thread::get_id() && c->mode != cudaStreamCaptureModeRelaxed) return true;
  return false;
}
cudaError_t forbid_in_capture(const char* what) {
  for (const auto& c : captures()) c->invalid = true;
  return refuse(cudaErrorStreamCaptureUnsupported, std::string(what) + " while a stream is captured");
}

cudaError_t submit(Stream* s, Work work) {
  if (!known(s)) return not_a_stream();
  if (s->capture) {
    if (s->capture->invalid) return refuse(cudaErrorStreamCaptureInvalidated, "the capture is invalid already");
    s->capture->graph->nodes.push_back({std::move(work), s->last});
    s->last = {s->capture->graph->nodes.size() - 1};
    return cudaSuccess;
  }
  if (work.early) work.early();
  s->queue.push_back({std::move(work.run), nullptr, queue_launches(work.kind == NodeKind::kernel)});
  return cudaSuccess;
}

void run_nodes(const std::vector<Node>& nodes) {
  std::vector<std::size_t> left(nodes.size());
  std::vector<bool> done(nodes.size());
  for (std::size_t k = 0; k < left.size(); ++k) left[k] = k;
  while (!left.empty() && state().sticky == cudaSuccess) {
    shuffle(left);
    const auto next = std::find_if(left.begin(), left.end(), [&](std::size_t k) {
      return std::all_of(nodes[k].after.begin(), nodes[k].after.end(),
                         [&](std::size_t before) { return done[before]; });
    });
    const std::size_t k = *next;
    left.erase(next);
    nodes[k].work.run();
    done[k] = true;
  }
}

void submit_graph(Stream* s, const GraphExec& exec) {
  for (const Node& n : exec.nodes)
    if (n.work.early) n.work.early();
  const auto kernels = std::count_if(exec.nodes.begin(), exec.nodes.end(),
                                     [](const Node& n) { return n.work.kind == NodeKind::kernel; });
  s->queue.push_back({[nodes = exec.nodes] { run_nodes(nodes); }, nullptr, queue_launches(kernels)});
}

void drain_all() {
  const Open open;
  for (Stream* s : streams()) drain(*s);
}

cudaError_t launch(const cudaLaunchConfig_t& config, Call call) {
  KC_ENTER(cudaErrorLaunchOutOfResources);
  bool together = false;
  for (unsigned k = 0; k < config.numAttrs; ++k) {
    if (config.attrs[k].id != cudaLaunchAttributeCooperative) return refuse(cudaErrorInvalidValue, "an attribute");
    together = config.attrs[k].val.cooperative != 0;
  }
  const Launch what{config.gridDim, config.blockDim, config.dynamicSmemBytes, std::move(call), together};
  const std::string no = launch_refusal(what);
  if (!no.empty()) return refuse(cudaErrorInvalidConfiguration, "kernel " + name_of(what.call.kernel) + ": " + no);
  const void* kernel = what.call.kernel;
  return submit(config.stream, {NodeKind::kernel, kernel, together,
                                [what] {
                                  ++state().counters.launches;
                                  run(what);
                                },
                                nullptr});
}

}  // namespace kilochain::emulated

using namespace kilochain::emulated;

// ---- streams
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  KC_ENTER(cudaErrorMemoryAllocation);
  *stream = new Stream;
  streams().push_back(*stream);
  ++state().living.streams;
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  KC_ENTER();
  *least = 0, *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const cudaError_t entered = enter();
  if (!known(stream)) return not_a_stream();
  drain(*stream);  // CUDA lets the work finish
  std::erase(streams(), stream);
  delete stream;
  --state().living.streams;
  return entered;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  KC_ENTER();
  if (!known(stream)) return not_a_stream();
  if (stream->capture) return forbid_in_capture(__func__);
  drain(*stream);
  note_wait();
  let_others_run();
  return state().last = state().sticky;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  KC_ENTER();
  if (!known(stream)) return not_a_stream();
  if (stream->capture) return forbid_in_capture(__func__);
  if (stream->queue.empty()) {
    host_waited(stream->times);
    return cudaSuccess;
  }
  const Open open;
  run_next(*stream);  // who asks often enough sees an end
  return cudaErrorNotReady;
}
cudaError_t cudaDeviceSynchronize() {
  KC_ENTER();
  KC_NOT_IN_CAPTURE();
  drain_all();
  note_wait();
  return state().last = state().sticky;
}

// ---- events
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  KC_ENTER(cudaErrorMemoryAllocation);
  *event = new Event;
  events().insert(*event);
  ++state().living.events;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const cudaError_t entered = enter();
  if (!events().erase(event)) return refuse(cudaErrorInvalidResourceHandle, "not an event that exists");
  delete event;
  --state().living.events;
  return entered;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  KC_ENTER();
  if (!events().count(event)) return refuse(cudaErrorInvalidResourceHandle, "not an event that exists");
  if (!known(stream)) return not_a_stream();
  ++state().counters.events;
  if (mutant_strikes(Mutant::event_record)) return cudaSuccess;
  auto mark = std::make_shared<Mark>();
  mark->stream = stream;
  if (stream->capture) {
    mark->capture = stream->capture, mark->nodes = stream->last;
  } else {
    stream->queue.push_back({[mark] { mark->done = true, mark->times = job_times(); }, nullptr});
  }
  event->mark = std::move(mark);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  KC_ENTER();
  if (!events().count(event)) return refuse(cudaErrorInvalidResourceHandle, "not an event that exists");
  ++state().counters.event_waits;
  if (mutant_strikes(Mutant::event_wait) || !event->mark) {  // never recorded: as CUDA does
    ++state().counters.synchronisations;
    return cudaSuccess;
  }
  if (event->mark->capture) return refuse(cudaErrorCapturedEvent, "waiting for an event of a capture");
  {
    const Open open;
    run_until(*event->mark);
    host_waited(event->mark->times);
  }
  note_wait();
  let_others_run();
  return state().last = state().sticky;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  KC_ENTER();
  if (!events().count(event)) return refuse(cudaErrorInvalidResourceHandle, "not an event that exists");
  if (event->mark && event->mark->done) host_waited(event->mark->times);
  if (!event->mark || event->mark->done) return cudaSuccess;
  if (event->mark->capture) return refuse(cudaErrorCapturedEvent, "asking for an event of a capture");
  const Open open;
  run_next(*event->mark->stream);
  return event->mark->done ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  KC_ENTER();
  *milliseconds = 1;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  KC_ENTER();
  if (!events().count(event)) return refuse(cudaErrorInvalidResourceHandle, "not an event that exists");
  if (!known(stream)) return not_a_stream();
  ++state().counters.event_waits;
  if (mutant_strikes(Mutant::event_wait) || !event->mark) return cudaSuccess;
  const Mark& mark = *event->mark;
  if (mark.capture) {  // the stream joins that capture
    if (stream->capture && stream->capture != mark.capture)
      return refuse(cudaErrorStreamCaptureUnsupported, "an event of another capture");
    stream->last = stream->capture ? merged(stream->last, mark.nodes) : mark.nodes;
    stream->capture = mark.capture;
  } else if (stream->capture) {
    return refuse(cudaErrorStreamCaptureUnsupported, "a capture that waits for an event from outside");
  } else {
    stream->queue.push_back({nullptr, event->mark});
  }
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  KC_ENTER();
  return submit(stream, {NodeKind::host, nullptr, 0, [function, data] { function(data); }, nullptr});
}

// ---- capture
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  KC_ENTER();
  if (!known(stream)) return not_a_stream();
  if (stream->capture) return refuse(cudaErrorStreamCaptureUnsupported, "the stream is captured already");
  stream->capture = std::make_shared<Capture>();
  stream->capture->thread = std::this_thread::get_id();
  stream->capture->mode = mode;
  stream->capture->origin = stream;
  stream->last.clear();
  captures().push_back(stream->capture);
  ++state().counters.captures;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  KC_ENTER();
  if (!known(stream)) return not_a_stream();
  *status = !stream->capture           ? cudaStreamCaptureStatusNone
            : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const cudaError_t entered = enter();
  *graph = nullptr;
  if (!known(stream)) return not_a_stream();
  const auto capture = stream->capture;
  if (!capture) return refuse(cudaErrorStreamCaptureUnmatched, "the stream is not captured");
  if (capture->origin != stream) return refuse(cudaErrorStreamCaptureUnmatched, "the capture began in another stream");
  bool joined = true;
  const std::vector<std::size_t> last = stream->last;
  for (Stream* s : streams())
    if (s->capture == capture) {
      if (s != stream)  // what it did last must come before what the origin did last
        for (const std::size_t node : s->last)
          joined =
              joined && (std::find(last.begin(), last.end(), node) != last.end() ||
                         std::any_of(capture->graph->nodes.begin(), capture->graph->nodes.end(), [&](const Node& n) {
                           return std::find(n.after.begin(), n.after.end(), node) != n.after.end();
                         }));
      s->capture.reset();
      s->last.clear();
    }
  std::erase(captures(), capture);
  if (capture->invalid) return refuse(cudaErrorStreamCaptureInvalidated, "the capture is invalid");
  if (!joined) return refuse(cudaErrorStreamCaptureUnjoined, "a stream that joined the capture was not waited for");
  if (entered != cudaSuccess) return entered;
  *graph = capture->graph.release();
  ++state().living.graphs;
  return cudaSuccess;
}
