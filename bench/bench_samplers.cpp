// Microseconds of one chain-iteration of every registered sampler, and the bars of the project, on one core, in the
// thread's own processor time, so that what else the machine does counts little. One JSON line each. floor_us:
// multiply-adds of the target and of the passes over a learnt factor at the measured rate, plus a root and a division
// for each adapted entry. Checks before it times: the acceptance must lie within [0, 1].
//   bench_samplers [--smoke] [--data FOLDER]     FOLDER: the papers' data sets;
//   without it those rows say that they are left out
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "bench/clock.hpp"
#include "host/chains/rounds.hpp"
#include "host/registry/registry.hpp"
#include "host/run/start.hpp"

namespace kilochain {
namespace {

struct Row {
  std::string name, target, sampler;
  SettingTexts settings;
  Index chains;
  Scope scope;
  std::int64_t num_warmup, num_samples;
  double bar_us = 0;  ///< of one chain-iteration, warm-up and sampling together
  SettingTexts sampler_settings = {};
};

template <class Real>
void time_row(const Row& row, double peak_flops, double entry_step, int repeats) {
  const Context context = cpu_context(1);
  auto target = make_target<Real>(context, row.target, row.settings);
  const Index n = target->info().dim;
  double best = 1e30, best_warmup = 1e30, best_samples = 1e30, acceptance = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    auto sampler = make_chains<Real>(context, row.sampler, row.sampler_settings, row.chains, target->info(), row.scope);
    Rounds<Real> rounds(context, *target, *sampler, row.chains);
    Options o;
    o.num_chains = row.chains;
    o.seed = static_cast<std::uint64_t>(repeat + 1);
    rounds.start(StartingPoints<Real>(o, n).of(0, row.chains));
    const std::atomic<bool> never{false};
    Segment<Real> segment;
    segment.seed = o.seed;
    segment.schedule.num_warmup = segment.until = row.num_warmup;
    segment.schedule.adapting = true;
    const bool pool = row.scope == Scope::pooled && find_sampler(row.sampler).adaptive;
    segment.scope = pool ? Scope::pooled : Scope::chain;
    segment.rate_decays = pool;
    const double begin = thread_seconds();
    rounds.run(segment, never);
    const double warm = thread_seconds();
    sampler->reset_counts();
    segment.phase_start = row.num_warmup;
    segment.until += row.num_samples;
    segment.schedule.adapting = segment.rate_decays = false;
    rounds.run(segment, never);
    const double end = thread_seconds();
    double sum = 0, count = 0;
    for (const auto& c : sampler->controls()) sum += c.acceptance_sum, count += static_cast<double>(c.counted);
    acceptance = sum / count;
    if (!(acceptance >= 0 && acceptance <= 1)) {
      std::fprintf(stderr, "bench_samplers: %s: acceptance %g. Is the sampler broken?\n", row.name.c_str(), acceptance);
      std::exit(1);
    }
    if (end - begin < best) best = end - begin, best_warmup = warm - begin, best_samples = end - warm;
  }
  const double iterations = static_cast<double>(row.num_warmup + row.num_samples) * row.chains,
               us = best / iterations * 1e6;
  // The target, and for a dense gad factor two passes an iteration, two more while adapting,
  // and one step of each entry (of one factor for all chains when they are pooled).
  const double share = static_cast<double>(row.num_warmup) / static_cast<double>(row.num_warmup + row.num_samples),
               nn = static_cast<double>(n) * n;
  const double factor = row.sampler.rfind("gad_", 0) == 0
                            ? (2 + 2 * share) * nn / peak_flops +
                                  share * nn / 2 * entry_step / (row.scope == Scope::pooled ? row.chains : 1)
                            : 0;
  const double floor_us = (target->info().flops / peak_flops + factor) * 1e6;
  std::printf(
      "{\"bench\": \"%s\", \"sampler\": \"%s\", \"real\": \"%s\", \"dim\": %d, \"chains\": %d, \"scope\": \"%s\", "
      "\"us_per_chain_iteration\": %.4f, "
      "\"us_warmup\": %.4f, \"us_sampling\": %.4f, \"seconds\": %.4f, \"floor_us\": %.4f, \"of_floor\": %.3f, "
      "\"acceptance\": %.3f",
      row.name.c_str(), row.sampler.c_str(), name_of(precision_of<Real>), n, row.chains, name_of(row.scope), us,
      best_warmup / (static_cast<double>(row.num_warmup) * row.chains) * 1e6,
      best_samples / (static_cast<double>(row.num_samples) * row.chains) * 1e6, best, floor_us, floor_us / us,
      acceptance);
  if (row.bar_us > 0)
    std::printf(", \"bar_us\": %.4f, \"within_bar\": %s", row.bar_us, us <= row.bar_us ? "true" : "false");
  std::printf("}\n");
  std::fflush(stdout);
}

/// Gradient evaluations a second of NUTS and of HMC with 10 steps, at the best of `repeats`:
/// the tree's bookkeeping may cost 30 % at most. floor_us: the target's multiply-adds.
void time_trajectories(const std::string& name, const SettingTexts& target_settings, double peak_flops, int repeats) {
  const Context context = cpu_context(1);
  const auto target = make_target<double>(context, "logistic_regression", target_settings);
  const Index n = target->info().dim, chains = 64;
  double us[2];
  const char* const names[] = {"hmc", "nuts"};
  for (int k = 0; k < 2; ++k) {
    us[k] = 1e30;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const auto sampler =
          make_chains<double>(context, names[k], {{"mass", "diagonal"}}, chains, target->info(), Scope::chain);
      Rounds<double> rounds(context, *target, *sampler, chains);
      Options o;
      o.num_chains = chains;
      o.seed = static_cast<std::uint64_t>(repeat + 1);
      rounds.start(StartingPoints<double>(o, n).of(0, chains));
      const std::atomic<bool> never{false};
      Segment<double> segment;
      segment.seed = o.seed;
      segment.schedule.num_warmup = segment.until = 500;
      segment.schedule.adapting = true;
      rounds.run(segment, never);
      sampler->reset_counts();
      segment.phase_start = 500;
      segment.until += 500;
      segment.schedule.adapting = false;
      const double begin = thread_seconds();
      rounds.run(segment, never);
      const double seconds = thread_seconds() - begin;
      double gradients = 0;
      for (const auto& c : sampler->controls()) gradients += static_cast<double>(c.gradients);
      us[k] = std::min(us[k], 1e6 * seconds / gradients);
    }
    const double floor_us = 1e6 * target->info().flops / peak_flops;
    std::printf(
        "{\"bench\": \"%s, gradients\", \"sampler\": \"%s\", \"real\": \"double\", \"dim\": %d, \"chains\": %d, "
        "\"gradients_per_second\": %.0f, \"us_per_gradient\": %.4f, \"floor_us\": %.4f, \"of_floor\": %.3f",
        name.c_str(), names[k], n, chains, 1e6 / us[k], us[k], floor_us, floor_us / us[k]);
    if (k == 1)
      std::printf(", \"times_hmc\": %.3f, \"within_bar\": %s", us[1] / us[0], us[1] <= 1.3 * us[0] ? "true" : "false");
    std::printf("}\n");
    std::fflush(stdout);
  }
}

int main_of(int argc, char** argv) {
  bool smoke = false;
  std::string data;
  CLI::App app{"times every sampler and the bars of the project, on one core"};
  app.add_flag("--smoke", smoke, "a few iterations of each, no bars");
  app.add_option("--data", data, "folder of the papers' data sets; without it those rows are left out, which is said");
  CLI11_PARSE(app, argc, argv);
  const double peak_float = bench::peak_flops<float>(0.05), peak_double = bench::peak_flops<double>(0.05);
  const double step_float = bench::root_and_division<float>(0.05), step_double = bench::root_and_division<double>(0.05);
  const int repeats = smoke ? 1 : 5;
  const std::int64_t few = smoke ? 50 : 2000;
  for (const auto& entry :
       samplers_of(Family::density))  // every sampler on Neal's 100-D Gaussian, 8 chains, each adapting alone
    time_row<double>({"neal", "gaussian", entry.name, {{"preset", "neal_gaussian"}}, 8, Scope::chain, few, few},
                     peak_double, step_double, repeats);
  if (smoke) return 0;
  const SettingTexts neal{{"preset", "neal_gaussian"}}, paper{{"optimizer", "rmsprop"}};
  time_row<double>({"neal, one chain, 40 000 iterations", "gaussian", "gad_mala_fast", neal, 1, Scope::chain, 20000,
                    20000, 0.145 / 40000 * 1e6, paper},
                   peak_double, step_double, repeats);
  time_row<float>({"neal, one chain, 40 000 iterations", "gaussian", "gad_mala_fast", neal, 1, Scope::chain, 20000,
                   20000, 0.10 / 40000 * 1e6, paper},
                  peak_float, step_float, repeats);
  if (data.empty()) {
    std::printf("{\"left_out\": \"German credit, Caravan, MNIST: give --data FOLDER\"}\n");
    return 0;
  }
  const std::string csv = data + "/german.csv", images = data + "/mnist56-images-idx3-ubyte.gz",
                    labels = data + "/mnist56-labels-idx1-ubyte.gz";
  time_row<float>(
      {"german, 64 chains", "logistic_regression", "gad_mala_fast", {{"data", csv}}, 64, Scope::pooled, 500, 2000, 2.0},
      peak_float, step_float, repeats);
  time_row<double>(
      {"german, 64 chains", "logistic_regression", "gad_mala_fast", {{"data", csv}}, 64, Scope::pooled, 500, 2000},
      peak_double, step_double, repeats);
  time_trajectories("german, 64 chains", {{"data", csv}}, peak_double, repeats);
  time_row<float>({"caravan, 64 chains",
                   "logistic_regression",
                   "gad_mala_fast",
                   {{"data", data + "/caravan.csv"}},
                   64,
                   Scope::pooled,
                   50,
                   200},
                  peak_float, step_float, repeats);
  time_row<float>({"mnist, 64 chains",
                   "logistic_regression",
                   "gad_mala_fast",
                   {{"images", images}, {"labels", labels}, {"digits", "5,6"}},
                   64,
                   Scope::pooled,
                   10,
                   40,
                   400},
                  peak_float, step_float, 2);
  return 0;
}

}  // namespace
}  // namespace kilochain

int main(int argc, char** argv) { return kilochain::main_of(argc, argv); }
