#include "host/run/reporter.hpp"

#include <algorithm>
#include <cmath>

namespace kilochain {

void Reporter::begin(std::string phase, std::int64_t first_iteration, std::int64_t total) {
  now_.phase = std::move(phase);
  now_.total = total;
  first_iteration_ = first_iteration;
  figures(NAN, NAN);
  waits_for("");
}

std::int64_t Reporter::piece() const {
  return per_iteration_ > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(0.25 / per_iteration_)) : 4;
}

std::int64_t Reporter::within(double seconds) const {
  return per_iteration_ > 0 ? static_cast<std::int64_t>(std::clamp(seconds / per_iteration_, 1.0, 1e15)) : 1;
}

void Reporter::took(std::int64_t iterations, double seconds) {
  if (iterations == 0) return;
  const double now = seconds / iterations;
  per_iteration_ = per_iteration_ > 0 ? 0.5 * (per_iteration_ + now) : now;
}

void Reporter::figures(double rhat_max, double ess_min) { now_.rhat_max = rhat_max, now_.ess_min = ess_min; }

void Reporter::report(std::int64_t iteration, double acceptance_rate, std::int64_t quarantined) {
  if (!progress_) return;
  now_.done = iteration - first_iteration_;
  const bool last = now_.total > 0 && now_.done >= now_.total;
  if (!last && !news_ && seconds_since(last_report_) < 0.2) return;
  last_report_ = Clock::now();
  news_ = false;
  now_.seconds = seconds_since(begin_);
  now_.iterations_per_second = per_iteration_ > 0 ? 1 / per_iteration_ : 0;
  now_.eta_seconds = now_.total > 0 ? (now_.total - now_.done) * per_iteration_ : -1;
  now_.seconds_left = limit_ ? limit_->left() : -1;
  if (now_.seconds_left >= 0) now_.eta_seconds = std::min(now_.eta_seconds, now_.seconds_left);
  now_.acceptance_rate = acceptance_rate;
  now_.quarantined = quarantined;
  progress_(now_);
}

}  // namespace kilochain
