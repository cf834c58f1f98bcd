// Gradients of the run's target, or of another, at any points, by chains of their own: for what is learnt in a warm-up.
#pragma once
#include <memory>
#include <vector>

#include "host/run/phases.hpp"

namespace kilochain {

/// A GradientsAt (host/learn/gradients_at.hpp). Keeps the chains by which it evaluates for the next call with as many
/// points.
template <class Real>
class TargetGradients {
 public:
  explicit TargetGradients(const Phases<Real>& run) : TargetGradients(run, run.target) {}
  TargetGradients(const Phases<Real>& run, Target<Real>& target) : run_(run), target_(target) {}
  std::vector<Real> operator()(const std::vector<Real>& points, std::vector<double>* lp = nullptr);

 private:
  const Phases<Real>& run_;
  Target<Real>& target_;
  Index count_ = 0;
  std::unique_ptr<Chains<Real>> chains_;
  std::unique_ptr<Rounds<Real>> rounds_;
};

}  // namespace kilochain
