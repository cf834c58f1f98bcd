// Eight schools, non-centred: effects of coaching in eight schools, known standard errors (Rubin 1981).
#pragma once
#include <kilochain/model.hpp>

struct EightSchools {
  static constexpr const char* meaning = "Effects of coaching in eight schools, non-centred (Rubin 1981)";

  struct Settings {
    std::string data = "eight_schools.json";
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("data", s.data, "JSON file whose section \"data\" has y and sigma");
  }

  struct Data {
    int schools;
    const double *y, *sigma;
  };
  static Data load(const Settings& s, kilochain::Loader& loader) {
    const auto json = loader.json(s.data, "data");
    const auto y = json.numbers("y");
    return {int(y.size()), loader.put(y), loader.put(json.numbers("sigma", std::ssize(y)))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto z = p.reals("z", d.schools);
    const auto mu = p.real("mu");
    const auto tau = p.positive("tau");
    auto lp = normal_lp(mu, 0, 5) + half_cauchy_lp(tau, 5);
    for (int j = 0; j < d.schools; ++j) {
      lp += normal_lp(z[j], 0, 1) + normal_lp(d.y[j], mu + tau * z[j], d.sigma[j]);
    }
    p.report("theta", d.schools, [&](int j) { return mu + tau * z[j]; });
    return lp;
  }
};
