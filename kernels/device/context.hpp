// Where memory lives and work runs: backend, device, stream. The first parameter of everything that allocates,
// copies or launches. CUDA work goes to one explicit stream; its handles are void* so that a build without CUDA sees
// the same type. Streams, and a BLAS handle where one is asked for, have one owner, which every context and buffer of
// theirs shares: the last one frees them.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "kernels/device/view.hpp"

namespace kilochain {

enum class Backend { cpu, cuda };

/// Where memory lives: all that a buffer must know to copy and to free.
struct Place {
  Backend backend = Backend::cpu;
  int device = 0;               ///< CUDA device number
  void* stream = nullptr;       ///< cudaStream_t
  std::shared_ptr<void> owner;  ///< of the streams, and of the BLAS handle and its workspace
};

struct Context : Place {
  int threads = 1;               ///< CPU threads that share the chains
  bool graphs = true;            ///< CUDA: capture a round's launches once and replay them, where the sampler allows it
  bool fuse = true;              ///< CUDA: whole iterations in one kernel, where blocks can evaluate the target
  bool prior_only = false;       ///< models are evaluated without what they give to log_likelihood
  int multiprocessors = 0;       ///< of a CUDA device
  int capability = 0;            ///< its compute capability, times ten
  std::size_t shared_bytes = 0;  ///< shared memory that a block of it may ask for
  std::string name = "cpu";
};

/// A compute capability as NVIDIA writes it: 75 is "7.5".
inline std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

/// A context on the CPU with `threads` threads (0: all that the machine offers).
Context cpu_context(int threads = 0);
/// A context on CUDA device `device`; throws an Error when there is none that can be used.
Context cuda_context(int device);
/// Two answers of cuda_unavailable of which a run on the CPU need not be told.
inline constexpr const char* no_cuda_build = "this build has no CUDA";
inline constexpr const char* no_cuda_driver = "this machine has no CUDA driver";
/// Why no CUDA device can be used; empty when one can.
std::string cuda_unavailable();
/// Whether this build's CUDA device is emulated on the CPU, for tests (tests/emulated_device): `auto` never chooses it.
bool cuda_emulated();
/// One line for each CUDA device: name, memory, compute capability.
std::vector<std::string> cuda_devices();
/// Bytes that can be allocated now at this place.
std::size_t available_bytes(const Place& place);

/// working: where the kernels run. pinned: on the host, where a device copies to and from without a stop in between; on
/// the CPU the same as working.
enum class Memory { working, pinned };

/// Zeroed, 128-byte aligned, and 128 bytes longer: a row may be read a little past its end. Throws Error (device) when
/// a device has no room: `what`, the row of `kilochain estimate` that the bytes belong to, is in the message.
void* allocate_bytes(const Place& place, std::size_t bytes, Memory memory, const char* what);
void release_bytes(const Place& place, Memory memory, void* pointer) noexcept;
/// Both wait until the bytes are there.
void copy_to_device(const Place& place, void* to, const void* from, std::size_t bytes);
void copy_to_host(const Place& place, void* to, const void* from, std::size_t bytes);
/// Begins a copy to pinned memory, which `synchronize` waits for; on the CPU it is done at once.
void begin_copy_to_host(const Place& place, void* to, const void* from, std::size_t bytes);
void synchronize(const Place& place);
/// Begins to set bytes to zero, in the order of the work that is queued; on the CPU it is done at once.
void begin_clear(const Place& place, void* to, std::size_t bytes);
/// Sends what the work queued so far leaves behind to pinned memory, beside the work that is queued later. One send is
/// under way at a time: it waits for the one before.
void send_to_host(const Place& place, void* to, const void* from, std::size_t bytes);
/// Waits for what was sent, and for nothing that was queued since.
void wait_for_sent(const Place& place);

/// Memory at one place: owned, zeroed, movable. Keeps alive what it needs of the context that it was made with.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  Buffer(const Place& place, std::size_t count, const char* what = "data and scratch", Memory memory = Memory::working)
      : place_(place),
        memory_(memory),
        data_(static_cast<T*>(allocate_bytes(place, count * sizeof(T), memory, what))),
        count_(count) {}
  Buffer(Buffer&& o) noexcept { swap(o); }
  Buffer& operator=(Buffer&& o) noexcept {
    swap(o);
    return *this;
  }
  ~Buffer() {
    if (data_) release_bytes(place_, memory_, data_);
  }
  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  /// The elements. Of a device's memory only kernels may touch them.
  View1<T> view() const { return {data_, static_cast<Count>(count_)}; }
  void upload(const T* from) { copy_to_device(place_, data_, from, bytes()); }
  void download(T* to) const { copy_to_host(place_, to, data_, bytes()); }
  std::vector<T> host() const {
    std::vector<T> v(count_);
    download(v.data());
    return v;
  }

 private:
  void swap(Buffer& o) noexcept {
    std::swap(place_, o.place_), std::swap(memory_, o.memory_), std::swap(data_, o.data_), std::swap(count_, o.count_);
  }
  Place place_;
  Memory memory_ = Memory::working;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace kilochain
