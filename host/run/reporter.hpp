// Progress of a run, and how long a piece of work may be so that it is reported in time.
#pragma once
#include <chrono>

#include "base/units.hpp"
#include "host/run/run.hpp"
#include "host/run/time_limit.hpp"

namespace kilochain {

class Reporter {
 public:
  explicit Reporter(ProgressCallback progress = {}, const TimeLimit* limit = nullptr)
      : progress_(std::move(progress)), limit_(limit) {}

  /// A phase of iterations first_iteration to first_iteration + total - 1; total 0: not known.
  void begin(std::string phase, std::int64_t first_iteration, std::int64_t total);
  /// How many iterations take about a quarter of a second, so that progress and Ctrl-C are prompt.
  std::int64_t piece() const;
  /// How many iterations take so many seconds, at least 1; 1 where nothing is known.
  std::int64_t within(double seconds) const;
  /// Learns that so many iterations took so many seconds.
  void took(std::int64_t iterations, double seconds);
  /// The worst figures so far; NaN while unknown.
  void figures(double rhat_max, double ess_min);
  /// What an automatic warm-up is doing or missing (Progress::waits_for).
  void waits_for(const std::string& what) {
    news_ = news_ || what != now_.waits_for;
    now_.waits_for = what;
  }
  /// Whoever looks may ask for the draws until now; empty: no longer.
  void draws_so_far(std::function<Result()> so_far) { now_.so_far = std::move(so_far); }
  /// Five times a second at most, at the end of the phase, and where a warm-up waits for something else.
  void report(std::int64_t iteration, double acceptance_rate, std::int64_t quarantined);

 private:
  using Clock = std::chrono::steady_clock;
  ProgressCallback progress_;
  const TimeLimit* limit_;
  Progress now_;
  bool news_ = false;
  std::int64_t first_iteration_ = 0;
  double per_iteration_ = 0;  ///< seconds, smoothed; 0: not known
  Clock::time_point begin_ = Clock::now(), last_report_ = begin_;
};

}  // namespace kilochain
