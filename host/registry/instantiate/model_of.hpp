// What a registered name stands for: a class template over the precision, in the shape of targets/funnel.hpp, or a
// plain class in the shape of model/model.hpp, which is adapted.
#pragma once

namespace kilochain {

template <class Model, class Real>
struct ModelTarget;  // model/model.hpp

/// Declared only: decltype(model_of<Name, Real>()) is the target's type.
template <template <class> class Target, class Real>
Target<Real> model_of();
template <class Model, class Real>
ModelTarget<Model, Real> model_of();

}  // namespace kilochain
