// Twisted Gaussian under the names of the two-dimensional picture: u = x_2 + bend (x_1^2 - variance);
// targets/twisted_gaussian.hpp.
#pragma once
#include "targets/twisted_gaussian.hpp"

namespace kilochain {

template <class Real>
struct Banana : TwistedGaussian<Real> {
  static constexpr const char* meaning =
      "Gaussian bent along its first axis, a banana in two dimensions (Haario et al. 1999)";
  struct Settings {
    int dim = 2;
    double bend = 0.03, variance = 100;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("dim", s.dim, between(2, 100000), "number of coordinates");
    visit("bend", s.bend, at_least(0), "how strongly x[1] follows the square of x[0]; 0 is a Gaussian");
    visit("variance", s.variance, positive(), "variance of x[0]");
  }
  static typename TwistedGaussian<Real>::Data prepare(const Settings& s, Arena<Real>& arena, TargetInfo& info) {
    return TwistedGaussian<Real>::prepare({s.dim, s.bend, s.variance, false}, arena, info);
  }
};

}  // namespace kilochain
