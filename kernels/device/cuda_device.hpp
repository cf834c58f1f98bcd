// What the CUDA build adds below kernels/device/context.hpp; defined in cuda_device.cu.
#pragma once
#include "kernels/device/context.hpp"

namespace kilochain::cuda {

std::size_t available_bytes(const Place& place);
void* allocate(const Place& place, std::size_t bytes, Memory memory, const char* what);
void release(const Place& place, Memory memory, void* pointer) noexcept;
void begin_copy(const Place& place, void* to, const void* from, std::size_t bytes);  ///< either direction
void synchronize(const Place& place);

}  // namespace kilochain::cuda
