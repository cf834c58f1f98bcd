// A state-space model, the local level: a random walk that is seen with noise, every state a parameter.
//   level[t] ~ N(level[t-1], sigma_level^2),   y[t] ~ N(level[t], sigma_y^2)
#pragma once
#include <kilochain/model.hpp>

struct StateSpace {
  static constexpr const char* meaning = "State-space model, a local level: random walk seen with noise";

  struct Data {
    kilochain::DataArray y;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    return {loader.put("y", json.numbers("y"))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto level = p.reals("level", d.y.size());
    const auto sigma_level = p.positive("sigma_level");
    const auto sigma = p.positive("sigma_y");
    auto lp = half_normal_lp(sigma_level, 1) + half_normal_lp(sigma, 1) + normal_lp(level[0], 0, 5);
    for (int t = 0; t < d.y.size(); ++t) {
      if (t > 0) lp += normal_lp(level[t], level[t - 1], sigma_level);
      lp += normal_lp(d.y[t], level[t], sigma);
    }
    return lp;
  }
};
