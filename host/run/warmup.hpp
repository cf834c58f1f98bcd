// The warm-up: of a given length, or automatic, until its signs say that it is over.
//   automatic: blocks of 100, 150, 225, ... iterations until WarmupMonitor finds that they no longer differ; then the factor
//   settles while the rate decays.
// Chains that accept nothing in iterations 100 to 250 of an automatic or a pooled one are led to where the density is
// (lead_in.hpp), and it begins anew: they would hold what all adapt to.
#pragma once
#include <optional>

#include "host/run/block_signs.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// What a warm-up leaves behind, beside the chains themselves.
struct WarmedUp {
  std::int64_t iterations = 0;  ///< of each chain
  std::int64_t gradients = 0;   ///< of all chains
  double seconds = 0;
  double ess_per_iteration = 0;   ///< of the slowest coordinate, over all chains; 0: not known
  std::optional<bool> converged;  ///< an automatic one: its signs said so
  bool interrupted = false;
  std::string note;    ///< what ended an automatic one; who was led in
  std::string advice;  ///< what to do about one that has not converged
};

template <class Real>
WarmedUp warm_up(const Phases<Real>& run);

/// An automatic warm-up under way.
template <class Real>
class AutomaticWarmUp {
 public:
  explicit AutomaticWarmUp(const Phases<Real>& run);
  WarmedUp operator()();

 private:
  void search();
  bool fill(std::int64_t block);
  bool lead_in();
  void settle();
  void finish();
  void advance_to(std::int64_t iteration, Into<Real> into = {});
  std::vector<double> acceptance() const;
  WarmedUp outcome() const;

  const Phases<Real>& run_;
  Segment<Real> segment_;
  DrawsBuffer<Real> buffer_;
  BlockOfDraws<Real> block_;  ///< the last one that was filled
  WarmupMonitor monitor_;
  std::int64_t iteration_ = 0, gradients_ = 0, led_in_ = 0;
  bool converged_ = false, interrupted_ = false;
};

}  // namespace kilochain
