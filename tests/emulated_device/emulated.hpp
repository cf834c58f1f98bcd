// What a test may ask of the emulated device, and do to it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kilochain::emulated {

/// What was done since the start of the program. A difference of two says what a stretch did.
struct Counters {
  std::int64_t calls = 0;     ///< of the runtime, all of those that can fail
  std::int64_t launches = 0;  ///< of kernels, by calls or by nodes of graphs
  std::int64_t graph_launches = 0, captures = 0, instantiations = 0;
  std::int64_t copies = 0, copied_bytes = 0;  ///< between host and device, or inside it
  std::int64_t pageable_copies = 0;           ///< of those, with memory that is not pinned
  std::int64_t memsets = 0, products = 0;     ///< products: calls of cuBLAS that multiply
  std::int64_t columns = 0;                   ///< of the results of those products
  std::int64_t synchronisations = 0;          ///< calls that make the host wait
  std::int64_t dry_waits = 0;                 ///< of those, after which nothing was queued: the device has run dry
  std::int64_t ahead = 0, most_ahead = 0;     ///< launches that are queued; the most since forget_faults
  std::int64_t events = 0, event_waits = 0;   ///< records; waits for one, of a stream or of the host
  std::int64_t allocations = 0, frees = 0;    ///< of device memory
};
Counters counters();

/// What exists now: a test of leaks compares two of these.
struct Living {
  std::int64_t allocations = 0, device_bytes = 0, pinned = 0, streams = 0, events = 0, graphs = 0, execs = 0,
               handles = 0;
  bool operator==(const Living&) const = default;
};
Living living();
std::string text(const Living& l);

/// Orders of lanes, blocks and graph nodes are shuffled by this seed; 0 leaves them as they are numbered.
/// KILOCHAIN_EMULATED_SEED sets it for a program; it is 1 at first.
void set_seed(std::uint64_t seed);
/// The k-th call of the runtime from now fails (k = 1: the next); 0: none. KILOCHAIN_EMULATED_FAIL sets it for a
/// program.
void fail_call(std::int64_t k);
/// Whether a call was made to fail since fail_call.
bool failed();

/// What kernels did that they must not: races, accesses outside of their memory, barriers that not all reach. The first
/// such fault ends its launch, and every later call reports it, as CUDA does; `collect` notes it and goes on, for
/// races.
std::vector<std::string> faults();
void collect_races(bool on);
/// A device as new: no fault, no failure to come, no mutants. Memory and handles stay.
void forget_faults();

/// Mutants: the which-th such call from now is left out; whether that many came since.
enum class Mutant { none, event_wait, graph_update, event_record };
void plant(Mutant mutant, std::int64_t which = 0);
bool struck();
/// The places in the source where kernels synchronised since forget_syncs, as "file.hpp:line"; and mutants that leave
/// some of them out, wherever the compiler has put them.
std::set<std::string> sync_places();
void drop_syncs(const std::set<std::string>& places);
/// From now on, the places without which a kernel would have raced: those that alone stand between two accesses that
/// conflict. All at once and without a mutant; sync_places() should be known before.
void weigh_syncs();
std::set<std::string> needed_syncs();
void forget_syncs();

}  // namespace kilochain::emulated
