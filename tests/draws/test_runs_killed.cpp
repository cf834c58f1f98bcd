// Whole runs that are killed over and over, before a write of the test's choice or after a random time, and resumed:
// every file that is left can be read, and at the end it has the bits of a run that was never killed. A run is made in
// pieces, each of which resumes the one before, so that states are saved in the middle. KILOCHAIN_KILLS: how many (60).
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "host/run/run_state.hpp"
#include "kilochain/run.hpp"
#include "tests/draws/killed_support.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"
#include "tests/support/stopping.hpp"

namespace kilochain {
namespace {

using namespace draws_support;
using testing_support::run_quietly;

constexpr std::int64_t pieces[] = {30, 60, 90};

testing_support::Stopping target;

Options options(const std::string& sampler) {
  Options o;
  o.target = "gaussian", o.target_settings = {{"preset", "gauss2d_corr"}};
  o.sampler = sampler;
  o.num_chains = 5, o.num_warmup = 60, o.num_samples = pieces[2];
  o.seed = 11, o.threads = 1, o.device = "cpu";
  return o;
}

struct Kind {
  const char* name;
  Options o;
};
std::vector<Kind> kinds() {
  std::vector<Kind> all = {{"chain", options("rwm")},
                           {"pooled, thinned", options("gad_mala_fast")},
                           {"divergences, float", options("nuts")},
                           {"warm-up kept", options("hmc")},
                           {"spins", options("gibbs")},
                           {"batches", options("barker")},
                           {"automatic warm-up, stopped in it", options("ensemble_hmc")}};
  all[0].o.adapt_scope = Scope::chain;
  all[1].o.thin = 3;
  all[2].o.target = "funnel", all[2].o.target_settings = {{"dim", "6"}, {"scale", "6"}};
  all[2].o.real = Precision::single_precision;
  all[3].o.save_warmup = true;
  all[4].o.target = "ising", all[4].o.target_settings = {{"size", "4x4"}};
  all[5].o.num_chains = 6, all[5].o.chain_batch_size = 2;
  all[6].o.target = "mine", all[6].o.target_settings = {}, all[6].o.num_warmup = {}, all[6].o.num_chains = 8;
  return all;
}

/// To the end, piece by piece, from what is there.
void go_on(Options o) {
  const std::atomic<bool> never{false};
  for (const std::int64_t n : pieces) {
    o.resume = std::filesystem::exists(o.output) ? read_run_state(o.output) : nullptr;
    o.overwrite = !o.resume;  // nothing was drawn
    if (o.resume && o.resume->iterations >= n) continue;
    target.calls = 0, target.at = n == pieces[0] && !o.resume ? 700 : -1, target.stop = false;
    o.num_samples = n;
    if (run(o, nullptr, target.stop).interrupted) {
      o.resume = read_run_state(o.output), target.at = -1, target.stop = false, o.overwrite = false;
      ASSERT_TRUE(o.resume);
      run(o, nullptr, never);
    }
  }
}

std::string bits_of(const std::string& path) {
  const DrawsReader reader(path);
  std::string all;
  const auto add = [&](const auto& values) {
    all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  };
  std::vector<double> x;
  reader.read_parameters(0, std::ssize(reader.header().names), x);
  add(x), add(reader.lp());
  for (const std::string& stat : reader.header().stats) add(reader.stat(stat));
  for (const auto& d : reader.divergences()) add(d.point);
  return all;
}

TEST(KilledRuns, AreReadAndResumedWithTheSameBits) {
  const testing_support::ScratchFiles files;
  const char* const asked = std::getenv("KILOCHAIN_KILLS");
  const std::int64_t wanted = asked ? std::atoll(asked) : 60;
  std::mt19937_64 random(5);
  std::printf("seed 5\n");
  std::vector<Kind> all = kinds();
  std::vector<std::int64_t> microseconds;
  for (Kind& kind : all) {
    kind.o.output = files.path(std::string(kind.name) + ".nc");
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(in_child({}, [&] { run_quietly(kind.o); }), 0) << kind.name;
    microseconds.push_back(
        1 +
        2 * std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count());
  }
  std::int64_t kills = 0, lives = 0, resumed = 0, writes = 20;
  for (; kills < wanted; ++lives) {
    const std::size_t k = lives % all.size();
    SCOPED_TRACE(all[k].name);
    Options o = all[k].o;
    o.output = files.path("killed.nc");
    std::filesystem::remove(o.output);
    int status = 77;
    for (int attempt = 0; status == 77; ++attempt) {
      Kill kill;  // the fifth time it may come to its end
      if (attempt < 4 && random() % 2 == 0)
        kill.write = static_cast<std::int64_t>(random() % writes);
      else if (attempt < 4)
        kill.microseconds = 1 + static_cast<std::int64_t>(random() % microseconds[k]);
      status = in_child(kill, [&] { go_on(o); });
      ASSERT_TRUE(status == 0 || status == 77) << "kill " << kills << ": " << status;
      kills += status == 77;
      if (status == 0 && kill.write >= 0) writes = std::max<std::int64_t>(20, kill.write);
      if (status == 77 && kill.write >= 0) writes = std::max(writes, 2 * kill.write);
      if (!std::filesystem::exists(o.output)) continue;
      const DrawsReader reader(o.output);  // or it throws
      resumed += status == 77 && reader.draws_written() > 0;
      ASSERT_FALSE(std::filesystem::exists(o.output + ".journal"));
    }
    ASSERT_TRUE(bits_of(o.output) == bits_of(all[k].o.output)) << "after kill " << kills;
  }
  std::printf("%lld kills of %lld runs, %lld with draws: every file was read, every run has the bits of a whole one\n",
              static_cast<long long>(kills), static_cast<long long>(lives), static_cast<long long>(resumed));
  EXPECT_GT(resumed, kills / 10);
}

}  // namespace
}  // namespace kilochain
