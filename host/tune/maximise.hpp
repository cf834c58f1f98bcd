// Maximising without derivatives, by NLopt: over a cube as a whole (DIRECT), and from a start (BOBYQA).
//   DIRECT (Jones, Perttunen & Stuckman 1993; locally biased, Gablonsky & Kelley 2001) divides the boxes that could
//   hold the maximum for some Lipschitz constant, the most promising of each size. Both are deterministic.
#pragma once
#include <functional>

#include "host/tune/box.hpp"

namespace kilochain {

struct Maximum {
  Point x;
  double value;
};
/// What is maximised. It must not throw; NaN and minus infinity are taken for very bad.
using Objective = std::function<double(const Point&)>;

/// Over [0, 1]^dim.
Maximum maximise_direct(const Objective& f, std::size_t dim, int evaluations);
/// From `start`, within [low, high].
Maximum climb(const Objective& f, const Point& start, const Point& low, const Point& high, int evaluations);

}  // namespace kilochain
