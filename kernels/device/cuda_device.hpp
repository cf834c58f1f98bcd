// What the CUDA build adds below kernels/device/context.hpp; defined in cuda_device.cu.
#pragma once
#include "kernels/device/context.hpp"

namespace kilochain::cuda {

std::size_t available_bytes(const Place& place);
void* allocate(const Place& place, std::size_t bytes, Memory memory, const char* what);
void release(const Place& place, Memory memory, void* pointer) noexcept;
void begin_copy(const Place& place, void* to, const void* from, std::size_t bytes);  ///< either direction
void synchronize(const Place& place);
void begin_clear(const Place& place, void* to, std::size_t bytes);
void send_to_host(const Place& place, void* to, const void* from, std::size_t bytes);
void wait_for_sent(const Place& place);
/// The context's cublasHandle_t, bound to its stream; made when it is first asked for, which must not be in a capture.
void* blas_of(const Place& place);
/// Why cuBLAS cannot be called, where it is loaded when it is first needed (cublas_on_demand.cpp); empty: it can.
std::string blas_missing();
/// Grows whenever device memory is given back: addresses that were noted before may be others' now.
std::uint64_t memory_epoch();

}  // namespace kilochain::cuda
