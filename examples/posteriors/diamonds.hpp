// Price of diamonds on 24 correlated predictors, which are centred: the intercept is that of their means.
#pragma once
#include <kilochain/model.hpp>

struct Diamonds {
  static constexpr const char* meaning = "Log price of diamonds on 24 correlated predictors";

  struct Data {
    kilochain::DataMatrix x;  ///< (y.size(), 24), columns of mean 0
    kilochain::DataArray y;
  };
  static Data load(const kilochain::JsonData& json, kilochain::Loader& loader) {
    const auto y = json.numbers("Y");
    const auto columns = std::size_t(json.number("K"));
    const auto given = json.numbers("X", std::ssize(y) * std::int64_t(columns));
    std::vector<double> x(y.size() * (columns - 1));  // without the column of ones
    for (std::size_t j = 1; j < columns; ++j) {
      double mean = 0;
      for (std::size_t i = 0; i < y.size(); ++i) mean += given[i * columns + j] / double(y.size());
      for (std::size_t i = 0; i < y.size(); ++i) x[i * (columns - 1) + j - 1] = given[i * columns + j] - mean;
    }
    return {loader.put("X", x, kilochain::Index(columns) - 1), loader.put("Y", y)};
  }

  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    using namespace kilochain;
    const auto b = p.reals("b", d.x.columns());
    const auto intercept = p.real("Intercept");
    const auto sigma = p.positive("sigma");
    auto lp = student_t_lp(intercept, 3, 8, 10) + student_t_lp(sigma, 3, 0, 10);
    for (int j = 0; j < d.x.columns(); ++j) lp += normal_lp(b[j], 0, 1);
    for (int i = 0; i < d.y.size(); ++i) {
      const auto mean = intercept + dot(d.x.row(i), b);
      lp += normal_lp(d.y[i], mean, sigma);
    }
    return lp;
  }
};
