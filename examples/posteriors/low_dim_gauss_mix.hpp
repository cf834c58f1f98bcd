// A mixture of two normals; their means are ordered, or else each mode would be there twice.
#pragma once
#include <kilochain/model.hpp>

struct LowDimGaussMix {
  static constexpr const char* meaning = "Mixture of two normals with ordered means";

  struct Settings {
    std::string data = "low_dim_gauss_mix.json";
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("data", s.data, "JSON file whose section \"data\" has the observations y");
  }

  struct Data {
    int n;
    const double* y;
  };
  static Data load(const Settings& s, kilochain::Loader& loader) {
    const auto y = loader.json(s.data, "data").numbers("y");
    return {int(y.size()), loader.put(y)};
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
    for (int i = 0; i < d.n; ++i) {
      lp += log_sum_exp(log_theta + normal_lp(d.y[i], mu[0], first), log_rest + normal_lp(d.y[i], mu[1], second));
    }
    return lp;
  }
};
