// Weight of mesquite bushes from their size, all on logarithms; flat priors.
#pragma once
#include <cmath>
#include <kilochain/model.hpp>

struct Mesquite {
  static constexpr const char* meaning = "Log weight of mesquite bushes on their log measures (Gelman and Hill 2007)";

  struct Data {
    static constexpr int features = 7;
    kilochain::DataMatrix x;  ///< (y.size(), features)
    kilochain::DataArray y;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    auto y = json.numbers("weight");
    const std::size_t n = y.size();
    std::vector<double> x(n * Data::features, 1.0);
    int column = 1;
    for (const char* name : {"diam1", "diam2", "canopy_height", "total_height", "density", "group"}) {
      const auto values = json.numbers(name, std::ssize(y));
      for (std::size_t i = 0; i < n; ++i)
        x[i * Data::features + column] = column == 6 ? values[i] : std::log(values[i]);
      ++column;
    }
    for (auto& weight : y) weight = std::log(weight);
    return {loader.put("measures", x, Data::features), loader.put("weight", y)};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    const auto beta = p.reals("beta", Data::features);
    const auto sigma = p.positive("sigma");
    auto lp = 0.0 * sigma;
    for (int i = 0; i < d.y.size(); ++i) {
      const auto mean = dot(d.x.row(i), beta);
      lp += kilochain::normal_lp(d.y[i], mean, sigma);
    }
    return lp;
  }
};
