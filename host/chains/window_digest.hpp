// What the host must know of a window whose draws stay on the device, summed up there: 160 bytes in place of every chain's
// record. Defined where CUDA is.
#pragma once
#include "host/chains/chains.hpp"
#include "host/chains/window.hpp"

namespace kilochain {

/// What a window has left on the device.
struct WindowRecords {
  const ChainControl* control;          ///< of each chain, after the window
  View2<const std::uint8_t> diverging;  ///< (chain, slot)
  Count first_iteration, thin, count;   ///< of the window's draws
};

/// Queues the work that fills *digest, but for what is told, and quarantined[chain].
void digest_window(const Place& place, const WindowRecords& records, std::uint8_t* quarantined, WindowDigest* digest);

#if !defined(KILOCHAIN_HAS_CUDA)
inline void digest_window(const Place&, const WindowRecords&, std::uint8_t*, WindowDigest*) {}  // no window stays
#endif

}  // namespace kilochain
