// What every call shares: counting, failures on demand, faults that stay; and the device's description.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/emulated_device/runtime.hpp"

namespace kilochain::emulated {
namespace {

void report() {
  const Counters& c = state().counters;
  std::fprintf(
      stderr,
      "emulated device: calls %ld, launches %ld, graph launches %ld, captures %ld, instantiations %ld, copies "
      "%ld (%ld bytes; %ld pageable), memsets %ld, products %ld, synchronisations %ld, events %ld, event waits "
      "%ld, allocations %ld\nemulated device: by threads: accesses %ld, shuffles %ld, warp syncs %ld, block syncs %ld\n"
      "emulated device: left over: %s\n",
      c.calls, c.launches, c.graph_launches, c.captures, c.instantiations, c.copies, c.copied_bytes, c.pageable_copies,
      c.memsets, c.products, c.synchronisations, c.events, c.event_waits, c.allocations, steps.accesses, steps.shuffles,
      steps.syncs, steps.block_syncs, text(living()).c_str());
}

State from_environment() {
  State s;
  const auto number = [](const char* name, std::int64_t otherwise) {
    const char* value = std::getenv(name);
    return value ? std::strtoll(value, nullptr, 10) : otherwise;
  };
  s.seed = static_cast<std::uint64_t>(number("KILOCHAIN_EMULATED_SEED", 1));
  s.fail_in = number("KILOCHAIN_EMULATED_FAIL", 0);
  s.lose_in = number("KILOCHAIN_EMULATED_LOSE", 0);
  s.collects = number("KILOCHAIN_EMULATED_COLLECT", 0) != 0;
  if (number("KILOCHAIN_EMULATED_REPORT", 0) != 0) std::atexit(report);
  return s;
}

}  // namespace

State& state() {
  static State s = from_environment();
  return s;
}
Counters counters() { return state().counters; }
Living living() { return state().living; }
std::string text(const Living& l) {
  char out[240];
  std::snprintf(out, sizeof out,
                "%ld allocations (%ld bytes), %ld pinned, %ld streams, %ld events, %ld graphs, %ld executable graphs, "
                "%ld handles",
                l.allocations, l.device_bytes, l.pinned, l.streams, l.events, l.graphs, l.execs, l.handles);
  return out;
}
void set_seed(std::uint64_t seed) { state().seed = seed; }
void fail_call(std::int64_t k) { state().fail_in = k, state().failed = false; }
bool failed() { return state().failed; }
std::vector<std::string> faults() { return state().faults; }
void collect_races(bool on) { state().collects = on; }
void plant(Mutant mutant, std::int64_t which) { state().mutant = mutant, state().mutant_at = which; }
void forget_faults() {
  State& s = state();
  s.faults.clear();
  s.sticky = s.last = cudaSuccess;
  s.counters.most_ahead = s.counters.ahead;
  fail_call(0);
  plant(Mutant::none);
  forget_pinned_uses();
  drop_syncs({});
}

bool struck() { return state().mutant != Mutant::none && state().mutant_at <= 0; }
bool mutant_strikes(Mutant m) { return state().mutant == m && --state().mutant_at == 0; }

std::uint64_t random_bits() {
  static std::uint64_t x = 0, of = 0;
  if (of != state().seed) of = x = state().seed;
  x += 0x9e3779b97f4a7c15u;  // splitmix64
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

cudaError_t enter(cudaError_t failure) {
  State& s = state();
  ++s.counters.calls;
  if (s.fail_in > 0 && --s.fail_in == 0) {
    s.failed = true;
    return s.last = failure;
  }
  if (s.lose_in > 0 && --s.lose_in == 0) s.sticky = cudaErrorECCUncorrectable;
  if (s.sticky != cudaSuccess) s.last = s.sticky;
  return s.sticky;
}
cudaError_t refuse(cudaError_t error, const std::string& why) {
  std::fprintf(stderr, "emulated device: %s: %s\n", cudaGetErrorName(error), why.c_str());
  return state().last = error;
}

cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  KC_ENTER();
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {  // a wish about speed, which is not played
    if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared)
      return refuse(cudaErrorInvalidValue, "a carve-out of shared memory is -1 or 0 to 100 per cent");
    return cudaSuccess;
  }
  if (value > 227 << 10) return refuse(cudaErrorInvalidValue, "too much dynamic shared memory");
  state().dynamic_shared[kernel] = static_cast<std::size_t>(value);
  return cudaSuccess;
}
cudaError_t occupancy(int* blocks, const void*, int threads, std::size_t) {
  KC_ENTER();
  *blocks = threads > 0 ? 2048 / threads : 0;
  return cudaSuccess;
}

}  // namespace kilochain::emulated

using namespace kilochain::emulated;

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define KC_NAME(e) \
  case e:          \
    return #e;
    KC_NAME(cudaSuccess)
    KC_NAME(cudaErrorInvalidValue)
    KC_NAME(cudaErrorMemoryAllocation)
    KC_NAME(cudaErrorInvalidConfiguration)
    KC_NAME(cudaErrorInvalidMemcpyDirection)
    KC_NAME(cudaErrorInsufficientDriver)
    KC_NAME(cudaErrorDevicesUnavailable)
    KC_NAME(cudaErrorNoDevice)
    KC_NAME(cudaErrorInvalidDevice)
    KC_NAME(cudaErrorNoKernelImageForDevice)
    KC_NAME(cudaErrorECCUncorrectable)
    KC_NAME(cudaErrorInvalidResourceHandle)
    KC_NAME(cudaErrorNotReady)
    KC_NAME(cudaErrorIllegalAddress)
    KC_NAME(cudaErrorLaunchOutOfResources)
    KC_NAME(cudaErrorLaunchTimeout)
    KC_NAME(cudaErrorNotSupported)
    KC_NAME(cudaErrorLaunchFailure)
    KC_NAME(cudaErrorStreamCaptureUnsupported)
    KC_NAME(cudaErrorStreamCaptureInvalidated)
    KC_NAME(cudaErrorStreamCaptureUnmatched)
    KC_NAME(cudaErrorStreamCaptureUnjoined)
    KC_NAME(cudaErrorCapturedEvent)
    KC_NAME(cudaErrorGraphExecUpdateFailure)
    KC_NAME(cudaErrorUnknown)
#undef KC_NAME
  }
  return "cudaErrorUnknown";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    default:
      return cudaGetErrorName(error);
  }
}
cudaError_t cudaGetLastError() {
  const cudaError_t last = state().last;
  state().last = state().sticky;
  return last;
}
cudaError_t cudaPeekAtLastError() { return state().last; }
cudaError_t cudaGetDeviceCount(int* count) {
  KC_ENTER();
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  KC_ENTER();
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  KC_ENTER();
  return device == 0 ? cudaSuccess : refuse(cudaErrorInvalidDevice, "there is one device, number 0");
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  KC_ENTER();
  if (device != 0) return refuse(cudaErrorInvalidDevice, "there is one device, number 0");
  std::memset(p, 0, sizeof *p);
  std::strcpy(p->name, "cuda (emulated)");
  std::size_t available = 0;
  cudaMemGetInfo(&available, &p->totalGlobalMem);
  p->sharedMemPerBlock = 48 << 10, p->sharedMemPerBlockOptin = 227 << 10, p->sharedMemPerMultiprocessor = 228 << 10;
  p->major = 9, p->minor = 0, p->multiProcessorCount = multiprocessors, p->maxThreadsPerBlock = 1024;
  p->maxThreadsPerMultiProcessor = 2048, p->warpSize = 32, p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->l2CacheSize = 50 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (const auto error = cudaGetDeviceProperties(&p, device); error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(p.sharedMemPerBlock);
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(p.sharedMemPerBlockOptin);
      break;
  }
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  KC_ENTER();
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
