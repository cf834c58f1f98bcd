#include "host/run/warmup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kilochain {
namespace {

struct MeanAndError {
  double mean = 0, square_error = 0;
};
MeanAndError mean_over(const std::vector<double>& v) {
  const double c = static_cast<double>(v.size());
  MeanAndError m;
  for (const double x : v) m.mean += x / c;
  for (const double x : v) m.square_error += (x - m.mean) * (x - m.mean) / (c * std::max(1.0, c - 1));
  return m;
}

}  // namespace

bool WarmupMonitor::add(const BlockSigns& block) {
  const MeanAndError before = mean_over(last_.lp), now = mean_over(block.lp);
  const bool first = blocks_++ == 0;
  const double z =
      first ? INFINITY : std::abs(now.mean - before.mean) / std::sqrt(before.square_error + now.square_error + 1e-300);
  const bool still = block.lp.size() < 4 ? !first : z < 3;
  const bool near = std::isnan(target_accept_) || std::abs(block.acceptance - target_accept_) < 0.08;
  const bool agree = block.rhat < 1.05;
  const double ratio = block.ess_per_iteration / last_.ess_per_iteration;
  const bool level = !first && ratio < 1.3 && ratio > 0.6;
  last_ = block;
  note_.clear();
  const auto add_note = [&](bool fine, std::string text) {
    if (!fine) note_ += (note_.empty() ? "" : ", ") + std::move(text);
  };
  add_note(still, fmt::format("the mean log density still moves (z = {:.1f} between blocks)", z));
  add_note(near, fmt::format("acceptance {:.2f} is not near its target {:.2f}", block.acceptance, target_accept_));
  add_note(agree, fmt::format("the chains disagree (R-hat {:.3f} within a block)", block.rhat));
  add_note(level, "the sampler still learns");
  return still && near && agree && level;
}

}  // namespace kilochain
