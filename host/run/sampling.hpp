// The sampling phase: chains are run, and each window of draws goes to the sinks that the options ask for.
#pragma once
#include <chrono>
#include <memory>

#include "host/run/phases.hpp"
#include "host/run/run_state.hpp"
#include "host/run/run_summary.hpp"
#include "host/run/sinks.hpp"

namespace kilochain {

/// What sampling leaves behind, beside the file.
template <class Real>
struct Sampled {
  std::int64_t iterations = 0, draws = 0;  ///< of each chain: made; kept
  std::int64_t gradients = 0;              ///< of all chains
  double seconds = 0;
  bool interrupted = false;
  bool resumable = false;  ///< the file has the state of the chains
  SummaryFrom summary_from = SummaryFrom::nothing;
  std::shared_ptr<DrawsInMemory<Real>> memory;           ///< where the draws are kept so
  std::shared_ptr<StatisticsInMemory<Real>> statistics;  ///< beside the draws, for those who asked for them
  std::shared_ptr<SummarySink<Real>> streaming;          ///< where the summary is made so
  std::shared_ptr<DivergenceSink<Real>> divergences;
  std::vector<double> acceptance;            ///< mean of each chain; NaN of a quarantined one
  std::vector<double> in_modes;              ///< draws in each of the modes that are laid over each other
  std::vector<ParameterSummary> parameters;  ///< of the draws in memory, where they had to be looked at
};

/// Of the first `count` recorded values.
template <class Real>
std::vector<ParameterSummary> summary_in_memory(const Phases<Real>& run, std::int64_t superchains, std::size_t count,
                                                const DrawsInMemory<Real>& memory);

/// `before`: the state from which the run is resumed, or null.
template <class Real>
Sampled<Real> sample(const Phases<Real>& run, const WarmedUp& warm, const RunState* before);

/// Sampling under way.
template <class Real>
class Sampling {
 public:
  Sampling(const Phases<Real>& run, const WarmedUp& warm, const RunState* before);
  Sampled<Real> operator()();

 private:
  void draw();
  std::int64_t enough();
  std::vector<std::shared_ptr<Sink<Real>>> make_sinks(std::int64_t num_draws);
  std::int64_t save_if_due();
  void save_state();
  double seconds_so_far() const;
  double values_in_memory() const;

  const Phases<Real>& run_;
  const WarmedUp& warm_;
  const RunState* const before_;
  const std::int64_t num_warmup_;
  std::int64_t num_samples_;
  std::chrono::steady_clock::time_point begin_, saved_at_;
  std::int64_t room_ = 0;             ///< draws of each chain that an automatic length may come to; 0: it is given
  std::int64_t guess_ = 0;            ///< draws of each chain that the warm-up thought enough
  double summary_of_value_ = 120e-9;  ///< seconds of one thread for a kept value; measured when draws are looked at
  std::int64_t saved_ = -1;           ///< iterations at the last save
  bool saves_ = false;
  Sampled<Real> out_;
};

}  // namespace kilochain
