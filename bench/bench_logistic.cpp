// Times the gradients of logistic and of softmax regression on one core, for each data set, precision, evaluator and
// number of chains.
// One JSON line each: microseconds and GFLOP/s for one chain's gradient, the best of many calls, in the thread's own
// processor time. of_floor: the floor, measured here, over that time; the floor is the longer of the products at the
// processor's multiply-add rate and one read of X for all chains at its reading rate. `sparse` leaves out zeros,
// and can be below that floor.
// Checks before it times: the evaluators must agree. --smoke: a small generated data set only, a few calls.
//   bench_logistic [--smoke] [--data FOLDER] [--only german|caravan|mnist|digits]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bench/clock.hpp"
#include "host/registry/registry.hpp"
#include "kernels/device/pack.hpp"
#include "kernels/fields.hpp"

namespace kilochain {
namespace {

using bench::best_of;
using bench::peak_flops;
using bench::reading;

struct Case {
  std::string name;
  SettingTexts settings;
  std::string target = "logistic_regression";
  std::vector<std::string> evaluators = {"team", "blocked", "sparse"};
  std::vector<Index> chains = {1, 8, 64};
};

/// Points, answers and needs of `chains` chains in dimension n.
template <class Real>
struct Memory {
  Memory(const Context& context, Index chains, Index n)
      : row(padded(n)),
        point(context, row * chains),
        direction(context, row * chains),
        gradient(context, row * chains),
        product(context, row * chains),
        lp(context, chains),
        accepted(context, chains),
        needs(context, chains) {
    for (Index c = 0; c < chains; ++c) {
      needs.data()[c] = Needs::gradient;
      for (Index j = 0; j < n; ++j) point.data()[row * c + j] = Real(0.3 * std::sin(1.0 + 0.7 * c + 1.3 * j));
    }
  }
  Exchange<Real> exchange() {
    return {point.data(), direction.data(), gradient.data(), product.data(),
            lp.data(),    accepted.data(),  needs.data(),    row};
  }
  std::size_t row;
  Buffer<Real> point, direction, gradient, product;
  Buffer<double> lp, accepted;
  Buffer<Needs> needs;
};

template <class Real>
bool bench(const Context& context, const Case& one, bool smoke) {
  bool good = true;
  std::vector<double> reference;
  const double most = peak_flops<Real>(smoke ? 0 : 0.2);
  double bandwidth = 0;
  for (const std::string& evaluator : one.evaluators) {
    SettingTexts settings = one.settings;
    settings["evaluator"] = evaluator;
    const auto target = make_target<Real>(context, one.target, settings);
    const TargetInfo& info = target->info();
    if (bandwidth == 0) {
      bandwidth = reading(info.bytes, smoke ? 0 : 0.3);
      std::printf(
          "{\"data\": \"%s\", \"precision\": \"%s\", \"peak_gflops\": %.1f, \"reading_gbytes\": %.1f, \"evaluation\": "
          "\"%s\"}\n",
          one.name.c_str(), name_of(precision_of<Real>), most * 1e-9, bandwidth * 1e-9, target->evaluation().c_str());
    }
    for (const Index chains : one.chains) {
      Memory<Real> memory(context, chains, info.dim);
      target->evaluate(memory.exchange(), 0, chains);
      std::vector<double> first(memory.gradient.data(), memory.gradient.data() + info.dim);
      first.push_back(memory.lp.data()[0]);
      if (reference.empty()) reference = first;
      double norm = 0, distance = 0;
      for (std::size_t j = 0; j < first.size(); ++j)
        norm += reference[j] * reference[j], distance += std::pow(first[j] - reference[j], 2);
      const bool agrees = std::sqrt(distance / norm) < 1e3 * std::numeric_limits<Real>::epsilon();
      good = good && agrees;
      const double best = best_of(smoke ? 0 : 0.7, [&] { target->evaluate(memory.exchange(), 0, chains); }) / chains;
      const double floor = std::max(info.flops / most, info.bytes / chains / bandwidth);
      std::printf(
          "{\"data\": \"%s\", \"precision\": \"%s\", \"evaluator\": \"%s\", \"chains\": %d, \"us\": %.3f, \"gflops\": "
          "%.1f, \"of_floor\": %.2f, \"agrees\": %s}\n",
          one.name.c_str(), name_of(precision_of<Real>), evaluator.c_str(), chains, best * 1e6,
          info.flops / best * 1e-9, floor / best, agrees ? "true" : "false");
      std::fflush(stdout);
    }
  }
  return good;
}

}  // namespace
}  // namespace kilochain

int main(int argc, char** argv) {
  using namespace kilochain;
  bool smoke = false;
  std::string folder = "../shared/data", only;
  CLI::App app{"times the evaluators of logistic regression against their floors, on one core"};
  app.add_flag("--smoke", smoke, "a small generated data set, a few calls");
  app.add_option("--data", folder, "folder of the papers' data sets")->capture_default_str();
  app.add_option("--only", only, "one data set");
  CLI11_PARSE(app, argc, argv);
  const Context context = cpu_context(1);
  std::vector<Case> cases;
  if (smoke) {
    const auto path = std::filesystem::temp_directory_path() / "kilochain_bench_logistic.csv";
    std::ofstream file(path);
    file << "a,b,y\n";
    for (int i = 0; i < 100; ++i) file << std::sin(i) << ',' << std::cos(2.0 * i) << ',' << (i % 3 == 0) << '\n';
    file.close();
    cases.push_back({"generated", {{"data", path.string()}}});
  } else {
    cases.push_back({"german", {{"data", folder + "/german.csv"}}});
    cases.push_back({"caravan", {{"data", folder + "/caravan.csv"}}});
    cases.push_back(
        {"mnist",
         {{"images", folder + "/mnist56-images-idx3-ubyte.gz"}, {"labels", folder + "/mnist56-labels-idx1-ubyte.gz"}}});
    const SettingTexts digits = {{"images", folder + "/train-images-idx3-ubyte.gz"},
                                 {"labels", folder + "/train-labels-idx1-ubyte.gz"}};
    cases.push_back({"digits", digits, "softmax_regression", {"gemm"}, {1, 64}});  // by team: a minute a call
  }
  bool good = true;
  try {
    for (const Case& one : cases)
      if (only.empty() || one.name == only)
        good = bench<float>(context, one, smoke) && good, good = bench<double>(context, one, smoke) && good;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.status());
  }
  if (smoke) std::filesystem::remove(cases[0].settings.at("data"));
  return good ? 0 : 1;
}
