// Radon in houses by county (Gelman and Hill 2007): varying intercepts in both forms. Centred, a county's intercept
// is a parameter; non-centred, it is the mean and so many standard deviations, which counties with few houses want.
#pragma once
#include <kilochain/model.hpp>

struct RadonData {
  kilochain::DataArray log_radon, log_uranium, floor, county;
  int counties;
};

template <bool centred>
struct Radon {
  static constexpr const char* meaning = centred ? "Radon by county, centred intercepts (Gelman and Hill 2007)"
                                                 : "Radon by county, non-centred intercepts (Gelman and Hill 2007)";

  using Data = RadonData;
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    const auto y = json.numbers("log_radon");
    auto county = json.numbers("county_idx", std::ssize(y));
    for (double& j : county) j -= 1;  // the file counts from 1
    return {loader.put("log_radon", y), loader.put("log_uppm", json.numbers("log_uppm", std::ssize(y))),
            loader.put("floor_measure", json.numbers("floor_measure", std::ssize(y))), loader.put("county_idx", county),
            int(json.number("J"))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto intercept = p.reals(centred ? "alpha" : "alpha_raw", d.counties);
    const auto beta = p.reals("beta", 2);
    const auto mu = p.real("mu_alpha");
    const auto sigma_alpha = p.positive("sigma_alpha");
    const auto sigma = p.positive("sigma_y");
    const auto uranium = beta[0], floor = beta[1];
    auto lp = normal_lp(mu, 0, 10) + half_normal_lp(sigma_alpha, 1) + half_normal_lp(sigma, 1) +
              normal_lp(uranium, 0, 10) + normal_lp(floor, 0, 10);
    const auto alpha = p.array(d.counties);
    for (int j = 0; j < d.counties; ++j) {
      lp += centred ? normal_lp(intercept[j], mu, sigma_alpha) : normal_lp(intercept[j], 0, 1);
      alpha[j] = centred ? intercept[j] : mu + sigma_alpha * intercept[j];
    }
    for (int i = 0; i < d.log_radon.size(); ++i) {
      const auto mean = alpha[int(d.county[i])] + d.log_uranium[i] * uranium + d.floor[i] * floor;
      lp += normal_lp(d.log_radon[i], mean, sigma);
    }
    if constexpr (!centred) p.report("alpha", d.counties, [&](int j) { return alpha[j]; });
    return lp;
  }
};

using RadonCentred = Radon<true>;
using RadonNoncentred = Radon<false>;
