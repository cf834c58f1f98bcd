// tempering: replica exchange over beta above any of the spin samplers, whose settings stand beside its own.
#pragma once
#include "host/registry/spin_samplers.hpp"

namespace kilochain::discrete {

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

}  // namespace kilochain::discrete
