// The warm-up of ensemble_hmc: scouts arrive, all chains begin at their places and learn one metric, step and
// trajectory length; then all is frozen and audited. What fails the audit sends them back to learn for twice as long,
// five times at most.
//   1. scouts find the posterior (scouts.hpp)           3. lengths K = 2, 4, 8, ... are tried; the most effective stays
//   2. all chains adapt the step; a metric from draws   4. the step settles; adaptation ends; audit (audit.hpp)
#pragma once
#include "host/run/audit.hpp"
#include "host/run/scouts.hpp"
#include "host/run/warmup.hpp"

namespace kilochain {

template <class Real>
class EnsembleWarmUp {
 public:
  explicit EnsembleWarmUp(const Phases<Real>& run);
  WarmedUp operator()();

 private:
  WarmedUp of_given_length(std::int64_t iterations);
  void scout();
  void learn_metric(std::int64_t iterations);
  void learn_length();
  double efficiency(double num_steps);
  void settle(std::int64_t iterations);
  AuditFigures audit(std::int64_t iterations);
  FrozenDraws<Real> draw(std::int64_t iterations, bool adapting);
  void tell(const std::string& stage) { run_.reporter.waits_for(stage + missing_); }

  const Phases<Real>& run_;
  Windows<Real> windows_;
  std::int64_t end_ = most_automatic_warmup;  ///< no iteration goes beyond
  Metric metric_;
  WarmedUp out_;
  std::string missing_;  ///< in the last audit, for people
};

}  // namespace kilochain
