// What the CUDA build adds below kernels/device/context.hpp; defined in cuda_device.cu.
#pragma once
#include "kernels/device/context.hpp"

namespace kilochain::cuda {

std::size_t available_bytes(const Context& context);
void* allocate(const Context& context, std::size_t bytes);
void release(const Context& context, void* pointer) noexcept;
void copy(const Context& context, void* to, const void* from, std::size_t bytes);  ///< either direction, synchronous
void synchronize(const Context& context);

}  // namespace kilochain::cuda
