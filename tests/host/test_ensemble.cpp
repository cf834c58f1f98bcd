// The default's warm-up as a whole: its lengths, how many chains it takes, and runs from hard starts.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "host/draws/draws_file.hpp"
#include "host/registry/own_target.hpp"
#include "host/registry/registry.hpp"
#include "host/run/choose_chains.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "kernels/samplers/ensemble_hmc.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::ScratchFiles;

TEST(EnsembleHmc, LengthsAreSpreadEvenlyAboutTheirMean) {
  for (const double mean : {1.0, 2.0, 3.0, 8.0, 50.0}) {
    const int count = 1 << 14;
    double sum = 0;
    for (std::int64_t t = 0; t < count; ++t) {
      const int n = LearntLength::number(mean, t);
      EXPECT_GE(n, 1);
      EXPECT_LE(n, 2 * mean - 1);
      sum += n;
    }
    EXPECT_NEAR(sum / count, mean, 0.01 * mean);
  }
}

Options with_nothing_said(const char* target, SettingTexts settings) {
  Options o;
  o.target = target;
  o.target_settings = std::move(settings);
  o.num_chains = 64;
  o.seed = 3;
  o.device = "cpu";
  return o;
}

Result run_quietly(const Options& o) {
  const std::atomic<bool> never{false};
  Result r = run(o, nullptr, never);
  std::printf("seed %llu: %s; %lld samples\n", static_cast<unsigned long long>(o.seed), r.summary.warmup_note.c_str(),
              static_cast<long long>(r.summary.num_samples));
  return r;
}

/// Means within 4.5 standard errors: a false alarm in 25 000 runs of 5 parameters.
void expect_right(const Result& r, const std::vector<double>& means) {
  EXPECT_TRUE(verdict_of(r.summary).converged) << verdict_of(r.summary).reason;
  ASSERT_GE(r.summary.parameters.size(), means.size());
  for (std::size_t i = 0; i < means.size(); ++i)
    EXPECT_LT(std::abs(r.summary.parameters[i].mean - means[i]), 4.5 * r.summary.parameters[i].mcse_mean) << i;
}

TEST(EnsembleWarmUp, IsRightWithNothingSaid) {
  expect_right(run_quietly(with_nothing_said("gaussian_mixture", {{"dim", "5"}, {"means", "0"}})), {0, 0, 0, 0, 0});
  expect_right(run_quietly(with_nothing_said("gaussian_mixture", {{"dim", "1"}, {"means", "3"}, {"sds", "2"}})), {3});
  const Result r = run_quietly(with_nothing_said("gaussian", {{"preset", "gauss2d_corr"}}));
  expect_right(r, {0, 0});
  EXPECT_NE(r.summary.warmup_note.find("proposals of the learnt normal"), std::string::npos) << r.summary.warmup_note;
}

// They used to begin at iteration 0, and made all iterations again that they had made.
TEST(EnsembleWarmUp, ChainsThatStartAgainGoOnFromTheirIteration) {
  const Context context = cpu_context(1);
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "2"}, {"means", "0"}});
  Reporter silent;
  const std::atomic<bool> stop{false};
  Ensemble<double> chains(context, *target, {"ensemble_hmc", {}, 4, 2, Scope::pooled, 3}, silent, stop);
  chains.start([](Index, Index count) { return std::vector<double>(std::size_t(2 * count), 0.5); });
  const Segment<double> segment = chains.adapting(100);
  chains.run(segment, 0, 5);
  chains.take_gradients();
  chains.start_again([](std::vector<double>& x) { x[0] = 1; }, nullptr, 5);
  EXPECT_EQ(chains.positions()[0], 1);
  chains.run(segment, 5, 8);
  for (const ChainControl& c : chains.controls()) {
    EXPECT_EQ(c.iteration, 8);
    EXPECT_EQ(c.counted, 3);
  }
}

TEST(EnsembleWarmUp, SaysWhatNoMetricMends) {
  const auto says = [](const Result& r) {
    return std::any_of(r.notes.begin(), r.notes.end(), [](const std::string& note) {
      return note.starts_with("no linear metric fits 1 of 1 coordinates (x[0])");
    });
  };
  Options two_modes = with_nothing_said("gaussian_mixture", {{"dim", "1"}, {"means", "-10;11"}});
  two_modes.num_warmup = 300;  // an audit would lay them over each other
  EXPECT_TRUE(says(run_quietly(two_modes)));
  EXPECT_FALSE(says(run_quietly(with_nothing_said("gaussian_mixture", {{"dim", "1"}, {"means", "3"}}))));
}

TEST(EnsembleWarmUp, ArrivesFromAHundredThousandStandardDeviations) {
  expect_right(run_quietly(with_nothing_said("gaussian_mixture", {{"dim", "3"}, {"means", "5"}, {"sds", "5e-5"}})),
               {5, 0, 0});
}

// A place of 1e-6 in each coordinate, with 1e-9 of the mass and a density 1e21 times as high: who begins there stays.
TEST(EnsembleWarmUp, ChainsThatBeginInANarrowPlaceAreRelocated) {
  const ScratchFiles files;
  std::string starts;
  for (int chain = 0; chain < 64; ++chain)
    starts += chain % 16 == 7 ? "1,0,0,0,0\n" : std::to_string(chain % 3 - 1) + ",1,-1,0,1\n";
  Options o = with_nothing_said("gaussian_mixture",
                                {{"dim", "5"}, {"means", "0; 1"}, {"weights", "1,1e-9"}, {"sds", "1,1e-6"}});
  o.init = "file:" + files.write("starts.csv", starts);
  const Result r = run_quietly(o);
  expect_right(r, {0, 0, 0, 0, 0});
  EXPECT_NE(r.summary.warmup_note.find("were relocated to others' places"), std::string::npos);
  Options many = o;  // more than are looked at together
  many.num_chains = 1024;
  for (int k = 0; k < 4; ++k) starts += starts;
  many.init = "file:" + files.write("many.csv", starts);
  const Result of_many = run_quietly(many);
  expect_right(of_many, {0, 0, 0, 0, 0});
  EXPECT_NE(of_many.summary.warmup_note.find("64 chains stood"), std::string::npos);
  // A mode 20 below is not left behind by scouts, and chains do not come out of it.
  Options low = o;
  low.target_settings = {{"dim", "5"}, {"means", "0; 40"}, {"weights", "1,2e-9"}};
  low.init = "file:" + files.write("low.csv", [] {
    std::string at;
    for (int chain = 0; chain < 64; ++chain) at += chain % 16 == 7 ? "40,0,1,-1,0\n" : "0,1,-1,0,1\n";
    return at;
  }());
  expect_right(run_quietly(low), {0, 0, 0, 0, 0});
  // One with so little of the mass that no mode ten times as wide would matter is left by climbs.
  o.target_settings["weights"] = "1,1e-20";
  const Result left = run_quietly(o);
  expect_right(left, {0, 0, 0, 0, 0});
  EXPECT_NE(left.summary.warmup_note.find("climb 7 ended"), std::string::npos) << left.summary.warmup_note;
  // Where the narrow place has half of the mass, the others are wrong: it is not converged.
  o.target_settings["weights"] = "1,1";
  EXPECT_FALSE(verdict_of(run_quietly(o).summary).converged);
}

// Climbs; and scouts, where one of them stands in a narrow place that is not far below, so that no normal law fits.
TEST(EnsembleWarmUp, ScoutsFarBelowAreNamedWhereverTheyWentOn) {
  const ScratchFiles files;
  const auto starts = [&](const char* name, const char* fifth) {
    std::string at;
    for (int chain = 0; chain < 64; ++chain)
      at += chain % 16 == 3 || chain % 16 == 7 ? "100,0,0,0,0\n" : chain % 16 == 5 ? fifth : "0,1,-1,0,1\n";
    return "file:" + files.write(name, at);
  };
  for (const std::uint64_t seed : {1, 3}) {
    Options o = with_nothing_said("gaussian_mixture",
                                  {{"dim", "5"}, {"means", "0; 100"}, {"weights", "1,1e-300"}, {"sds", "1,1e-6"}});
    o.init = starts("one.csv", "0,1,-1,0,1\n");
    o.seed = seed;
    const Result one = run_quietly(o);
    expect_right(one, {0, 0, 0, 0, 0});
    EXPECT_NE(one.summary.warmup_note.find("climbs 3, 7 ended 62"), std::string::npos) << one.summary.warmup_note;
    o.target_settings["means"] = "0; 1; 100", o.target_settings["weights"] = "1,1e-9,1e-300";
    o.target_settings["sds"] = "1,1e-6,1e-6";
    o.init = starts("two.csv", "1,0,0,0,0\n");
    const Result two = run_quietly(o);
    expect_right(two, {0, 0, 0, 0, 0});
    EXPECT_NE(two.summary.warmup_note.find("scouts 3, 7 ended 62"), std::string::npos) << two.summary.warmup_note;
  }
}

TEST(EnsembleWarmUp, ServesFewChainsAndMany) {
  for (const std::int64_t chains : {4, 300}) {
    Options o = with_nothing_said("gaussian", {{"preset", "gauss2d_corr"}});
    o.num_chains = chains;
    expect_right(run_quietly(o), {0, 0});
  }
}

TEST(EnsembleWarmUp, HasTheLengthThatIsAskedFor) {
  for (const std::int64_t warmup : {0, 1, 40, 100, 333}) {
    const ScratchFiles files;
    Options o = with_nothing_said("gaussian", {{"preset", "gauss2d_corr"}});
    o.num_warmup = warmup, o.num_samples = 50;
    o.save_warmup = true, o.output = files.path("draws.nc");
    EXPECT_EQ(run_quietly(o).summary.num_warmup, warmup);
  }
}

TEST(EnsembleWarmUp, ChoosesTheNumberOfChainsAndSaysWhy) {
  Options o = with_nothing_said("gaussian", {{"preset", "gauss2d_corr"}});
  o.num_chains = 0;
  const Result r = run_quietly(o);
  EXPECT_GE(r.summary.num_chains, 16);
  EXPECT_LE(r.summary.num_chains, 64);
  ASSERT_FALSE(r.notes.empty());
  // Of a gradient, or of an iteration where the machine was busy.
  EXPECT_NE(r.notes[0].find(" chains, because a"), std::string::npos) << r.notes[0];
}

// A round of 2 048 chains: 8e7 operations, and 8e9.
TEST(EnsembleWarmUp, TakesFewerChainsWhereTheyKeepADeviceBusy) {
  const auto on_a_device = [](const SettingTexts& settings) {
    const Options o = with_nothing_said("gaussian", settings);
    const auto target = make_target<double>(cpu_context(1), "gaussian", settings);
    Context device = cpu_context(1);
    device.backend = Backend::cuda;
    return choose_chains(o, device, *target);
  };
  EXPECT_EQ(on_a_device({{"preset", "neal_gaussian"}}).why, "2048 chains, on a device");
  const ScratchFiles files;
  std::ofstream table(files.path("wide.csv"));
  for (int i = 0; i < 1000; ++i)
    for (int j = 0; j < 1000; ++j) table << (i == j) << (j < 999 ? "," : "\n");
  table.close();
  EXPECT_EQ(on_a_device({{"covariance", files.path("wide.csv")}}).num_chains, 512);
}

TEST(EnsembleWarmUp, TakesFewerChainsWhereIterationsTakeLong) {
  EXPECT_EQ(fewer_chains(64, 1e-6).num_chains, 64);
  EXPECT_EQ(fewer_chains(64, 1e-4).num_chains, 32);
  EXPECT_EQ(fewer_chains(64, 1e-2).num_chains, 16);
  EXPECT_EQ(fewer_chains(16, 1e-4).num_chains, 16);
  EXPECT_EQ(fewer_chains(64, 1e-2).why, "16 chains, because an iteration of one takes 0.01 s");
}

/// x[i] ~ N(i, 1), each gradient of which takes 0.1 ms.
struct SlowGaussian {
  static constexpr const char* meaning = "a Gaussian that takes its time";
  struct Data {};
  static int dim(const Data&) { return 3; }
  static double log_density_and_gradient(const Data&, const double* x, double* gradient) {
    const auto begin = std::chrono::steady_clock::now();
    while (seconds_since(begin) < 1e-4) {
    }
    double lp = 0;
    for (int i = 0; i < 3; ++i) gradient[i] = i - x[i], lp -= gradient[i] * gradient[i] / 2;
    return lp;
  }
};

TEST(EnsembleWarmUp, ARunOfFewerChainsIsOneOfSoManyFromTheBeginning) {
  const ScratchFiles files;
  const auto slow = OwnTarget::of<SlowGaussian>("slow_gaussian", [](Loader&) { return SlowGaussian::Data{}; });
  Options o = with_nothing_said("slow_gaussian", {});
  o.num_chains = 0, o.output = files.path("draws.nc"), o.keep_draws = true, o.target_ess = 2000;
  const Result r = run_quietly(o);
  const std::int64_t chains = r.summary.num_chains;
  EXPECT_LT(chains, 64);
  ASSERT_FALSE(r.notes.empty());
  EXPECT_NE(r.notes[0].find(std::to_string(chains) + " chains, because "), std::string::npos) << r.notes[0];
  for (std::size_t k = 1; k < r.notes.size(); ++k) EXPECT_EQ(r.notes[k].find(" chains, because "), std::string::npos);
  EXPECT_EQ(std::ssize(r.draws), chains * r.draws_written * 3);
  EXPECT_EQ(DrawsReader(o.output).header().num_chains, chains);
  expect_right(r, {0, 1, 2});
  // With that number given, all draws are the same: the scouts that were sent once are those of such a run.
  Options given = o;
  given.num_chains = chains, given.output.clear();
  EXPECT_EQ(run_quietly(given).draws, r.draws);
  o.num_chains = chains, o.resume = read_run_state(o.output), o.num_samples = r.draws_written + 10;
  EXPECT_EQ(run_quietly(o).draws_written, r.draws_written + 10);
}

TEST(EnsembleWarmUp, TakesNoFewerWhereAllAreOneCall) {
  FunctionDensity f;
  f.dim = 3;
  f.chains = [](std::size_t chains, std::size_t n, const double* x, std::size_t row, double* gradient, double* lp,
                void*) {
    const auto begin = std::chrono::steady_clock::now();
    while (seconds_since(begin) < 5e-4) {
    }
    for (std::size_t k = 0; k < chains; ++k) {
      lp[k] = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double v = x[k * row + i];
        gradient[k * row + i] = -v, lp[k] -= v * v / 2;
      }
    }
    return 0;
  };
  const OwnTarget slow("slow_call", f);
  Options o = with_nothing_said("slow_call", {});
  o.num_chains = 0, o.target_ess = 2000;
  const Result r = run_quietly(o);
  ASSERT_FALSE(r.notes.empty());
  // Of a gradient, or of an iteration where the machine was busy.
  EXPECT_NE(r.notes[0].find(" chains, because a"), std::string::npos) << r.notes[0];
  expect_right(r, {0, 0, 0});
}

TEST(EnsembleWarmUp, LearnsFromAllChainsOrNot) {
  Options o = with_nothing_said("gaussian", {{"preset", "gauss2d_corr"}});
  o.adapt_scope = Scope::chain;
  EXPECT_THROW(check(o), Error);
}

}  // namespace
}  // namespace kilochain
