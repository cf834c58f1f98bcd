// ARMA(1, 1): every value depends on the last one and on the error of its prediction.
#pragma once
#include <kilochain/model.hpp>

struct Arma {
  static constexpr const char* meaning = "Time series, autoregressive with a moving average: ARMA(1, 1)";

  struct Data {
    kilochain::DataArray y;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    return {loader.put("y", json.numbers("y"))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto mu = p.real("mu");
    const auto phi = p.real("phi");
    const auto theta = p.real("theta");
    const auto sigma = p.positive("sigma");
    auto error = d.y[0] - (mu + phi * mu);
    auto lp = normal_lp(error, 0, sigma);
    for (int t = 1; t < d.y.size(); ++t) {
      error = d.y[t] - (mu + phi * d.y[t - 1] + theta * error);
      lp += normal_lp(error, 0, sigma);
    }
    return lp + normal_lp(mu, 0, 10) + normal_lp(phi, 0, 2) + normal_lp(theta, 0, 2) + half_cauchy_lp(sigma, 2.5);
  }
};
