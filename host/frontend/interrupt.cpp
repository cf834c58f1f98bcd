#include "host/frontend/interrupt.hpp"

#include <csignal>

#include "host/draws/unbroken.hpp"

namespace kilochain::cli {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");

/// The first signal asks the run to end; a second one kills, between two writes to the file of draws.
void on_signal(int signal_number) {
  if (stop.exchange(true)) Unbroken::end(signal_number);
}

}  // namespace

std::atomic<bool>& stop_requested() { return stop; }

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction before = {};
    sigaction(signal_number, nullptr, &before);
    const bool not_asked = signal_number == SIGHUP && before.sa_handler == SIG_IGN;  // nohup
    if (!not_asked) sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace kilochain::cli
