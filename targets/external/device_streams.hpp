// Streams of a CUDA device between a run and code of others: what their arrays' protocols ask for. Streams are numbers,
// as DLPack and the CUDA array interface have them: 1 is the default stream. Of builds with CUDA alone.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kilochain {

/// The device that this thread uses.
int device_of_thread();
/// What is queued on `later` from now on begins after what is queued on `earlier` now.
void order_streams(std::uintptr_t earlier, std::uintptr_t later);
/// Queues a copy on the device.
void copy_on_device(void* to, const void* from, std::size_t bytes, std::uintptr_t stream);

}  // namespace kilochain
