#include "targets/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace kilochain {
namespace {

// Of one multiprocessor and clock, as bench/roofline.py has them: multiply-adds of floats, bytes of L1, what is reached.
constexpr double clock_rate = 1.755e9, multiply_adds = 128, l1_bytes = 128, pipe = 0.5, product = 0.75;
constexpr double l2_bytes_of_one = 5.5e12 / 132 * 0.85;  // per second
constexpr double node = 1.2e-6;                          // seconds from one kernel to the next
constexpr double full_warps = 16;                        // that keep a multiprocessor busy, with sums enough in each
constexpr double flops_of_logit = 30;
constexpr double nodes_of_products = 5;

}  // namespace

Engine EngineCosts::best() const {
  return static_cast<Engine>(std::min_element(std::begin(seconds), std::end(seconds)) - std::begin(seconds));
}

EngineCosts engine_costs(const EngineWork& w) {
  const double none = std::numeric_limits<double>::infinity(), element = w.element;
  const double one = 2 * multiply_adds * clock_rate * 4 / element;  // flops a second of a multiprocessor
  const double chain = 2 * w.passes * w.entries + flops_of_logit * w.rows, sms = w.multiprocessors, chains = w.chains;
  const double launches =
      w.whole_iterations ? 2 * node : node;  // of a round: evaluation and, beside whole ones, sampler
  EngineCosts out{{none, none, none}};
  if (w.tile > 0) {
    const double blocks = std::ceil(chains / w.tile), waves = std::ceil(blocks / sms);
    const double busy = std::min(1.0, static_cast<double>(w.tile_warps) / full_warps);
    const double loads = w.entries * element / l2_bytes_of_one;
    out.seconds[0] = (w.whole_iterations ? 0 : loads + launches) + waves * w.tile * chain / (one * pipe * busy);
  }
  const double of_one = std::ceil(chains / sms), busy = std::min(1.0, of_one / full_warps);
  const double l1 = (w.passes * w.entries + 4 * w.rows) * element;
  out.seconds[1] = launches + of_one * std::max(l1 / (l1_bytes * clock_rate), chain / one) / (pipe * busy);
  if (w.offers_products) {
    const double filled = std::min(1.0, w.rows * chains / (sms * 128 * 128));  // of a product's blocks
    out.seconds[2] = (nodes_of_products - 1) * node + launches +
                     chains * 2 * w.passes * w.entries / (one * sms * product * filled) +
                     chains * 4 * w.rows * element / (l2_bytes_of_one * sms);
  }
  return out;
}

std::string text_of(const EngineCosts& costs) {
  std::string out;
  for (int k = 0; k < 3; ++k) {
    if (!std::isfinite(costs.seconds[k])) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%s%.1f us by %s", out.empty() ? "" : ", ", 1e6 * costs.seconds[k],
                  engine_names[k]);
    out += text;
  }
  return out;
}

}  // namespace kilochain
