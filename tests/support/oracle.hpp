// A target as plain loops ask it: the value at one point, and the gradient.
#pragma once
#include <algorithm>
#include <vector>

#include "targets/target.hpp"

namespace kilochain::testing_support {

/// Values and gradients of a target for plain loops.
struct Oracle {
  Target<double>& target;
  double lp(const std::vector<double>& x, std::vector<double>* gradient = nullptr) const {
    const std::size_t n = x.size(), row = padded(n + (n == 1));
    std::vector<double> point(row), direction(row), g(row), hv(row);
    std::copy(x.begin(), x.end(), point.begin());
    double value = 0, accepted = 0;
    Needs needs = Needs::gradient;
    target.evaluate({point.data(), direction.data(), g.data(), hv.data(), &value, &accepted, &needs, row}, 0, 1);
    if (gradient) gradient->assign(g.begin(), g.begin() + static_cast<std::ptrdiff_t>(n));
    return value;
  }
};

}  // namespace kilochain::testing_support
