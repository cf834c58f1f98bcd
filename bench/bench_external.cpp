// What calls from outside cost, on one core in the thread's own processor time, a JSON line each.
// Functions: the same C++ density as a model and as a C function: a Gaussian in 5 dimensions,
// a regression in 25 of 1 000 rows. Stan: gradients a second through the target and in a plain loop over the library's
// bs_log_density_gradient.
//   bench_external [--smoke] [--stan LIBRARY DATA.json]
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "bench/clock.hpp"
#include "host/registry/own_target.hpp"

namespace kilochain {
namespace {

template <int n, int rows>
struct Regression {
  static constexpr const char* meaning = "a regression with an error of 1, or without rows a Gaussian";
  struct Data {
    DataMatrix x;
    DataArray y;
  };
  static int dim(const Data&) { return n; }
  /// Not inlined: the same instructions both ways, and what differs is the way to them.
  [[gnu::noinline]] static double log_density_and_gradient(const Data& d, const double* beta, double* gradient) {
    double lp = 0;
    for (int j = 0; j < n; ++j) lp -= beta[j] * beta[j] / 2, gradient[j] = -beta[j];
    for (int i = 0; i < rows; ++i) {
      const auto row = d.x.row(i);
      double error = d.y[i];
      for (int j = 0; j < n; ++j) error -= row[j] * beta[j];
      lp -= error * error / 2;
      for (int j = 0; j < n; ++j) gradient[j] += error * row[j];
    }
    return lp;
  }
  static Data made(Loader& at) {
    std::vector<double> x(std::max(1, rows) * n), y(std::max(1, rows));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<double>(k));
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = std::cos(static_cast<double>(k));
    return {at.put("x", x, n), at.put("y", y)};
  }
  static int function(std::size_t, const double* x, double* gradient, double* lp, void* data) {
    *lp = log_density_and_gradient(*static_cast<const Data*>(data), x, gradient);
    return 0;
  }
};

/// Seconds of one gradient of a target, and its value in `lp`.
double seconds_of(Target<double>& target, double budget, double& lp, double* gradient) {
  const std::size_t row = padded(static_cast<std::size_t>(target.info().dim) + 1);
  std::vector<double> x(row), direction(row), g(row), product(row);
  for (std::size_t i = 0; i < static_cast<std::size_t>(target.info().dim); ++i) x[i] = 0.1 * std::sin(1.0 + i);
  double accepted = 0;
  Needs needs = Needs::gradient;
  const Exchange<double> exchange{x.data(), direction.data(), g.data(), product.data(), &lp, &accepted, &needs, row};
  const double s = bench::best_of(budget, [&] { target.evaluate(exchange, 0, 1); });
  *gradient = g[0];
  return s;
}

template <int n, int rows>
bool functions(const char* name, double budget) {
  using Model = Regression<n, rows>;
  const Context context = cpu_context(1);
  Arena<double> arena(context);
  Loader loader(arena);
  typename Model::Data data = Model::made(loader);
  FunctionDensity f;
  f.one = Model::function, f.user_data = &data, f.dim = n;
  const auto of = OwnTarget::of<Model>("model", [](Loader& at) { return Model::made(at); });
  const auto model = make_target<double>(context, "model", {}),
             function = function_target<double>(cpu_context(1), "function", f);
  double lp[2], gradient[2];
  double best[2] = {1e9, 1e9};
  for (int turn = 0; turn < 3; ++turn) {
    best[0] = std::min(best[0], seconds_of(*model, budget / 3, lp[0], gradient));
    best[1] = std::min(best[1], seconds_of(*function, budget / 3, lp[1], gradient + 1));
  }
  if (lp[0] != lp[1] || gradient[0] != gradient[1]) return false;
  std::printf("{\"density\": \"%s\", \"model_ns\": %.1f, \"function_ns\": %.1f, \"more_ns\": %.1f, \"more\": %.4f}\n",
              name, 1e9 * best[0], 1e9 * best[1], 1e9 * (best[1] - best[0]), best[1] / best[0] - 1);
  return true;
}

bool stan(const std::string& library, const std::string& data, double budget) {
  struct Model;
  std::ostringstream text;
  text << std::ifstream(data).rdbuf();
  void* const handle = dlopen(library.c_str(), RTLD_NOW);
  if (!handle) return false;
  using Gradient = int(const Model*, bool, bool, const double*, double*, double*, char**);
  const auto construct =
      reinterpret_cast<Model* (*)(const char*, unsigned, char**)>(dlsym(handle, "bs_model_construct"));
  const auto gradient = reinterpret_cast<Gradient*>(dlsym(handle, "bs_log_density_gradient"));
  char* error = nullptr;
  const Model* const model = construct(text.str().c_str(), 1, &error);
  if (!model) return false;
  const auto target = make_target<double>(cpu_context(1), "stan", {{"model", library}, {"data", data}});
  const std::size_t n = static_cast<std::size_t>(target->info().dim);
  std::vector<double> x(n), g(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.1 * std::sin(1.0 + i);
  double loop = 1e9, through = 1e9, lp[2] = {}, first = 0;
  for (int turn = 0; turn < 5; ++turn) {
    loop = std::min(loop,
                    bench::best_of(budget / 5, [&] { gradient(model, true, true, x.data(), lp, g.data(), &error); }));
    through = std::min(through, seconds_of(*target, budget / 5, lp[1], &first));
  }
  if (lp[0] != lp[1] || g[0] != first) return false;
  std::printf(
      "{\"library\": \"%s\", \"dim\": %zu, \"loop_per_second\": %.0f, \"target_per_second\": %.0f, \"ratio\": %.4f}\n",
      library.c_str(), n, 1 / loop, 1 / through, loop / through);
  return true;
}

}  // namespace
}  // namespace kilochain

int main(int argc, char** argv) {
  using namespace kilochain;
  CLI::App app("What calls of densities from outside cost.");
  bool smoke = false;
  std::vector<std::string> program;
  app.add_flag("--smoke", smoke, "briefly, as a test");
  app.add_option("--stan", program, "library of a Stan program, and its data")->expected(2);
  CLI11_PARSE(app, argc, argv);
  const double budget = smoke ? 0.01 : 1;
  if (!program.empty()) return stan(program[0], program[1], budget) ? 0 : 1;
  const bool same = functions<5, 0>("Gaussian in 5 dimensions", budget) &&
                    functions<25, 1000>("regression in 25 dimensions, 1000 rows", budget);
  if (!same) std::fprintf(stderr, "bench_external: the model and the function differ\n");
  return same ? 0 : 1;
}
