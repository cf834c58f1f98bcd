// Streams are queues of work that runs when the host waits for it, and then only as far as it must, in the thread that
// waits; with a seed, other streams go on a little at such a time, too. So what was not waited for has not happened,
// and what an event should have ordered comes in the wrong order.
//   pageable memory: a copy from it takes its bytes at the call; a copy to it waits, as CUDA says.
//   pinned memory: a copy from it takes its bytes when it runs; a copy to it makes the target NaN until it has run (with an
//   even seed the target keeps its old bytes).
#include "tests/emulated_device/streams.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace kilochain::emulated {
namespace {

std::set<Stream*>& streams() {
  static std::set<Stream*> all;
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
  if (job.run && (state().sticky == cudaSuccess)) job.run();
}
void run_until(Mark& mark) {
  while (!mark.done && !mark.stream->queue.empty()) run_next(*mark.stream);
  mark.done = true;
}
void drain(Stream& s) {
  const Open open;
  while (!s.queue.empty()) run_next(s);
  host_waited(s.times);
}
/// Others go on too, sometimes: nothing says that they do not.
void let_others_run() {
  if (state().seed == 0) return;
  const Open open;
  for (Stream* s : streams())
    while (!s->queue.empty() && random_bits() % 4 == 0) run_next(*s);
}

std::vector<std::size_t> merged(std::vector<std::size_t> a, const std::vector<std::size_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  a.erase(std::unique(a.begin(), a.end()), a.end());
  return a;
}

bool known(Stream* s) { return s && streams().count(s); }

cudaError_t not_a_stream() {
  return refuse(cudaErrorInvalidResourceHandle, "not a stream that exists (the default stream is not used here)");
}

}  // namespace

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
  s->queue.push_back({std::move(work.run), nullptr});
  return cudaSuccess;
}

void submit_graph(Stream* s, const GraphExec& exec) {
  for (const Node& n : exec.nodes)
    if (n.work.early) n.work.early();
  s->queue.push_back({[nodes = exec.nodes] {
                        // Any order that respects the edges.
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
                      },
                      nullptr});
}

void drain_all() {
  const Open open;
  for (Stream* s : streams()) drain(*s);
}

cudaError_t launch(const cudaLaunchConfig_t& config, Call call) {
  KC_ENTER(cudaErrorLaunchOutOfResources);
  const Launch what{config.gridDim, config.blockDim, config.dynamicSmemBytes, std::move(call)};
  const std::string no = launch_refusal(what, 48 << 10);
  if (!no.empty()) return refuse(cudaErrorInvalidConfiguration, "kernel " + name_of(what.call.kernel) + ": " + no);
  const void* kernel = what.call.kernel;
  return submit(config.stream, {NodeKind::kernel, kernel, 0,
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
  streams().insert(*stream);
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
  streams().erase(stream);
  delete stream;
  --state().living.streams;
  return entered;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  KC_ENTER();
  if (!known(stream)) return not_a_stream();
  if (stream->capture) return forbid_in_capture(__func__);
  ++state().counters.synchronisations;
  drain(*stream);
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
  ++state().counters.synchronisations;
  drain_all();
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
  ++state().counters.synchronisations, ++state().counters.event_waits;
  if (mutant_strikes(Mutant::event_wait) || !event->mark) return cudaSuccess;  // never recorded: as CUDA does
  if (event->mark->capture) return refuse(cudaErrorCapturedEvent, "waiting for an event of a capture");
  {
    const Open open;
    run_until(*event->mark);
    host_waited(event->mark->times);
  }
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

// ---- copies
namespace {

enum class Side { device, pinned, pageable };
Side side(const void* p, std::size_t bytes) {
  return is_device(p) ? Side::device : is_pinned(p, bytes) ? Side::pinned : Side::pageable;
}

cudaError_t copy_refused(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool d = is_device(to), s = is_device(from);
  const cudaMemcpyKind is =
      d ? (s ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice) : (s ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  if (kind != cudaMemcpyDefault && kind != is)
    return refuse(cudaErrorInvalidMemcpyDirection, "a copy in another direction than it says");
  for (const void* p : {static_cast<const void*>(to), from}) {
    const std::string bad = bad_range(p, bytes);
    if (!bad.empty()) return refuse(cudaErrorInvalidValue, "a copy of " + bad);
  }
  return cudaSuccess;
}

/// Rows of `width` bytes; one row is a plain copy.
cudaError_t copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!known(stream)) return not_a_stream();
  if (width == 0 || height == 0) return cudaSuccess;
  const std::size_t to_bytes = (height - 1) * to_pitch + width, from_bytes = (height - 1) * from_pitch + width;
  if (const auto no = copy_refused(to, from, std::min(to_bytes, from_bytes), kind); no != cudaSuccess) return no;
  const Side source = side(from, from_bytes), target = side(to, to_bytes);
  const bool pageable = source == Side::pageable || target == Side::pageable;
  if (pageable && stream->capture) return forbid_in_capture("a copy with pageable memory");
  Counters& c = state().counters;
  std::shared_ptr<std::vector<char>> taken;
  if (source == Side::pageable) {
    taken = std::make_shared<std::vector<char>>(static_cast<const char*>(from),
                                                static_cast<const char*>(from) + from_bytes);
  }
  Work work{NodeKind::copy, nullptr, static_cast<int>(kind),
            [=] {
              ++state().counters.copies;
              state().counters.copied_bytes += static_cast<std::int64_t>(width * height);
              for (std::size_t k = 0; k < height; ++k) {
                if (source == Side::device) touch_range(static_cast<const char*>(from) + k * from_pitch, width, false);
                if (target == Side::device) touch_range(static_cast<const char*>(to) + k * to_pitch, width, true);
              }
              const char* source_bytes = taken ? taken->data() : static_cast<const char*>(from);
              for (std::size_t k = 0; k < height; ++k)
                std::memmove(static_cast<char*>(to) + k * to_pitch, source_bytes + k * from_pitch, width);
            },
            nullptr};
  if (target == Side::pinned && (state().seed == 0 || state().seed % 2 == 1))  // with an even seed: the old bytes
    work.early = [=] {
      for (std::size_t k = 0; k < height; ++k) poison(static_cast<char*>(to) + k * to_pitch, width);
    };
  const cudaError_t submitted = submit(stream, std::move(work));
  if (submitted != cudaSuccess) return submitted;
  if (pageable) ++c.pageable_copies;
  if (target == Side::pageable) {
    ++c.synchronisations;
    drain(*stream);
    return state().last = state().sticky;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  KC_ENTER();
  return copy(to, bytes, from, bytes, bytes, 1, kind, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  KC_ENTER();
  return copy(to, to_pitch, from, from_pitch, width, height, kind, stream);
}
/// On the default stream, which waits for no stream of ours: it runs at once.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  KC_ENTER();
  KC_NOT_IN_CAPTURE();
  if (const auto no = copy_refused(to, from, bytes, kind); no != cudaSuccess) return no;
  ++state().counters.synchronisations, ++state().counters.copies;
  state().counters.copied_bytes += static_cast<std::int64_t>(bytes);
  const Open open;
  begin_host_job();
  if (is_device(from)) touch_range(from, bytes, false);
  if (is_device(to)) touch_range(to, bytes, true);
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  KC_ENTER();
  if (bytes == 0) return cudaSuccess;
  const std::string bad = is_device(to) ? bad_range(to, bytes) : "host memory";
  if (!bad.empty()) return refuse(cudaErrorInvalidValue, "a memset of " + bad);
  return submit(stream, {NodeKind::set, nullptr, 0,
                         [=] {
                           ++state().counters.memsets;
                           touch_range(to, bytes, true);
                           std::memset(to, value, bytes);
                         },
                         nullptr});
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  KC_ENTER();
  KC_NOT_IN_CAPTURE();
  const std::string bad = is_device(to) ? bad_range(to, bytes) : "host memory";
  if (!bad.empty()) return refuse(cudaErrorInvalidValue, "a memset of " + bad);
  ++state().counters.memsets;
  const Open open;
  begin_host_job();
  touch_range(to, bytes, true);
  std::memset(to, value, bytes);
  return cudaSuccess;
}
