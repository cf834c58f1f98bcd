// Derivatives of models as users write them: microseconds of a value, and of a gradient by duals and by the tape, on
// one core in the thread's own processor time. One JSON line for each model. times_value: what the chosen way costs in
// values; a sweep cannot be below about 2. Checks before it times: both ways must agree.
//   bench_derivatives [--smoke]
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "bench/clock.hpp"
#include "kernels/device/team.hpp"
#include "model/densities.hpp"
#include "model/model.hpp"

namespace kilochain {
namespace {

template <int groups>
struct Hierarchy {
  static constexpr const char* meaning = "means of groups of ten observations";
  template <class P>
  static auto log_density(P& p, const model_detail::Nothing&) {
    const auto mu = p.real("mu");
    const auto tau = p.positive("tau");
    const auto z = p.reals("z", groups);
    auto lp = normal_lp(mu, 0, 5) + half_cauchy_lp(tau, 5);
    for (int j = 0; j < groups; ++j) {
      const auto mean = mu + tau * z[j];
      lp += normal_lp(z[j], 0, 1);
      for (int i = 0; i < 10; ++i) lp += normal_lp(0.1 * i, mean, 1.0);
    }
    return lp;
  }
};

/// 200 observations. with_dot: the linear predictor in one call, or as a loop.
template <int features, bool with_dot>
struct Regression {
  static constexpr const char* meaning = "logistic regression";
  struct Data {
    DataMatrix x;
  };
  static Data load(const model_detail::Nothing&, Loader& loader) {
    std::vector<double> x(200 * features);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
    return {loader.put("x", x, features)};
  }
  template <class P>
  static auto log_density(P& p, const Data& d) {
    const auto beta = p.reals("beta", features);
    auto lp = normal_lp(beta[0], 0, 1);
    for (int j = 1; j < features; ++j) lp += normal_lp(beta[j], 0, 1);
    for (int i = 0; i < 200; ++i) {
      const auto row = d.x.row(i);
      if constexpr (with_dot) {
        lp += bernoulli_logit_lp(i % 2, dot(row, beta));
      } else {
        auto logit = row[0] * beta[0];
        for (int j = 1; j < features; ++j) logit += row[j] * beta[j];
        lp += bernoulli_logit_lp(i % 2, logit);
      }
    }
    return lp;
  }
};

template <class Model>
bool line(const char* name, double budget) {
  using T = ModelTarget<Model, double>;
  const Context context = cpu_context(1);
  Arena<double> arena(context);
  TargetInfo info;
  auto data = T::prepare({}, arena, info);
  T::prepare_host(data);
  const bool chosen = data.by_tape;
  const auto n = static_cast<std::size_t>(data.n);
  std::vector<double> x(n), by_duals(n), gradient(n), scratch(T::scratch(data));
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.1 * std::sin(2.0 * static_cast<double>(i));
  double lp = 0;
  const auto evaluate = [&](bool by_tape, Needs needs) {
    data.by_tape = by_tape;
    T::evaluate(HostTeam{}, data, needs, Query<double>{Row(x.data(), n), {}, &needs},
                Reply<double>{&lp, Row(gradient.data(), n), {}}, scratch.data());
    asm volatile("" : : "r"(&lp), "r"(gradient.data()) : "memory");  // somebody reads them
  };
  evaluate(false, Needs::gradient);
  by_duals = gradient;
  evaluate(true, Needs::gradient);
  bool agree = true;
  for (std::size_t i = 0; i < n; ++i) agree = agree && std::abs(gradient[i] - by_duals[i]) < 1e-10;
  const double value = bench::best_of(budget, [&] { evaluate(false, Needs::value); }),
               duals = bench::best_of(budget, [&] { evaluate(false, Needs::gradient); }),
               tape = bench::best_of(budget, [&] { evaluate(true, Needs::gradient); });
  std::printf(
      "{\"model\": \"%s\", \"dim\": %d, \"us_value\": %.2f, \"us_duals\": %.2f, \"us_tape\": %.2f, \"chosen\": \"%s\", "
      "\"times_value\": %.1f, \"of_better\": %.2f, \"agree\": %s}\n",
      name, data.n, 1e6 * value, 1e6 * duals, 1e6 * tape, chosen ? "tape" : "duals", (chosen ? tape : duals) / value,
      std::min(tape, duals) / (chosen ? tape : duals), agree ? "true" : "false");
  std::fflush(stdout);
  return agree;
}

}  // namespace
}  // namespace kilochain

int main(int argc, char** argv) {
  using namespace kilochain;
  bool smoke = false;
  CLI::App app{"times derivatives of models by duals and by the tape, on one core"};
  app.add_flag("--smoke", smoke, "a few calls of each");
  CLI11_PARSE(app, argc, argv);
  const double budget = smoke ? 1e-4 : 0.2;
  bool good = line<Hierarchy<8>>("hierarchy", budget);
  good = line<Hierarchy<22>>("hierarchy", budget) && good;
  good = line<Hierarchy<46>>("hierarchy", budget) && good;
  good = line<Hierarchy<98>>("hierarchy", budget) && good;
  good = line<Hierarchy<498>>("hierarchy", budget) && good;
  good = line<Regression<8, false>>("regression, loop", budget) && good;
  good = line<Regression<24, false>>("regression, loop", budget) && good;
  good = line<Regression<48, false>>("regression, loop", budget) && good;
  good = line<Regression<100, false>>("regression, loop", budget) && good;
  good = line<Regression<300, false>>("regression, loop", budget) && good;
  good = line<Regression<8, true>>("regression, dot", budget) && good;
  good = line<Regression<24, true>>("regression, dot", budget) && good;
  good = line<Regression<48, true>>("regression, dot", budget) && good;
  good = line<Regression<100, true>>("regression, dot", budget) && good;
  good = line<Regression<300, true>>("regression, dot", budget) && good;
  return good ? 0 : 1;
}
