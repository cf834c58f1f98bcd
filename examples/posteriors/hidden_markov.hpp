// A hidden Markov chain of two states that are seen with normal noise of standard deviation 1: where the chain is, is
// summed over by the forward algorithm.
#pragma once
#include <kilochain/model.hpp>

struct HiddenMarkov {
  static constexpr const char* meaning = "Hidden Markov chain of two states, normal observations";

  struct Data {
    kilochain::DataArray y;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    return {loader.put("y", json.numbers("y"))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    using T = scalar_of<Parameters>;
    const auto theta1 = p.simplex("theta1", size<2>), theta2 = p.simplex("theta2", size<2>);
    const auto mu = p.positive_ordered("mu", size<2>);
    const T transition[2][2] = {{log(theta1[0]), log(theta1[1])}, {log(theta2[0]), log(theta2[1])}};
    return normal_lp(mu[0], 3, 1) + normal_lp(mu[1], 10, 1) +
           hmm_lp(
               d.y.size(), 2, [&](int t, int k) { return normal_lp(d.y[t], mu[k], 1); },
               [&](int j, int k) { return transition[j][k]; }, [](int) { return 0.0; }, p);
  }
};
