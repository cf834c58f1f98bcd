// Linear regression on correlated predictors, without an intercept.
#pragma once
#include <kilochain/model.hpp>

struct Sblrc {
  static constexpr const char* meaning = "Linear regression on five correlated predictors";

  struct Settings {
    std::string data = "sblrc.json";
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("data", s.data, "JSON file whose section \"data\" has rows X and responses y");
  }

  struct Data {
    static constexpr int features = 5;
    int n;
    const double *x, *y;
  };
  static Data load(const Settings& s, kilochain::Loader& loader) {
    const auto json = loader.json(s.data, "data");
    const auto y = json.numbers("y");
    return {int(y.size()), loader.put(json.numbers("X", Data::features * std::ssize(y))), loader.put(y)};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto beta = p.reals("beta", Data::features);
    const auto sigma = p.positive("sigma");
    auto lp = half_normal_lp(sigma, 10);
    for (int j = 0; j < Data::features; ++j) lp += normal_lp(beta[j], 0, 10);
    for (int i = 0; i < d.n; ++i) {
      const auto mean = kilochain::dot(d.x + i * Data::features, beta, Data::features);
      lp += normal_lp(d.y[i], mean, sigma);
    }
    return lp;
  }
};
