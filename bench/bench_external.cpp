// What calls from outside cost, a JSON line each.
// Functions: one density as a C++ model and as a C function (external_functions.h), with the same flags, on one core in
// the thread's own processor time: a Gaussian in 5 dimensions, a regression in 25 of 1 000 rows, with sizes that the
// compilers know and not.
// Stan: gradients a second through the target, in a plain loop over the library's bs_log_density_gradient with the same
// threads, and of the posterior as a C++ model where there is one. bench/stan_gradients.py: a suite of programs.
//   bench_external [--smoke] [--seconds 1] [--stan LIBRARY DATA.json] [--threads 1] [--name POSTERIOR]
#include <alloca.h>
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "bench/clock.hpp"
#include "bench/external_functions.h"
#include "examples/posteriors/arma.hpp"
#include "examples/posteriors/eight_schools.hpp"
#include "examples/posteriors/kidiq.hpp"
#include "examples/posteriors/low_dim_gauss_mix.hpp"
#include "examples/posteriors/mesquite.hpp"
#include "examples/posteriors/sblrc.hpp"
#include "host/registry/own_target.hpp"

namespace kilochain {
namespace {

/// How a C++ model reads its data: as the C function does, or with every index checked, as a model's arrays are.
enum class Reads { pointers, arrays };

/// n, rows: known to the compiler where they are not -1.
template <int n, int rows, Reads reads = Reads::pointers>
struct Regression {
  static constexpr const char* meaning = "a regression with an error of 1, or without rows a Gaussian";
  struct Data {
    DataMatrix x;
    DataArray y;
  };
  static int dim(const Data& d) { return n < 0 ? d.x.columns() : n; }
  static double log_density_and_gradient(const Data& d, const double* beta, double* gradient) {
    const int columns = dim(d), count = rows < 0 ? d.y.size() : rows;
    if constexpr (reads == Reads::pointers) {
      const regression data{static_cast<std::size_t>(count), d.x.data(), d.y.data()};
      return regression_density(columns, count, &data, beta, gradient);
    }
    double lp = 0;
    for (int j = 0; j < columns; ++j) lp -= beta[j] * beta[j] / 2, gradient[j] = -beta[j];
    for (int i = 0; i < count; ++i) {
      const auto row = d.x.row(i);
      double error = d.y[i];
      for (int j = 0; j < columns; ++j) error -= row[j] * beta[j];
      lp -= error * error / 2;
      for (int j = 0; j < columns; ++j) gradient[j] += error * row[j];
    }
    return lp;
  }
};

std::vector<double> waves(std::size_t count, double phase) {
  std::vector<double> out(count);
  for (std::size_t k = 0; k < count; ++k) out[k] = std::sin(static_cast<double>(k) + phase);
  return out;
}

/// Points of some chains and the answers there.
struct Asked {
  std::size_t row;
  std::vector<double> x, direction, gradient, product, lp, accepted;
  std::vector<Needs> needs;
  Asked(Index dim, int chains, const std::vector<double>& point)
      : row(padded(static_cast<std::size_t>(dim) + 1)),
        x(row * chains),
        direction(x),
        gradient(x),
        product(x),
        lp(chains),
        accepted(chains),
        needs(chains, Needs::gradient) {
    for (int chain = 0; chain < chains; ++chain) std::copy(point.begin(), point.end(), x.begin() + row * chain);
  }
  Exchange<double> exchange() {
    return {x.data(), direction.data(), gradient.data(), product.data(), lp.data(), accepted.data(), needs.data(), row};
  }
};

template <int n, int rows, Reads reads = Reads::pointers>
bool functions(const char* name, kilochain_density in_c, Index dim, std::size_t count, double budget) {
  using Model = Regression<n, rows, reads>;
  const std::vector<double> x = waves(std::max<std::size_t>(1, count) * dim, 0), y = waves(count, 1.5);
  const auto of = OwnTarget::of<Model>("model", [&](Loader& at) {
    return typename Model::Data{at.put("x", x, dim), at.put("y", y)};
  });
  regression data{count, x.data(), y.data()};
  FunctionDensity f;
  f.one = in_c, f.user_data = &data, f.dim = dim;
  const std::unique_ptr<Target<double>> targets[] = {make_target<double>(cpu_context(1), "model", {}),
                                                     function_target<double>(cpu_context(1), "function", f)};
  Asked asked[] = {{dim, 1, waves(dim, 1)}, {dim, 1, waves(dim, 1)}};
  double best[2] = {1e9, 1e9};
  for (int turn = 0; turn < 5; ++turn)
    for (int k = 0; k < 2; ++k) {
      const auto exchange = asked[k].exchange();
      best[k] = std::min(best[k], bench::best_of(budget / 5, [&] { targets[k]->evaluate(exchange, 0, 1); }));
    }
  const double rounding = 1e-12 * (1 + std::abs(asked[0].lp[0]));
  bool same = std::abs(asked[0].lp[0] - asked[1].lp[0]) <= rounding;
  for (Index i = 0; i < dim; ++i) same = same && std::abs(asked[0].gradient[i] - asked[1].gradient[i]) <= rounding;
  std::printf("{\"density\": \"%s\", \"model_ns\": %.1f, \"function_ns\": %.1f, \"more_ns\": %.1f, \"more\": %.4f}\n",
              name, 1e9 * best[0], 1e9 * best[1], 1e9 * (best[1] - best[0]), best[1] / best[0] - 1);
  return same;
}

/// Calls a second of f(thread) by all threads together, each in its own processor time. place: of the stack, in lines.
template <class F>
double calls_a_second(int threads, double seconds, int place, F f) {
  std::barrier together(threads);
  std::vector<double> rates(threads);
  std::vector<std::jthread> team;
  for (int thread = 0; thread < threads; ++thread)
    team.emplace_back([&, thread] {
      static_cast<volatile char*>(alloca(64 * (place + 1)))[0] = 0;
      f(thread);  // what a thread makes once
      together.arrive_and_wait();
      const double begin = thread_seconds();
      double spent = 0;
      long calls = 0, more = 1;
      do {
        for (long k = 0; k < more; ++k) f(thread);
        calls += more;
        spent = thread_seconds() - begin;
        if (spent / calls * more < 50e-6) more *= 2;  // too short for the clock
      } while (spent < seconds);
      rates[thread] = calls / spent;
    });
  team.clear();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

template <class Model>
std::unique_ptr<Target<double>> written_here(const std::string& data) {
  return std::make_unique<CpuTarget<ModelTarget<Model, double>, double>>(cpu_context(1), DataFile{data});
}
const std::map<std::string, std::unique_ptr<Target<double>> (*)(const std::string&)> models = {
    {"eight_schools-eight_schools_noncentered", written_here<EightSchools>},
    {"arma-arma11", written_here<Arma>},
    {"kidiq-kidscore_momiq", written_here<Kidiq>},
    {"low_dim_gauss_mix-low_dim_gauss_mix", written_here<LowDimGaussMix>},
    {"mesquite-logmesquite", written_here<Mesquite>},
    {"sblrc-blr", written_here<Sblrc>}};

bool stan(const std::string& library, const std::string& data, int threads, const std::string& name, double budget) {
  struct Program;
  std::ostringstream text;
  text << std::ifstream(data).rdbuf();
  const auto make = [&] {
    return make_target<double>(cpu_context(threads), "stan", {{"model", library}, {"data", data}});
  };
  std::unique_ptr<Target<double>> target = make();
  void* const handle = dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW);
  using Construct = Program*(const char*, unsigned, char**);
  using Gradient = int(const Program*, bool, bool, const double*, double*, double*, char**);
  const auto construct = reinterpret_cast<Construct*>(dlsym(handle, "bs_model_construct"));
  const auto gradient = reinterpret_cast<Gradient*>(dlsym(handle, "bs_log_density_gradient"));
  char* error = nullptr;
  const Program* program = construct(text.str().c_str(), 1, &error);
  if (!program) return false;

  const Index n = target->info().dim;
  std::vector<double> x;
  double lp = NAN;
  for (int k = 1; k < 200 && !std::isfinite(lp); ++k) {  // closer and closer to 0, or farther out
    x = waves(n, k);
    for (double& value : x) value *= k % 2 ? 0.5 / k : 2;
    std::vector<double> g(n);
    if (gradient(program, true, true, x.data(), &lp, g.data(), &error) != 0) lp = NAN;
    for (const double slope : g)
      if (!std::isfinite(slope)) lp = NAN;
  }
  constexpr int tile = 8;  // chains that a thread asks for together, as in a run
  // All ways ask at the same points in memory, and the best of many short turns counts: other programs slow down some,
  // and where a program's data and the stack lie decides 3 %.
  Asked asked(n, tile * threads, x);
  std::vector<Asked> answers;
  const auto exchange = asked.exchange();
  const auto model = models.contains(name) ? models.at(name)(data) : nullptr;
  double rates[3] = {};
  constexpr int turns_in_a_place = 5;
  const int turns = std::max(40, static_cast<int>(budget * 40));
  std::vector<std::unique_ptr<Target<double>>> kept;
  const auto time = [&](int way, int place, auto f) {
    rates[way] = std::max(rates[way], tile * calls_a_second(threads, budget / turns, place, f));
    if (answers.size() < 2) answers.push_back(asked);
  };
  for (int turn = 0; turn < turns; ++turn) {
    if (turn % turns_in_a_place == 0) {
      kept.push_back(std::exchange(target, make()));  // not freed, as programs are not: new places for both
      program = construct(text.str().c_str(), 1, &error);
    }
    const int place = 11 * turn % 64;
    time(0, place, [&](int thread) {
      for (int chain = tile * thread; chain < tile * (thread + 1); ++chain) {
        char* why = nullptr;
        gradient(program, true, true, asked.x.data() + chain * asked.row, &asked.lp[chain],
                 asked.gradient.data() + chain * asked.row, &why);
      }
    });
    std::fill(asked.lp.begin(), asked.lp.end(), NAN);
    time(1, place, [&](int thread) { target->evaluate(exchange, tile * thread, tile * (thread + 1)); });
    if (model) time(2, place, [&](int thread) { model->evaluate(exchange, tile * thread, tile * (thread + 1)); });
  }
  if (!std::isfinite(lp) || answers[0].lp != answers[1].lp || answers[0].gradient != answers[1].gradient) return false;
  std::printf(
      "{\"program\": \"%s\", \"dim\": %d, \"threads\": %d, \"stan_per_second\": %.0f, \"target_per_second\": %.0f, "
      "\"ratio\": %.4f",
      name.c_str(), n, threads, rates[0], rates[1], rates[1] / rates[0]);
  if (model) std::printf(", \"model_per_second\": %.0f", rates[2]);
  std::printf("}\n");
  return true;
}

}  // namespace
}  // namespace kilochain

int main(int argc, char** argv) {
  using namespace kilochain;
  CLI::App app("What calls of densities from outside cost.");
  bool smoke = false;
  double seconds = 1;
  int threads = 1;
  std::string name;
  std::vector<std::string> program;
  app.add_flag("--smoke", smoke, "briefly, as a test");
  app.add_option("--stan", program, "library of a Stan program, and its data")->expected(2);
  app.add_option("--seconds", seconds, "for each way: the best of short turns settles slowly where calls are short");
  app.add_option("--threads", threads, "that ask for gradients of the program");
  app.add_option("--name", name, "of the posterior: what is printed, and which C++ model is the same");
  CLI11_PARSE(app, argc, argv);
  const double budget = smoke ? 0.01 : seconds;
  bool same = true;
  if (!program.empty()) {
    same = stan(program[0], program[1], threads, name, budget);
  } else {
    const auto all = [&](bool ok) { same = same && ok; };
    all(functions<-1, -1>("Gaussian in 5 dimensions", regression_in_c, 5, 0, budget));
    all(functions<5, 0>("Gaussian in 5 dimensions, known sizes", gaussian_5_in_c, 5, 0, budget));
    all(functions<-1, -1>("regression in 25 dimensions, 1000 rows", regression_in_c, 25, 1000, budget));
    all(functions<25, 1000>("regression in 25 dimensions, 1000 rows, known sizes", regression_25_in_c, 25, 1000,
                            budget));
    all(functions<-1, -1, Reads::arrays>("regression in 25 dimensions, 1000 rows, the model by checked arrays",
                                         regression_in_c, 25, 1000, budget));
  }
  if (!same) std::fprintf(stderr, "bench_external: two ways to the same density differ\n");
  return same ? 0 : 1;
}
