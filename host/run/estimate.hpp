// Bytes and seconds of a run, before it is begun, and whether it fits.
#pragma once
#include <string>
#include <vector>

#include "host/chains/draws_buffer.hpp"
#include "host/run/options.hpp"

namespace kilochain {

struct Estimate {
  struct Row {
    std::string what;   ///< state, adaptation, queries, data, draws window, statistics, ...
    std::string where;  ///< host, device, disk
    std::size_t bytes;
  };
  std::vector<Row> rows;
  std::size_t host_bytes = 0, device_bytes = 0, disk_bytes = 0;
  std::size_t host_available = 0, device_available = 0, disk_available = 0;
  double seconds = -1;                           ///< predicted; -1 when there is nothing to predict from
  double least_seconds = -1, most_seconds = -1;  ///< of an automatic length, else the same
  std::size_t least_disk = 0, most_disk = 0;     ///< bytes of the file of an automatic length; else 0
  std::vector<std::string> notes;                ///< how many chains, where that was left open
  bool fits = true;
  std::string advice;  ///< flags that would make it fit
};

/// How the figures of a run are made.
enum class SummaryFrom {
  nothing,  ///< no draw is kept
  stream,   ///< statistics of bounded memory that see every draw once
  memory,   ///< all draws, in memory
  file,  ///< all draws, read back by groups of coordinates: of a run that is resumed, whose first draws are there alone
};
/// From memory where the draws take at most 1 GiB there (as double), or are asked for; else from a stream. num_draws:
/// of each chain.
SummaryFrom summary_from(const Options& options, std::int64_t recorded, std::int64_t num_draws);
/// Draws of each chain that have room in that memory.
std::int64_t draws_in_memory(const Options& options, std::int64_t recorded);

/// What the windows of the sampling phase hold.
inline Recorded recorded_of(const Options& o) {
  return o.draws == KeptDraws::none ? Recorded::nothing : Recorded::draws;
}
/// Spins that are stored beside each draw: those of a spin model with a file of all draws.
std::int64_t kept_spins(const Options& options, const TargetInfo& info);
/// What a draw takes in a window, in numbers of the precision.
std::int64_t window_values(const Options& options, const TargetInfo& info, Precision precision);
/// Windows that a phase has room for beside one that is written: one that is filled; where a device draws ahead, one
/// more and one that is taken.
inline int windows_of(bool ahead) { return ahead ? 3 : 1; }
/// Draws of one window: enough to be written in large pieces, few enough to stay small in memory.
std::int64_t window_draws(std::int64_t num_chains, std::int64_t dim, std::int64_t num_draws, Precision precision);
/// The state of the chains that a run saves in its file, about; 0: none, because it would take more room than the
/// draws.
std::size_t bytes_of_run_state(const Options& options, const Context& context, const TargetInfo& info,
                               Precision precision, std::int64_t num_draws);
/// Room that the writer sets aside beside the file, for one window that does not fit the chunks (draws/journal.hpp):
/// it is no longer available.
std::size_t journal_bytes(const Options& options, const TargetInfo& info, Precision precision);
/// The accounting of a run whose target is loaded; without a predicted time.
Estimate estimate_for(const Options& options, const Context& context, const TargetInfo& info, Precision precision);
/// The same with the time of a few chains for a fraction of a second.
template <class Real>
Estimate estimate(const Options& options, const Context& context, Target<Real>& target);
/// Throws Error (usage) with the table when the estimate does not fit.
void refuse_if_too_large(const Options& options, const Estimate& estimate);

}  // namespace kilochain
