// How heavy the upper tail of weights is: the shape k of the generalised Pareto law of the largest ones (Zhang &
// Stephens 2009; as a diagnosis of importance weights Vehtari, Simpson, Gelman, Yao & Gabry 2024, with their prior).
// Weights have moments below 1/k: a variance below k = 1/2.
// Cost: S log S of S weights.
#pragma once
#include <vector>

namespace kilochain {

/// Of the largest min(S/5, 3 sqrt(S)) of S weights, given by their logs, which may be -infinity. Infinite of fewer than
/// 25 weights, or where one is not a number or infinite.
double pareto_tail(std::vector<double> log_weights);

}  // namespace kilochain
