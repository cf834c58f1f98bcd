// tempering: replica exchange over beta above any of the spin samplers, whose settings stand beside its own.
#include "host/registry/spin_samplers.hpp"

namespace kilochain::discrete {
namespace {

enum class Inner : std::int32_t { intracluster, gibbs, metropolis, gibbs_with_gradients, dmala };
inline constexpr Names inner_names{"intracluster", "gibbs", "metropolis", "gibbs_with_gradients", "dmala"};

struct Tempering {
  static constexpr const char* meaning = "replica exchange over beta above another spin sampler";
  static constexpr const char* stat_names[] = {"exchange_rate"};
  static constexpr int num_stats = 1;
  struct Settings {
    Inner of = Inner::intracluster;
    std::int32_t rungs = 8;
    double beta_min = 0.1;
    WalkSettings walks;
    SweepSettings sweeps;
    GradientSettings gradients;
    DmalaSettings dmala;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("of", s.of, inner_names, "the sampler of every rung");
    visit("rungs", s.rungs, between(2, most_rungs), "replicas of a chain, at geometric steps from beta to beta_min");
    visit("beta_min", s.beta_min, positive(), "inverse temperature of the hottest one");
    Intracluster<TreeBoard>::settings(visit, s.walks);
    Gibbs<GraphSpins>::settings(visit, s.sweeps);
    GibbsWithGradients<TreeBoard>::settings(visit, s.gradients);
    Dmala<GraphSpins>::settings(visit, s.dmala);
  }
};

/// Ladders of any of the samplers. Throws Error (usage) for a beta_min that is not below the model's, and as bind.
std::unique_ptr<Replicas> ladders(const Context& context, const SettingTexts& texts, Index n, const SpinModel& model) {
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

const RegisterSampler registered(spin_entry<Tempering, ladders>("tempering"));

}  // namespace
}  // namespace kilochain::discrete
