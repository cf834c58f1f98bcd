// Weight of mesquite bushes from their size, all on logarithms; flat priors.
#pragma once
#include <cmath>
#include <kilochain/model.hpp>

struct Mesquite {
  static constexpr const char* meaning = "Log weight of mesquite bushes on their log measures (Gelman and Hill 2007)";

  struct Settings {
    std::string data = "mesquite.json";
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("data", s.data,
          "JSON file whose section \"data\" has weight, diam1, diam2, canopy_height, total_height, density, group");
  }

  struct Data {
    static constexpr int features = 7;
    int n;
    const double *x, *y;  ///< x: (n, features)
  };
  static Data load(const Settings& s, kilochain::Loader& loader) {
    const auto json = loader.json(s.data, "data");
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
    return {int(n), loader.put(x), loader.put(y)};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    const auto beta = p.reals("beta", Data::features);
    const auto sigma = p.positive("sigma");
    auto lp = 0.0 * sigma;
    for (int i = 0; i < d.n; ++i) {
      const auto mean = kilochain::dot(d.x + i * Data::features, beta, Data::features);
      lp += kilochain::normal_lp(d.y[i], mean, sigma);
    }
    return lp;
  }
};
