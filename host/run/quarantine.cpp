#include "host/run/quarantine.hpp"

#include <algorithm>

namespace kilochain {

void Quarantine::note(const std::vector<ChainControl>& controls, std::int64_t first) {
  for (std::int64_t chain = first; const ChainControl& c : controls) {
    const bool known = c.status == ChainStatus::running ||
                       std::any_of(list_.begin(), list_.end(), [&](const auto& q) { return q.chain == chain; });
    if (!known) list_.push_back({chain, c.iteration, quarantine_reason(c.status)});
    ++chain;
  }
  std::sort(list_.begin(), list_.end(), [](const auto& a, const auto& b) {
    return a.iteration != b.iteration ? a.iteration < b.iteration : a.chain < b.chain;
  });
}

std::vector<std::int64_t> Quarantine::chains() const {
  std::vector<std::int64_t> out;
  for (const auto& q : list_) out.push_back(q.chain);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace kilochain
