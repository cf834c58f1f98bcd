// A density given by two functions, as what climbs and probes evaluate.
#pragma once
#include "host/learn/climb.hpp"

namespace kilochain::testing_support {

using Vector = Climber::Vector;

struct Density {
  std::function<double(const Vector&)> lp;
  std::function<Vector(const Vector&)> gradient;
};

inline GradientsAt<double> of_points(const Density& density, Eigen::Index n) {
  return [=](const std::vector<double>& x, std::vector<double>* lp) {
    std::vector<double> out;
    if (lp) lp->clear();
    for (std::size_t k = 0; k < x.size(); k += n) {
      const Eigen::Map<const Vector> at(x.data() + k, n);
      const Vector g = density.gradient(at);
      out.insert(out.end(), g.begin(), g.end());
      if (lp) lp->push_back(density.lp(at));
    }
    return out;
  };
}

}  // namespace kilochain::testing_support
