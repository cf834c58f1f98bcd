// A Gaussian process of one input with normal noise of variance sigma, whose values are integrated out.
#pragma once
#include <kilochain/model.hpp>

struct GaussianProcess {
  static constexpr const char* meaning = "Gaussian process with a squared exponential covariance";

  struct Data {
    kilochain::DataArray x, y, mean;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    const auto x = json.numbers("x");
    return {loader.put("x", x), loader.put("y", json.numbers("y", std::ssize(x))),
            loader.put("mean", std::vector<double>(x.size(), 0.0))};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto rho = p.positive("rho");
    const auto alpha = p.positive("alpha");
    const auto sigma = p.positive("sigma");
    const auto K = gp_exp_quad_cov(d.x, alpha, rho, p);
    for (int i = 0; i < d.x.size(); ++i) K(i, i) += sigma;
    return gamma_lp(rho, 25, 4) + half_normal_lp(alpha, 2) + half_normal_lp(sigma, 1) +
           multi_normal_lp(d.y, d.mean, K, p);
  }
};
