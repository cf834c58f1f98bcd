// Test scores of children given their mothers' IQ: a regression whose coefficients are strongly correlated.
#pragma once
#include <kilochain/model.hpp>

struct Kidiq {
  static constexpr const char* meaning =
      "Children's test scores on their mothers' IQ, not centred (Gelman and Hill 2007)";

  struct Data {
    kilochain::DataArray score, iq;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    const auto score = json.numbers("kid_score");
    return {loader.put("kid_score", score), loader.put("mom_iq", json.numbers("mom_iq", std::ssize(score)))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    const int n = d.score.size();
    const auto beta = p.reals("beta", 2);
    const auto sigma = p.positive("sigma");
    const auto intercept = beta[0], slope = beta[1];
    auto squares = 0.0 * sigma;
    for (int i = 0; i < n; ++i) squares += kilochain::square(d.score[i] - intercept - slope * d.iq[i]);
    return -0.5 * squares / (sigma * sigma) - n * log(sigma) + kilochain::half_cauchy_lp(sigma, 2.5);
  }
};
