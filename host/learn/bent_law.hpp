// The law that is nearest to the posterior of a logistic regression and costs a fraction of it: a normal, bent by the
// observations that are least like parabolas where the draws are (kernels/adapt/bent_normal.hpp).
// Its normal is that of the observations' lines over draws (logistic_lines.hpp).
// Observations bend it whose log likelihood leaves its parabola farthest at 4 standard deviations of t_i. Each takes
// the place of the parabola that the normal has for it.
// Cost: 2 N n a draw, of some of them, and N n^2/2.
#pragma once
#include <optional>
#include <vector>

#include "host/chains/chains.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {

struct BentLaw {
  std::vector<double> factor, mean;  ///< (n, n), lower, row-major; (n)
  Bending bending;
  template <class Visitor, class Self>
  static void visit(const Visitor& visit, Self& self) {
    visit("bent_factor", self.factor), visit("bent_mean", self.mean), visit("bent_lines", self.bending.lines);
    visit("bent_logit", self.bending.logit), visit("bent_sign", self.bending.sign);
    visit("bent_offset", self.bending.offset), visit("bent_slope", self.bending.slope);
  }
};

/// Of draws (draw, n), at most `room` observations. None of fewer draws than 200 or n, of which few enough can be
/// afforded, or where there is no such normal.
template <class Real>
std::optional<BentLaw> bent_law(const Design& design, double prior_sd, const std::vector<Real>& draws, Index room);

}  // namespace kilochain
