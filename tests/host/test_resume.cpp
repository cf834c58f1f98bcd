// Runs that are resumed: the same bits as runs that were never interrupted, by every way in which a run can end.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "base/error.hpp"
#include "host/draws/draws_file.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;
using testing_support::ScratchFiles;

Options options(const std::string& output, std::int64_t num_samples) {
  Options o;
  o.sampler = "gad_mala_fast";
  o.target = "gaussian";
  o.target_settings["preset"] = "gauss2d_corr";
  o.num_chains = 6;
  o.num_warmup = 120;
  o.num_samples = num_samples;
  o.seed = 11;
  o.device = "cpu";
  o.output = output;
  return o;
}

Result resume(Options o, std::int64_t num_samples) {
  o.resume = read_run_state(o.output);
  o.num_samples = num_samples;
  return run_quietly(o);
}

/// Of resuming a run.
std::string message_of(Options o, ExitStatus status) {
  try {
    o.resume = read_run_state(o.output);
    run_quietly(o);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  return "";
}

/// Everything that a file says of the draws, bit by bit; statistics may be NaN.
void expect_same_draws(const std::string& one, const std::string& other) {
  const DrawsReader a(one), b(other);
  ASSERT_EQ(a.draws_written(), b.draws_written());
  const auto bits = [](const auto& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  };
  std::vector<double> x, y;
  const std::int64_t dim = std::ssize(a.header().names);
  a.read_parameters(0, dim, x), b.read_parameters(0, dim, y);
  EXPECT_TRUE(bits(x) == bits(y));
  EXPECT_TRUE(bits(a.lp()) == bits(b.lp()));
  EXPECT_TRUE(bits(a.stat("acceptance_rate")) == bits(b.stat("acceptance_rate")));
  for (const std::string& stat : a.header().stats) EXPECT_TRUE(bits(a.stat(stat)) == bits(b.stat(stat))) << stat;
  EXPECT_EQ(a.num_diverging(), b.num_diverging());
  EXPECT_EQ(a.quarantined(), b.quarantined());
  const auto d = a.divergences(), e = b.divergences();
  ASSERT_EQ(d.size(), e.size());
  for (std::size_t k = 0; k < d.size(); ++k) {
    EXPECT_EQ(d[k].chain, e[k].chain);
    EXPECT_EQ(d[k].draw, e[k].draw);
    EXPECT_TRUE(bits(d[k].point) == bits(e[k].point));
  }
}

/// Draws 40 iterations and then up to 90, beside 90 at once; the results are those of the last.
void expect_resumed_is_whole(const Options& like) {
  const ScratchFiles files;
  Options whole = like, part = like;
  whole.output = files.path("whole.nc"), part.output = files.path("part.nc");
  whole.num_samples = 90, part.num_samples = 40;
  const Result all = run_quietly(whole);
  EXPECT_TRUE(run_quietly(part).resumable);
  const Result rest = resume(part, 90);
  expect_same_draws(whole.output, part.output);
  EXPECT_EQ(rest.draws_written, all.draws_written);
  EXPECT_EQ(rest.summary.num_warmup, all.summary.num_warmup);
  EXPECT_EQ(rest.summary.num_samples, all.summary.num_samples);
  EXPECT_EQ(rest.summary.gradient_evaluations, all.summary.gradient_evaluations);
  EXPECT_EQ(rest.summary.divergences, all.summary.divergences);
  EXPECT_EQ(rest.summary.acceptance_q05, all.summary.acceptance_q05);
  ASSERT_EQ(rest.summary.parameters.size(), all.summary.parameters.size());
  for (std::size_t k = 0; k < all.summary.parameters.size(); ++k)
    for (const SummaryColumn& column : summary_columns) {
      const double a = all.summary.parameters[k].*column.figure, b = rest.summary.parameters[k].*column.figure;
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << column.name << ": " << a << ", " << b;
    }
  const RunSummary again = summarise_file(part.output);
  EXPECT_EQ(again.num_samples, all.summary.num_samples);
  EXPECT_EQ(again.gradient_evaluations, all.summary.gradient_evaluations);
}

class Resumed : public testing::TestWithParam<const char*> {};

TEST_P(Resumed, HasTheBitsOfAWholeRun) {
  for (const Scope scope : {Scope::chain, Scope::pooled})
    for (const Precision real : {Precision::double_precision, Precision::single_precision})
      for (const std::int64_t thin : {1, 3}) {  // 40 is no multiple of 3
        SCOPED_TRACE(std::string(name_of(scope)) + ", " + name_of(real) + ", thin " + std::to_string(thin));
        Options o = options("", 0);
        o.sampler = GetParam(), o.adapt_scope = scope, o.real = real, o.thin = thin;
        expect_resumed_is_whole(o);
      }
}

INSTANTIATE_TEST_SUITE_P(Samplers, Resumed,
                         testing::Values("gad_mala_fast", "gad_mala_exact", "gad_rwm", "adaptive_metropolis", "rwm",
                                         "mala", "hmc", "nuts", "barker", "cma", "adaptive_proposal",
                                         "adaptive_metropolis_haario", "gaussian_adaptation"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Resume, BatchesGoOn) {
  Options o = options("", 0);
  o.num_chains = 12, o.chain_batch_size = 4;
  expect_resumed_is_whole(o);
}

TEST(Resume, SpinModelsGoOn) {
  const std::pair<const char*, const char*> cases[] = {
      {"gibbs", ""}, {"dmala", ""}, {"tempering", "32"}, {"intracluster", "32"}, {"gibbs_with_gradients", "32"}};
  for (const auto& [sampler, hamming] : cases) {
    SCOPED_TRACE(sampler);
    Options o = options("", 0);
    o.target = "ising", o.target_settings = {{"size", "8x8"}};
    if (*hamming) o.target_settings["hamming"] = hamming;
    o.sampler = sampler;
    expect_resumed_is_whole(o);
  }
}

TEST(Resume, DivergencesAndWhereTheyWereAreThereOnce) {
  Options o = options("", 0);
  o.target = "funnel", o.target_settings = {{"dim", "10"}, {"scale", "6"}};
  o.sampler = "nuts", o.sampler_settings["target_accept"] = "0.5";
  expect_resumed_is_whole(o);
}

TEST(Resume, QuarantinedChainsStayOut) {
  const ScratchFiles files;
  const std::string points = files.path("points.csv");
  std::ofstream out(points);
  for (int c = 0; c < 6; ++c) out << (c == 2 ? "1e300,1e300\n" : "0.5,0.25\n");
  out.close();
  Options o = options("", 0);
  o.init = "file:" + points;
  expect_resumed_is_whole(o);
}

TEST(Resume, AnInterruptedRunGoesOnWhereItStopped) {
  const ScratchFiles files;
  Options o = options(files.path("stopped.nc"), 7000000), whole = options(files.path("whole.nc"), 0);
  o.thin = whole.thin = 7;
  std::atomic<bool> stop{false};
  const Result r = run(
      o, [&](const Progress& p) { stop = p.phase == "sampling" && p.done >= 200; }, stop);
  const std::int64_t made = r.summary.num_samples;
  std::printf("seed 11: interrupted after %lld iterations\n", static_cast<long long>(made));
  EXPECT_TRUE(r.interrupted);
  EXPECT_TRUE(r.resumable);
  whole.num_samples = made + 500;
  EXPECT_FALSE(resume(o, made + 500).interrupted);
  run_quietly(whole);
  expect_same_draws(o.output, whole.output);
  o.num_samples = {};  // as many as the run was to make: now those
  EXPECT_NE(message_of(o, ExitStatus::usage).find("nothing is left to draw"), std::string::npos);
}

/// What is in the file is where the run stood at its last checkpoint: draws behind that are made again, the same.
TEST(Resume, FromBeforeTheLastDraw) {
  const ScratchFiles files;
  Options early = options(files.path("early.nc"), 40), late = options(files.path("late.nc"), 70),
          whole = options(files.path("whole.nc"), 90);
  for (const Options* o : {&early, &late, &whole}) run_quietly(*o);
  const auto state = DrawsReader(early.output).state();
  ASSERT_FALSE(state.empty());
  {
    DrawsWriter writer(late.output, 70);
    EXPECT_TRUE(writer.save_state(state));
    writer.finish();
  }
  resume(late, 90);
  expect_same_draws(late.output, whole.output);
}

TEST(Resume, AutomaticRunsAndRunsThatWereResumedGoOn) {
  const ScratchFiles files;
  Options o = options(files.path("draws.nc"), 0);
  o.num_warmup = {}, o.num_samples = {};
  const Result first = run_quietly(o);
  const std::int64_t made = first.summary.num_samples;
  for (const std::int64_t more : {made + 50, made + 100}) {
    const Result r = resume(o, more);
    EXPECT_EQ(r.summary.num_samples, more);
    EXPECT_EQ(r.summary.warmup_converged, true);
    EXPECT_EQ(r.summary.warmup_note, first.summary.warmup_note);
    EXPECT_EQ(DrawsReader(o.output).draws_written(), more);
  }
}

/// Once draws are there the run waits until its time is over, so that no speed decides what is seen.
TEST(Resume, TheTimeOfARunIsLimited) {
  const ScratchFiles files;
  Options o = options(files.path("draws.nc"), std::int64_t(1) << 30);
  o.thin = 1000, o.max_seconds = 8;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(o.max_seconds) + std::chrono::milliseconds(500);
  const std::atomic<bool> never{false};
  const Result r = run(
      o,
      [&](const Progress& p) {
        if (p.phase == "sampling" && p.done >= o.thin) std::this_thread::sleep_until(end);
      },
      never);
  EXPECT_TRUE(r.interrupted);
  EXPECT_TRUE(r.out_of_time);
  EXPECT_TRUE(r.resumable);
  EXPECT_GT(r.draws_written, 0);
  o.max_seconds = 0;
  EXPECT_EQ(resume(o, r.summary.num_samples + 2000).draws_written, r.summary.num_samples / 1000 + 2);
}

/// One number of what was read differs: the log density where the chain stands may well be the same.
TEST(Resume, OtherDataAreRefused) {
  const ScratchFiles files;
  struct Case {
    const char *target, *setting, *sampler, *before, *after;
  };
  for (const Case& c : {Case{"logistic_regression", "data", "rwm", "a,b,y\n1,2,0\n2,1,1\n3,5,0\n4,4,1\n",
                             "a,b,y\n1,2,0\n2,1,1\n3,5,0\n4,4.001,1\n"},
                        Case{"spin_glass", "couplings", "gibbs", "i,j,J\n0,1,1\n1,2,-1\n", "i,j,J\n0,1,-50\n1,2,50\n"},
                        Case{"rbm", "weights", "gibbs", "0.5,-1,2\n1,0.25,0\n", "-3.5,7,-14\n-7,-1.75,0\n"},
                        Case{"ising", "policy", "intracluster", "gamma,walk\n0.5,2\n", "gamma,walk\n0.5,3\n"}}) {
    SCOPED_TRACE(c.target);
    const std::string data = files.write("data.csv", c.before);
    Options o = options(files.path("draws.nc"), 20);
    o.overwrite = true;
    o.target = c.target, o.target_settings = {}, o.sampler = c.sampler;
    (c.setting == std::string("policy") ? o.sampler_settings : o.target_settings)[c.setting] = data;
    if (c.target == std::string("ising")) o.target_settings = {{"size", "4x4"}, {"hamming", "8"}};
    run_quietly(o);
    o.num_samples = 40;
    files.write("data.csv", c.after);
    const std::string said = message_of(o, ExitStatus::data);
    EXPECT_EQ(said.find(o.output + ": the target is not the one that the draws are of (" + data + " "), 0u) << said;
    EXPECT_NE(said.find(" was read, and " + data + " "), std::string::npos) << said;
    files.write("data.csv", c.before);
    EXPECT_EQ(resume(o, 40).draws_written, 40);
  }
}

TEST(Resume, SaysWhyARunCannotGoOn) {
  const ScratchFiles files;
  Options o = options(files.path("draws.nc"), 40);
  run_quietly(o);
  EXPECT_NE(message_of(o, ExitStatus::usage)
                .find("nothing is left to draw (40 iterations of each chain are wanted in "
                      "all, 40 are there). Ask for more in all, such as --num-samples 80?"),
            std::string::npos);
  o.num_samples = 90;
  Options moved = o, renamed = o, other = o;
  std::ofstream(files.path("covariance.csv")) << "2,0.1\n0.1,1\n";
  moved.target_settings = {{"covariance", files.path("covariance.csv")}};
  renamed.target = "banana", renamed.target_settings.clear();
  other.sampler = "hmc";
  for (const Options& changed : {moved, renamed})
    EXPECT_NE(message_of(changed, ExitStatus::data).find("the target is not the one that the draws are of"),
              std::string::npos);
  EXPECT_NE(message_of(other, ExitStatus::data).find("the checkpoint does not fit these chains"), std::string::npos);
  EXPECT_EQ(DrawsReader(o.output).draws_written(), 40);

  Options large = options(files.path("large.nc"), 1);  // a factor for each chain, one draw
  large.target_settings = {{"preset", "neal_gaussian"}};
  large.num_chains = 40, large.adapt_scope = Scope::chain;
  EXPECT_FALSE(run_quietly(large).resumable);
  EXPECT_NE(message_of(large, ExitStatus::usage)
                .find("the run cannot be resumed (the state of its chains is not in the file"),
            std::string::npos);

  Options moments = options(files.path("moments.nc"), 40);
  moments.draws = KeptDraws::moments;
  EXPECT_FALSE(run_quietly(moments).resumable);
  EXPECT_NE(message_of(moments, ExitStatus::usage).find("the run cannot be resumed (it kept moments only)"),
            std::string::npos);
}

}  // namespace
}  // namespace kilochain
