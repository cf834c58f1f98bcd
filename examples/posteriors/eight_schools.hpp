// Eight schools, non-centred: effects of coaching in eight schools, known standard errors (Rubin 1981).
#pragma once
#include <kilochain/model.hpp>

struct EightSchools {
  static constexpr const char* meaning = "Effects of coaching in eight schools, non-centred (Rubin 1981)";

  struct Data {
    kilochain::DataArray y, sigma;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    const auto y = json.numbers("y");
    return {loader.put("y", y), loader.put("sigma", json.numbers("sigma", std::ssize(y)))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const int schools = d.y.size();
    const auto z = p.reals("z", schools);
    const auto mu = p.real("mu");
    const auto tau = p.positive("tau");
    auto lp = normal_lp(mu, 0, 5) + half_cauchy_lp(tau, 5);
    for (int j = 0; j < schools; ++j) {
      lp += normal_lp(z[j], 0, 1) + p.log_likelihood(j, normal_lp(d.y[j], mu + tau * z[j], d.sigma[j]));
    }
    p.predict("y_rep", d.y, [&](auto& rng, int j) { return rng.normal(mu + tau * z[j], d.sigma[j]); });
    p.report("theta", schools, [&](int j) { return mu + tau * z[j]; });
    return lp;
  }
};
