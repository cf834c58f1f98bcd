// Hares and lynxes, 1900 to 1920: an ordinary differential equation of prey and predator, seen with lognormal errors.
//   u' = (alpha - beta v) u,   v' = (delta u - gamma) v,   theta = alpha, beta, gamma, delta
#pragma once
#include <kilochain/model.hpp>

struct LotkaVolterra {
  static constexpr const char* meaning = "Hares and lynxes: prey and predator, solved by ode_rk45 (Carpenter 2018)";

  struct Data {
    kilochain::DataArray times, first;
    kilochain::DataMatrix y;  ///< (times, 2)
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    const auto times = json.numbers("ts");
    return {loader.put("ts", times), loader.put("y_init", json.numbers("y_init", 2)),
            loader.put("y", json.numbers("y", 2 * std::ssize(times)), 2)};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    using T = scalar_of<Parameters>;
    const auto theta = p.positives("theta", 4);
    const auto start = p.positives("z_init", 2);
    const auto sigma = p.positives("sigma", 2);
    const T alpha = theta[0], beta = theta[1], gamma = theta[2], delta = theta[3], sd[] = {sigma[0], sigma[1]};
    T z[] = {start[0], start[1]};
    T lp = normal_lp(alpha, 1, 0.5) + normal_lp(gamma, 1, 0.5) + normal_lp(beta, 0.05, 0.05) +
           normal_lp(delta, 0.05, 0.05);
    for (int k = 0; k < 2; ++k)
      lp +=
          lognormal_lp(sd[k], -1, 1) + lognormal_lp(z[k], ::log(10.0), 1) + lognormal_lp(d.first[k], log(z[k]), sd[k]);
    const auto slopes = [&](double, const T* y, T* slope) {
      slope[0] = (alpha - beta * y[1]) * y[0];
      slope[1] = (delta * y[0] - gamma) * y[1];
    };
    ode_rk45<2>(slopes, z, 0, d.times, {.relative = 1e-5, .absolute = 1e-3, .max_num_steps = 500},
                [&](int i, const T* y) {
                  for (int k = 0; k < 2; ++k) lp += lognormal_lp(d.y(i, k), log(y[k]), sd[k]);
                });
    return lp;
  }
};
