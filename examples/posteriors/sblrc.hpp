// Linear regression on correlated predictors, without an intercept.
#pragma once
#include <kilochain/model.hpp>

struct Sblrc {
  static constexpr const char* meaning = "Linear regression on five correlated predictors";

  struct Data {
    static constexpr int features = 5;
    kilochain::DataMatrix x;
    kilochain::DataArray y;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    const auto y = json.numbers("y");
    const auto x = json.numbers("X", Data::features * std::ssize(y));
    return {loader.put("X", x, Data::features), loader.put("y", y)};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto beta = p.reals("beta", Data::features);
    const auto sigma = p.positive("sigma");
    auto lp = half_normal_lp(sigma, 10);
    for (int j = 0; j < Data::features; ++j) lp += normal_lp(beta[j], 0, 10);
    for (int i = 0; i < d.y.size(); ++i) {
      const auto mean = dot(d.x.row(i), beta);
      lp += normal_lp(d.y[i], mean, sigma);
    }
    return lp;
  }
};
