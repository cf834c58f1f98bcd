// What happened before what across streams: each stream counts its jobs, and a job knows how far every stream had come,
// as far as anything says so, when it began: what was before it in its stream, the events that its stream waited for,
// and what the host had waited for when it submitted the job (a vector clock). Two jobs that touch the same bytes, one
// of them writing, must be ordered by it, in whatever order they happened to run.
#include <algorithm>

#include "tests/emulated_device/runtime.hpp"

namespace kilochain::emulated {
namespace {

struct Job {
  std::uint32_t stream, time;
};
struct Order {
  std::vector<Job> works{{0, 0}};  ///< by their numbers, from 1
  Times host, now;
  std::uint32_t stream = 0, streams = 0;
  std::uint32_t asked = 0;  ///< the last question, which is asked again for every byte
  bool answer = true;
};
Order& order() {
  static Order o;
  return o;
}

}  // namespace

void merge(Times& into, const Times& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t k = 0; k < from.size(); ++k) into[k] = std::max(into[k], from[k]);
}
std::uint32_t new_stream() { return ++order().streams; }
const Times& host_times() { return order().host; }
void host_waited(const Times& times) { merge(order().host, times); }
const Times& job_times() { return order().now; }
std::uint32_t job_stream() { return order().stream; }

void begin_job(std::uint32_t stream, Times& times) {
  if (times.size() <= stream) times.resize(stream + 1);
  ++times[stream];
  order().stream = stream, order().now = times;
}
void begin_host_job() {  // of the host itself, which is stream 0
  begin_job(0, order().host);
}
std::uint32_t new_work() {
  Order& o = order();
  o.works.push_back({o.stream, o.now[o.stream]});
  o.asked = 0;
  return static_cast<std::uint32_t>(o.works.size() - 1);
}
bool happened_before(std::uint32_t work) {
  Order& o = order();
  if (work == o.asked) return o.answer;
  const Job& job = o.works[work];
  o.asked = work;
  return o.answer = job.stream < o.now.size() && job.time <= o.now[job.stream];
}

}  // namespace kilochain::emulated
