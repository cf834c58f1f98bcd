// Everything that a user can choose about a run, in one structure that every front end fills.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/inputs.hpp"
#include "host/chains/window.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {

struct RunState;  // host/run/run_state.hpp

/// Where draws of a posterior that is the same after swaps or changes of sign are recorded: any of its modes as often
/// as the others, or the one in which chains are.
enum class EqualModes { all, one };
inline constexpr const char* equal_modes_names[] = {"all", "one"};

/// Settings of the sampler and of the target are texts, as written; a run parses and checks them.
struct Options {
  std::string target;
  SettingTexts target_settings;
  std::string sampler = "ensemble_hmc";  ///< ensemble_sampler
  SettingTexts sampler_settings;
  std::int64_t num_chains = 0;              ///< 0: as many as pay, by what gradients and trajectories take
  bool chains_chosen = false;               ///< num_chains was 0: PreparedRun sets it
  std::optional<std::int64_t> num_warmup;   ///< iterations of each chain; empty: until it has converged
  std::optional<std::int64_t> num_samples;  ///< iterations of each chain after that; empty: until the answer is good
  std::int64_t target_ess =
      10000;               ///< empty num_samples: drawn until the slowest mean or tail has so many effective draws
  double target_mcse = 0;  ///< in place of target_ess: the largest error of a mean, in posterior sds; 0: target_ess
  std::int64_t superchains = 0;  ///< groups of chains that begin together, for R-hat; 0: automatic; 1: none
  std::int64_t thin = 1;         ///< keep every thin-th sample
  std::uint64_t seed = 1;
  Scope adapt_scope = Scope::pooled;
  std::string init = "normal";    ///< normal[:sd] | zeros | file:PATH (a row for each chain, or one row for all)
  std::string device = "auto";    ///< auto | cpu | cuda[:k]
  std::optional<Precision> real;  ///< empty: double on the CPU, float on CUDA
  KeptDraws draws = KeptDraws::all;
  EqualModes equal_modes = EqualModes::all;
  std::string output;                 ///< NetCDF file; empty: nothing is written
  bool overwrite = false;             ///< draws that are in `output` already may go
  bool keep_draws = false;            ///< the draws in memory too, in Result::draws
  bool keep_warmup = false;           ///< with keep_draws: the last draws of the warm-up too, in Result::warmup
  bool save_warmup = false;           ///< statistics of warm-up iterations too
  int threads = 0;                    ///< CPU threads; 0: all
  bool prior_only = false;            ///< the prior of a model, without what it gives to log_likelihood
  bool no_graphs = false;             ///< CUDA: no launch is recorded and replayed
  std::int64_t chain_batch_size = 0;  ///< chains at a time; 0: all at once
  std::int64_t max_seconds = 0;       ///< of warm-up and sampling, after which a run ends with what it has; 0: no limit
  std::int64_t checkpoint_seconds = 600;  ///< how often the state of the run is saved in `output`; 0: at its end alone
  std::vector<Input> inputs;              ///< what was read for the target and the sampler: PreparedRun fills it in
  /// The state from which the run in `output` is resumed (read_run_state); num_samples counts its iterations too. Null:
  /// a new run.
  std::shared_ptr<const RunState> resume;
};

/// Effective draws that empty num_samples wants: an error of x standard deviations takes 1/x^2.
inline double wanted_ess(const Options& o) {
  return o.target_mcse > 0 ? 1 / (o.target_mcse * o.target_mcse) : static_cast<double>(o.target_ess);
}

/// The default: the sampler whose warm-up is host/run/ensemble_warmup.hpp.
inline constexpr const char* ensemble_sampler = "ensemble_hmc";

/// What automatic num_warmup and num_samples stop at.
inline constexpr std::int64_t most_automatic_warmup = 20000, most_automatic_samples = 20000;

/// Ranges and combinations of the options, and the settings of sampler and target; reads no data. Throws Error (usage),
/// naming the option.
void check(const Options& options);
/// The options as one JSON object, keys as the flags are called.
nlohmann::json to_json(const Options& options);
/// A value of it as a user writes one.
std::string text_of_value(const nlohmann::json& value);

/// Chains on the device at a time.
inline std::int64_t batch_size(const Options& o) { return o.chain_batch_size > 0 ? o.chain_batch_size : o.num_chains; }
/// Whether there is one adaptation for all chains: asked for, and of a sampler that adapts at all.
inline Scope scope_of(const Options& o) { return find_sampler(o.sampler).adaptive ? o.adapt_scope : Scope::chain; }
/// Whether a file is written, with draws or with their summary.
inline bool writes_file(const Options& o) { return !o.output.empty() && o.draws != KeptDraws::none; }
/// Whether draws are stored in it.
inline bool stores_draws(const Options& o) { return writes_file(o) && o.draws != KeptDraws::moments; }

}  // namespace kilochain
