// A copy from a CUDA device to pinned memory that waits for none of the queued work.
#pragma once
#include "kernels/device/context.hpp"

namespace kilochain {

/// Copies more of what the work before a send (context.hpp) left behind, once that send was waited for; beside the work that
/// is queued now. Waits until the bytes are there. Defined where CUDA is.
void fetch_sent(const Place& place, void* to, const void* from, std::size_t bytes);

#if !defined(KILOCHAIN_HAS_CUDA)
inline void fetch_sent(const Place&, void*, const void*, std::size_t) {}  // nothing is sent
#endif

}  // namespace kilochain
