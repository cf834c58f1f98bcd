// Where work runs: backend, device, stream, BLAS handle. The first parameter of everything that allocates, copies or launches.
// CUDA work goes to one explicit stream; the handles are void* so that a build without CUDA sees the same type.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/error.hpp"
#include "kernels/device/platform.hpp"

namespace kilochain {

enum class Backend { cpu, cuda };

struct Context {
  Backend backend = Backend::cpu;
  int threads = 1;         ///< CPU threads that share the chains
  int device = 0;          ///< CUDA device number
  void* stream = nullptr;  ///< cudaStream_t
  void* blas = nullptr;    ///< cublasHandle_t, bound to the stream
  bool graphs = true;      ///< CUDA: capture a round's launches once and replay them, where the sampler allows it
  std::string name = "cpu";
};

/// A context on the CPU with `threads` threads (0: all that the machine offers).
Context cpu_context(int threads = 0);
/// A context on CUDA device `device`; throws an Error when there is none that can be used.
Context cuda_context(int device);
/// Why no CUDA device can be used; empty when one can.
std::string cuda_unavailable();
/// Whether this build's CUDA device is one that the CPU plays, for tests (tests/emulated_device): only who asks for it gets it.
bool cuda_emulated();
/// One line for each CUDA device: name, memory, compute capability.
std::vector<std::string> cuda_devices();
/// Bytes that can be allocated now on the context's device.
std::size_t available_bytes(const Context& context);

void* allocate_bytes(const Context& context, std::size_t bytes);  ///< zeroed, 128-byte aligned
void release_bytes(const Context& context, void* pointer) noexcept;
void copy_to_device(const Context& context, void* to, const void* from, std::size_t bytes);
void copy_to_host(const Context& context, void* to, const void* from, std::size_t bytes);
void synchronize(const Context& context);

/// Memory on the context's device: owned, zeroed, movable.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Context& context, std::size_t count)
      : context_(&context), data_(static_cast<T*>(allocate_bytes(context, count * sizeof(T)))), count_(count) {}
  Buffer(Buffer&& o) noexcept : context_(o.context_), data_(o.data_), count_(o.count_) { o.data_ = nullptr; }
  Buffer& operator=(Buffer&& o) noexcept {
    std::swap(context_, o.context_), std::swap(data_, o.data_), std::swap(count_, o.count_);
    return *this;
  }
  ~Buffer() {
    if (data_) release_bytes(*context_, data_);
  }
  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  void upload(const T* from) { copy_to_device(*context_, data_, from, count_ * sizeof(T)); }
  void download(T* to) const { copy_to_host(*context_, to, data_, count_ * sizeof(T)); }
  std::vector<T> host() const {
    std::vector<T> v(count_);
    download(v.data());
    return v;
  }

 private:
  const Context* context_ = nullptr;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace kilochain
