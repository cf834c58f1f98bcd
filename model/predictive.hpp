// Random numbers for posterior predictions, where draws are recorded: on the host. Each draw has a stream that depends
// on seed, chain and draw alone (kernels/random/philox.hpp): a resumed run predicts the same. Parameters are Stan's.
#pragma once
#include <cmath>

#include "kernels/random/philox.hpp"

namespace kilochain {

class PredictiveRng {
 public:
  KC_HD PredictiveRng(std::uint64_t seed, std::int64_t chain, std::int64_t draw)
      : rng_{seed, static_cast<std::uint32_t>(chain), draw} {}
  /// Above 0 and below 1.
  KC_HD double uniform() {
    if (at_ % 2 == 0) words_ = rng_.words(Purpose::predictive, at_ / 2);
    const std::uint32_t* const w = words_.v + 2 * (at_++ % 2);
    return (static_cast<double>((static_cast<std::uint64_t>(w[0]) << 32 | w[1]) >> 12) + 0.5) * 0x1p-52;
  }
  KC_HD double normal(double mean = 0, double sd = 1) {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return mean + sd * radius * std::cos(6.28318530717958647693 * uniform());
  }
  KC_HD double exponential(double rate) { return -std::log(uniform()) / rate; }
  KC_HD double student_t(double freedom, double location, double scale) {
    return location + scale * normal() / std::sqrt(gamma(freedom / 2, freedom / 2));
  }
  KC_HD double gamma(double shape, double rate) {  // Marsaglia and Tsang 2000
    if (!(shape > 0 && rate > 0)) return NAN;
    if (shape < 1) return gamma(shape + 1, rate) * std::pow(uniform(), 1 / shape);
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v / rate;
    }
  }
  KC_HD double bernoulli(double p) { return std::isnan(p) ? NAN : uniform() < p; }
  KC_HD double binomial(double n, double p) {
    double successes = 0;
    for (double k = 0; k < n; ++k) successes += bernoulli(p);
    return successes;
  }
  KC_HD double poisson(
      double rate) {  // halved by the time of a later event (Ahrens and Dieter 1974), then event by event
    if (!(rate >= 0 && rate < 1e9)) return NAN;
    double count = 0;
    while (rate > 30) {
      const double events = std::floor(0.875 * rate), time = gamma(events, 1);
      if (time > rate) return count + binomial(events - 1, rate / time);
      count += events, rate -= time;
    }
    for (double left = std::exp(-rate), at = uniform(); at > left; at *= uniform()) ++count;
    return count;
  }
  KC_HD double neg_binomial_2_log(double log_mean, double precision) {
    return poisson(gamma(precision, precision * std::exp(-log_mean)));
  }

 private:
  Rng rng_;
  Words words_{};
  std::uint32_t at_ = 0;
};

}  // namespace kilochain
