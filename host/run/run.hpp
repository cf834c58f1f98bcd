// One call from options to a posterior: allocate, warm up, sample, write, summarise. The command line and every other
// front end are thin over this.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/chains/window.hpp"
#include "host/registry/registry.hpp"
#include "host/run/run_summary.hpp"

namespace kilochain {

/// Everything a user can choose. Settings of the sampler and of the target are texts, as written; run parses and checks.
struct Options {
  std::string target;
  SettingTexts target_settings;
  std::string sampler = "gad_mala_fast";
  SettingTexts sampler_settings;
  std::int64_t num_chains = 256;
  std::int64_t num_warmup = -1;   ///< iterations of each chain; -1: until it has converged
  std::int64_t num_samples = -1;  ///< iterations of each chain after warm-up; -1: until the answer is good enough
  std::int64_t thin = 1;          ///< keep every thin-th sample
  std::uint64_t seed = 1;
  Scope adapt_scope = Scope::pooled;
  std::string init = "normal";    ///< normal[:sd] | zeros | file:PATH (a row for each chain, or one row for all)
  std::string device = "auto";    ///< auto | cpu | cuda[:k]
  std::optional<Precision> real;  ///< empty: double on the CPU, float on CUDA
  KeptDraws draws = KeptDraws::all;
  std::string output;                 ///< NetCDF file; empty: nothing is written
  bool keep_draws = false;            ///< the draws in memory too, in Result::draws
  bool save_warmup = false;           ///< statistics of warm-up iterations too
  int threads = 0;                    ///< CPU threads; 0: all
  std::int64_t chain_batch_size = 0;  ///< chains at a time; 0: all at once
};

/// Ranges and combinations of the options. Throws Error (usage), naming the option.
void check(const Options& options);
/// The options as one JSON object, keys as the flags are called.
nlohmann::json to_json(const Options& options);

/// What is known while a run goes on.
struct Progress {
  std::string phase;                 ///< "warm-up" or "sampling"
  std::int64_t done = 0, total = 0;  ///< iterations of each chain; total 0: not known
  double seconds = 0, iterations_per_second = 0, eta_seconds = -1;
  double acceptance_rate = 0;
  double rhat_max = 0, ess_min = 0;  ///< worst so far over coordinates; NaN while unknown
  std::int64_t quarantined = 0;
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
  std::int64_t draws_written = 0;
  std::vector<Divergence>
      divergences;  ///< where trajectories diverged, by draw; the first few of each chain and window
  std::vector<double>
      draws;  ///< with keep_draws: [chain, draw, dim], draws_written of each chain; quarantined chains NaN
  std::vector<std::string> names;  ///< with keep_draws: of the last dimension
  std::vector<std::string> notes;  ///< what a user should know: fallback to the CPU, warm-up not converged, ...
  std::string evaluation;          ///< how the target is evaluated and why (--verbose)
};

/// Bytes and seconds, before anything is allocated.
struct Estimate {
  struct Row {
    std::string what;   ///< state, adaptation, queries, data, draws window, statistics, ...
    std::string where;  ///< host, device, disk
    std::size_t bytes;
  };
  std::vector<Row> rows;
  std::size_t host_bytes = 0, device_bytes = 0, disk_bytes = 0;
  std::size_t host_available = 0, device_available = 0, disk_available = 0;
  double seconds = -1;  ///< predicted; -1 when there is nothing to predict from
  bool fits = true;
  std::string advice;  ///< flags that would make it fit
};
Estimate estimate(const Options& options);

/// Runs. Throws Error for bad options or data (before sampling) and for an output that cannot be written; chains that turn
/// non-finite are quarantined and reported, never an Error unless no chain is left.
Result run(const Options& options, const ProgressCallback& progress, const std::atomic<bool>& stop);

/// The summary of a file that run has written. `max_bytes`: memory to use for draws.
RunSummary summarise_file(const std::string& path, std::size_t max_bytes = std::size_t(2) << 30);

}  // namespace kilochain
