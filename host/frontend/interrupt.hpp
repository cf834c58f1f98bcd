// Ctrl-C, SIGTERM, SIGHUP (a lost terminal) and SIGUSR1 (a queue's warning): the first one asks the command to end, a
// second one kills (what is being written to a file of draws is written first), a third one at once.
#pragma once
#include <atomic>

namespace kilochain::cli {

/// Becomes true with the first signal.
std::atomic<bool>& stop_requested();
/// From the first draw to the last word: output that is being written is finished.
void catch_signals();

}  // namespace kilochain::cli
