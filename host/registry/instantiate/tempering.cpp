// tempering in the registry: bound to every spin sampler on every kind of board.
#include "host/registry/tempering.hpp"

namespace kilochain::discrete {
namespace {

std::unique_ptr<Replicas> make(const Context& context, const SettingTexts& texts, Index n, const SpinModel& model) {
  const auto s = parse_settings<Tempering>("tempering", texts);
  require(s.beta_min < model.beta, ExitStatus::usage, "tempering: beta_min = " + std::to_string(s.beta_min),
          "the model's beta is " + std::to_string(model.beta), "Choose a smaller one: hotter rungs move more freely?");
  const Rungs rungs{s.rungs, model.beta, s.beta_min};
  switch (s.of) {
    case Inner::intracluster:
      return bind<Intracluster>("intracluster", context, n, model, s.walks, rungs);
    case Inner::gibbs:
      return bind<Gibbs>("gibbs", context, n, model, s.sweeps, rungs);
    case Inner::metropolis:
      return bind<Metropolis>("metropolis", context, n, model, s.sweeps, rungs);
    case Inner::gibbs_with_gradients:
      return bind<GibbsWithGradients>("gibbs_with_gradients", context, n, model, s.gradients, rungs);
    case Inner::dmala:
      return bind<Dmala>("dmala", context, n, model, s.dmala, rungs);
  }
  return nullptr;
}

SamplerEntry entry() {
  SamplerEntry e = spin_entry<Tempering>("tempering");
  e.make_replicas = make;
  return e;
}

const RegisterSampler registered(entry());

}  // namespace
}  // namespace kilochain::discrete
