// A generalised linear model (glm.hpp) of the family in glm_families.hpp.
#pragma once
#include "targets/glm.hpp"

namespace kilochain {

template <class Real>
using NegativeBinomialRegression = Glm<Real, NegativeBinomialFamily>;

}  // namespace kilochain
