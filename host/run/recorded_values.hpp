// What is recorded of a window in place of its coordinates: the values that the target makes of them, and log densities
// of the target's own where chains move in others. Of a posterior with several modes each draw is put into one of them
// at random: of equal ones (symmetries.hpp) any, of modes laid over each other (overlay.hpp) by what they weigh there.
// Cost: of K modes laid over each other K gradients a draw.
#pragma once
#include <vector>

#include "host/run/phases.hpp"

namespace kilochain {

template <class Real>
class RecordedValues {
 public:
  /// in_modes: draws so far of a run that is resumed.
  explicit RecordedValues(const Phases<Real>& run, std::vector<double> in_modes = {});
  /// In memory that stays until the next but one. Throws what the target's function throws.
  void put_into(Window<Real>& window);
  /// Draws so far in each of the modes that are laid over each other, of all chains; empty: there are none.
  const std::vector<double>& in_modes() const { return in_modes_; }

 private:
  void record(double* x, const DrawId& draw, std::vector<double>& recorded) const;
  void into_modes(const Window<Real>& window, std::vector<double>& lp);

  const Phases<Real>& run_;
  const TargetInfo& info_;
  const TargetInCoordinates<Real>* coordinates_;  ///< or null: the target's own
  const Symmetries* symmetries_;                  ///< or null: draws are recorded where chains are
  const bool overlaid_;
  int turn_ = 0;
  std::vector<Real> memory_[2];
  std::vector<double> lp_[2];
  std::vector<Real> points_;  ///< (chain, draw, dim), in modes
  std::vector<double> in_modes_;
};

}  // namespace kilochain
