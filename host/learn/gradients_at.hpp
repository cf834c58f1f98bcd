// How what is learnt asks for gradients, whoever evaluates them.
#pragma once
#include <functional>
#include <vector>

namespace kilochain {

/// Gradients at points, both (point, n), and log densities (point) where they are wanted; NaN where there is none.
template <class Real>
using GradientsAt = std::function<std::vector<Real>(const std::vector<Real>& points, std::vector<double>* lp)>;

}  // namespace kilochain
