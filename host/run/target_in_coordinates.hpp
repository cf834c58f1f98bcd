// A target as chains see it that move in learnt coordinates (learnt_coordinates.hpp): their points y become x, the
// density's gradient at x becomes that at y. Until coordinates are set it is the target itself, at the cost of one call
// more.
// They are set between iterations, never while threads evaluate. On the CPU alone.
// Where modes are laid over each other (overlay.hpp) chains see the sum of all of x's images.
// Symmetries of the target (symmetries.hpp) change neither: chains are gathered by them, and draws recorded.
#pragma once
#include <atomic>

#include "host/learn/overlay.hpp"
#include "host/run/symmetries.hpp"
#include "targets/target.hpp"

namespace kilochain {

class LearntCoordinates;

template <class Real>
class TargetInCoordinates final : public Target<Real> {
 public:
  /// `target` outlives this one.
  explicit TargetInCoordinates(Target<Real>& target);
  ~TargetInCoordinates();
  void set(LearntCoordinates coordinates);
  /// As LearntCoordinates::to_numbers makes them.
  void set(const std::vector<double>& numbers);
  const LearntCoordinates& coordinates() const { return *coordinates_; }
  /// Whether any were set.
  bool moves() const;
  Target<Real>& plain() const { return target_; }
  void set(Symmetries symmetries) { symmetries_ = std::move(symmetries); }
  const Symmetries& symmetries() const { return symmetries_; }
  void set(Overlay overlay) { overlay_ = std::move(overlay); }
  const Overlay& overlay() const { return overlay_; }
  /// Of the target, beside one for each that chains have asked for.
  std::int64_t gradients_beside() const { return gradients_beside_; }

  /// Points y (point, n) become x in place; what the coordinates add to their log densities, (point), where asked for.
  void to_target(double* y, std::ptrdiff_t points, double* added = nullptr) const;
  /// Points (point, n), and back.
  void to_target(std::vector<Real>& points) const;
  void from_target(std::vector<Real>& points) const;
  /// Points y (point, n) become those of their images that are nearest to where chains gather. Whether any moved: none
  /// does where modes are laid over each other.
  bool gather(std::vector<Real>& points) const;
  bool gather_of_target(std::vector<Real>& x) const;  ///< the same of points in the target's own coordinates

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override;
  Index tile(Index num_chains, int threads) const override;
  bool iterate(const Iterations<Real>& iterations) override { return target_.iterate(iterations); }
  bool can_be_captured() const override { return target_.can_be_captured(); }
  std::string evaluation() const override;

 private:
  void evaluate_overlay(const Exchange<Real>& exchange, Index count);
  Target<Real>& target_;
  std::unique_ptr<LearntCoordinates> coordinates_;
  Symmetries symmetries_;
  Overlay overlay_;
  std::atomic<std::int64_t> gradients_beside_{0};
};

}  // namespace kilochain
