// A mixture of two normals; their means are ordered, or else each mode would be there twice.
#pragma once
#include <kilochain/model.hpp>

struct LowDimGaussMix {
  static constexpr const char* meaning = "Mixture of two normals with ordered means";

  struct Data {
    kilochain::DataArray y;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    return {loader.put("y", json.numbers("y"))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto mu = p.ordered("mu", size<2>);
    const auto sigma = p.positives("sigma", 2);
    const auto theta = p.interval("theta", 0, 1);
    const auto first = sigma[0], second = sigma[1], log_theta = log(theta), log_rest = log1p(-theta);
    auto lp = normal_lp(mu[0], 0, 2) + normal_lp(mu[1], 0, 2) + half_normal_lp(first, 2) + half_normal_lp(second, 2) +
              beta_lp(theta, 5, 5);
    for (const double y : d.y) {
      lp += log_sum_exp(log_theta + normal_lp(y, mu[0], first), log_rest + normal_lp(y, mu[1], second));
    }
    return lp;
  }
};
