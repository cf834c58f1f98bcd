// A policy: a table of settings of which every kept iteration draws a row (Mahendran 2011, section 3.3).
//   struct Settings { Policy<2> policy; };   visit("policy", s.policy, PolicyColumns<2>{...}, "CSV file of ...");
// The row is a counter-based random number's: it knows the iteration and nothing of the state, so a chain is a
// mixture of kernels of which each leaves the law unchanged. Warm-up does not draw from it. It travels with the
// settings, by value.
#pragma once
#include "kernels/random/draw.hpp"
#include "kernels/settings.hpp"

namespace kilochain {

struct PolicyColumn {
  const char* name;  ///< the setting that a row sets
  Range range;
  bool whole;  ///< integers alone
};
template <int N>
struct PolicyColumns {
  PolicyColumn column[N];
};

template <int N>
struct Policy {
  static constexpr int most_rows = 64;  ///< a kernel's arguments hold them
  std::int32_t rows = 0;                ///< 0: there is no policy
  bool has[N] = {};                     ///< which columns the table has; other settings stay as they are
  double value[most_rows][N] = {};
};

/// The row of this iteration. rows must not be 0.
template <int N>
KC_INLINE std::uint32_t policy_row(const Policy<N>& policy, const Rng& rng) {
  return uniform_index(rng, Purpose::policy, 0, static_cast<std::uint32_t>(policy.rows));
}

}  // namespace kilochain
