// Test scores of children given their mothers' IQ: a regression whose coefficients are strongly correlated.
#pragma once
#include <kilochain/model.hpp>

struct Kidiq {
  static constexpr const char* meaning =
      "Children's test scores on their mothers' IQ, not centred (Gelman and Hill 2007)";

  struct Settings {
    std::string data = "kidiq.json";
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("data", s.data, "JSON file whose section \"data\" has kid_score and mom_iq");
  }

  struct Data {
    int n;
    const double *score, *iq;
  };
  static Data load(const Settings& s, kilochain::Loader& loader) {
    const auto json = loader.json(s.data, "data");
    const auto score = json.numbers("kid_score");
    return {int(score.size()), loader.put(score), loader.put(json.numbers("mom_iq", std::ssize(score)))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    const auto beta = p.reals("beta", 2);
    const auto sigma = p.positive("sigma");
    const auto intercept = beta[0], slope = beta[1];
    auto squares = 0.0 * sigma;
    for (int i = 0; i < d.n; ++i) squares += kilochain::square(d.score[i] - intercept - slope * d.iq[i]);
    return -0.5 * squares / (sigma * sigma) - d.n * log(sigma) + kilochain::half_cauchy_lp(sigma, 2.5);
  }
};
