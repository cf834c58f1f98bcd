// A model as a target on the host, at one point: what the tests of models call.
#pragma once
#include <vector>

#include "kernels/device/team.hpp"
#include "model/model.hpp"
#include "tests/support/rows.hpp"

namespace kilochain::testing_support {

template <class Model, class Real>
struct Evaluated {
  using Target = ModelTarget<Model, Real>;
  Context context;
  Arena<Real> arena{context};
  TargetInfo info;
  typename Target::Data data;
  std::vector<Real> scratch;

  explicit Evaluated(const typename Target::Settings& settings = {}, const Context& c = cpu_context(1))
      : context(c), data(Target::prepare(settings, arena, info)), scratch(Target::scratch(data)) {}

  /// The log density at x; `out`: its gradient, or the Hessian times `direction`, as `needs` says.
  template <class Team = HostTeam>
  double at(std::vector<Real> x, Needs needs, std::vector<Real>* out = nullptr, std::vector<Real> direction = {}) {
    std::vector<Real> gradient(x.size()), hessian(x.size());
    direction.resize(x.size());
    double lp = 0;
    Target::evaluate(Team{}, data, needs, Query<Real>{row_of(x), row_of(direction), &needs},
                     Reply<Real>{&lp, row_of(gradient), row_of(hessian)}, scratch.data());
    if (out) *out = needs == Needs::hessian_vector ? hessian : gradient;
    return lp;
  }
};

}  // namespace kilochain::testing_support
