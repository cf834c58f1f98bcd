// How strongly an iteration may still change what is learnt: constant, or vanishing as (1 + t/delay)^-exponent, t from
// 0. A chain that goes on adapting keeps its target only if what it learns moves less and less (docs/adaptation.md says
// what is proved for which). One table of settings for every sampler, and one factor on the rates of every rule.
#pragma once
#include "kernels/contract.hpp"

namespace kilochain {

enum class AdaptSchedule : std::int32_t { constant, vanishing };

struct ScheduleSettings {
  AdaptSchedule adapt_schedule = AdaptSchedule::constant;
  double adapt_exponent = 0.6, adapt_delay = 1000;
};

template <class V>
void schedule_fields(V&& visit, ScheduleSettings& s) {
  visit("adapt_schedule", s.adapt_schedule, Names{"constant", "vanishing"},
        "rates of adaptation over the warm-up: as they are, or times (1 + t/adapt_delay)^-adapt_exponent");
  visit("adapt_exponent", s.adapt_exponent, between(0, 1),
        "how fast vanishing adaptation vanishes; above 0 the chain stays ergodic, at most 1 it forgets where it began");
  visit("adapt_delay", s.adapt_delay, at_least(1),
        "iterations after which vanishing adaptation has begun to vanish; 1: the factor is (t + 1)^-adapt_exponent");
}

/// Of vanishing adaptation after t iterations.
KC_INLINE double vanishing_factor(const ScheduleSettings& s, double t) {
  if (s.adapt_exponent == 1) return 1 / (1 + t / s.adapt_delay);
  return math::exp(-s.adapt_exponent * math::log(1 + t / s.adapt_delay));
}

/// The schedule's factor on the rates of this iteration, and that with the host's own (Schedule::rate).
KC_INLINE double schedule_factor(const ScheduleSettings& s, const Schedule& at) {
  return s.adapt_schedule == AdaptSchedule::constant ? 1.0 : vanishing_factor(s, double(at.t));
}
KC_INLINE double rate_at(const ScheduleSettings& s, const Schedule& at) { return at.rate * schedule_factor(s, at); }

}  // namespace kilochain
