// One call from options to a posterior: allocate, warm up, sample, write, summarise. The command line and every other
// front end are thin over this.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "host/run/estimate.hpp"
#include "host/run/options.hpp"
#include "host/run/run_summary.hpp"
#include "host/run/warmup_draws.hpp"
#include "host/statistics/series.hpp"

namespace kilochain {

/// What is known of a run under way.
struct Result;

struct Progress {
  std::string phase;                 ///< "warm-up" or "sampling"
  std::int64_t done = 0, total = 0;  ///< iterations of each chain; total 0: not known
  double seconds = 0, iterations_per_second = 0;
  double eta_seconds = -1;   ///< of the phase, no later than the run's limit; -1: not known
  double seconds_left = -1;  ///< until the run's limit; -1: it has none
  double acceptance_rate = 0;
  double rhat_max = 0, ess_min = 0;  ///< of a few coordinates and the log density, roughly; NaN while unknown
  std::int64_t quarantined = 0;
  std::string waits_for;  ///< of an automatic warm-up: its stage, and the signs that were missing when it looked last
  std::function<Result()>
      so_far;  ///< with keep_draws, while sampling: the draws until now; call it within the callback
};
using ProgressCallback = std::function<void(const Progress&)>;

struct QuarantinedChain {
  std::int64_t chain, iteration;
  std::string reason;
};

/// Divergences in Result::divergences, at most; a file of draws takes all whose points were kept.
constexpr std::size_t most_kept_divergences = 10000;

struct Result {
  RunSummary summary;
  std::vector<QuarantinedChain> quarantined;
  bool interrupted = false;  ///< `stop` became true: summary and file hold what was drawn until then
  bool out_of_time = false;  ///< `interrupted`, by max_seconds
  bool enough = false;       ///< of an automatic length: what was drawn until then has converged
  bool resumable = false;    ///< the file has the state of the run: it can be resumed
  std::int64_t draws_written = 0;
  std::vector<Divergence>
      divergences;  ///< where trajectories diverged, by draw; the first few of each chain and window
  std::vector<double>
      draws;  ///< with keep_draws: [chain, draw, dim], draws_written of each chain; quarantined chains NaN
  std::vector<std::string> names;   ///< with keep_draws: of the last dimension
  std::vector<Variable> variables;  ///< with keep_draws: how the names divide into variables
  std::vector<double> lp;           ///< with keep_draws: [chain, draw], log density
  std::map<std::string, std::vector<float>>
      statistics;  ///< with keep_draws: [chain, draw]: acceptance_rate, diverging (0 or 1), the sampler's
  std::shared_ptr<WarmupDraws> warmup;  ///< with keep_warmup, or keep_draws and a stop in the warm-up: its last draws
  std::vector<std::string> notes;       ///< what a user should know: fallback to the CPU, warm-up not converged, ...
  std::string evaluation;               ///< how the target is evaluated, and a factor multiplied, and why (--verbose)
};

/// Interrupted before the first draw.
bool nothing_drawn(const Result& result);
/// The exit status of a command that ends with this result.
int status_of(const Result& result);

/// A run whose options are checked, whose device is chosen and whose data are read, once: estimate it, then run it.
class PreparedRun {
 public:
  /// Throws Error (usage) for bad options and settings, before data are read, and (data) for data that cannot be used.
  explicit PreparedRun(Options options);
  PreparedRun(const PreparedRun&) = delete;  // the target refers to the context

  /// Bytes, and seconds from timing a few chains for a fraction of a second.
  Estimate estimate() const;
  /// Throws Error for what does not fit, before anything is allocated, and for an output that cannot be written; chains
  /// that turn non-finite are quarantined and reported, never an Error unless no chain is left.
  Result run(const ProgressCallback& progress, const std::atomic<bool>& stop) const;

 private:
  template <class Real>
  using Loaded = std::unique_ptr<Target<Real>>;

  Options options_;
  std::vector<std::string> notes_;
  std::string why_so_many_;  ///< chains, where their number was chosen
  Context context_;
  std::variant<Loaded<float>, Loaded<double>> target_;
};

/// Both at once.
Result run(const Options& options, const ProgressCallback& progress, const std::atomic<bool>& stop);
Estimate estimate(const Options& options);

/// What a summary of a file shall leave out, who looks on, and what it may take.
struct FileWishes {
  std::vector<std::int64_t> without = {};  ///< chains that do not count; quarantined ones never do
  /// Called for each parameter with the draws of the chains that count, by several threads at a time.
  std::function<void(std::int64_t parameter, const Series& draws)> look = {};
  std::size_t max_bytes = std::size_t(2) << 30;  ///< of memory, for draws; one parameter's are the least
};

/// The summary of a file that run has written.
/// Throws Error (data) for a file that cannot be read, and for one without draws; (usage) for chains that it has not.
RunSummary summarise_file(const std::string& path, const FileWishes& wishes = {});
class DrawsReader;
/// The chains of a file that count, by number.
std::vector<std::int64_t> chains_that_count(const DrawsReader& reader, const std::vector<std::int64_t>& without);

/// All draws of such a file, their statistics and the summary, as the run with keep_draws had them. Throws the same.
Result read_result(const std::string& path);

}  // namespace kilochain
