// ARMA(1, 1): every value depends on the last one and on the error of its prediction.
#pragma once
#include <kilochain/model.hpp>

struct Arma {
  static constexpr const char* meaning = "Time series, autoregressive with a moving average: ARMA(1, 1)";

  struct Settings {
    std::string data = "arma.json";
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("data", s.data, "JSON file whose section \"data\" has the series y");
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
    const auto mu = p.real("mu");
    const auto phi = p.real("phi");
    const auto theta = p.real("theta");
    const auto sigma = p.positive("sigma");
    auto error = d.y[0] - (mu + phi * mu);
    auto lp = normal_lp(error, 0, sigma);
    for (int t = 1; t < d.n; ++t) {
      error = d.y[t] - (mu + phi * d.y[t - 1] + theta * error);
      lp += normal_lp(error, 0, sigma);
    }
    return lp + normal_lp(mu, 0, 10) + normal_lp(phi, 0, 2) + normal_lp(theta, 0, 2) + half_cauchy_lp(sigma, 2.5);
  }
};
