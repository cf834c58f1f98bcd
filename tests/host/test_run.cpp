// Whole runs in memory: automatic lengths, thinning, threads, interruption, quarantine, and moments in place of draws.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "host/draws/draws_file.hpp"
#include "host/run/run.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;
using testing_support::ScratchFiles;

using Length = std::optional<std::int64_t>;

Options gaussian(std::int64_t chains, Length warmup, Length samples) {
  Options o;
  o.sampler = "gad_mala_fast";  // the default has tests of its own (test_ensemble.cpp)
  o.target = "gaussian";
  o.target_settings["preset"] = "gauss2d_corr";
  o.num_chains = chains;
  o.num_warmup = warmup;
  o.num_samples = samples;
  o.seed = 5;
  o.device = "cpu";
  return o;
}

std::vector<double> draws_of(const Options& o) {
  std::vector<double> all;
  const DrawsReader reader(o.output);
  reader.read_parameters(0, static_cast<std::int64_t>(reader.header().names.size()), all);
  return all;
}

TEST(Run, AutomaticLengthsEndConverged) {
  Options o = gaussian(32, {}, {});
  const Result r = run_quietly(o);
  std::printf("seed 5: warm-up %s; %lld samples\n", r.summary.warmup_note.c_str(),
              static_cast<long long>(r.summary.num_samples));
  EXPECT_EQ(r.summary.warmup_converged, true);
  EXPECT_TRUE(r.notes.empty());
  ASSERT_EQ(r.summary.parameters.size(), 2u);
  for (const auto& p : r.summary.parameters) {
    EXPECT_LT(std::abs(p.mean), 4 * p.mcse_mean) << p.name;  // false alarm in 1 of 8 000 runs for both
    EXPECT_LT(p.rhat, 1.01);
    EXPECT_GT(p.ess_bulk, 5000);
  }
}

/// The warm-up's guess of the length is only where it begins: draws are added until the effective size is there, and
/// are those of a run that was asked for as many.
TEST(Run, AutomaticLengthReachesTheEffectiveSizeThatIsWanted) {
  for (const bool kept : {false, true}) {
    Options o = gaussian(8, 300, {});  // a warm-up of given length knows no efficiency: 1 000 iterations to begin with
    o.target_ess = 20000;
    o.keep_draws = kept;
    const Result grown = run_quietly(o);
    std::printf("seed 5: %lld samples\n", static_cast<long long>(grown.summary.num_samples));
    EXPECT_GT(grown.summary.num_samples, 1000);
    EXPECT_GE(extremes_of(grown.summary).worst_ess, 20000);
    o.num_samples = grown.summary.num_samples;
    const Result asked = run_quietly(o);
    EXPECT_EQ(grown.draws, asked.draws);
    EXPECT_EQ(grown.statistics.size(), kept ? asked.statistics.size() : 0);
    for (std::size_t k = 0; k < asked.summary.parameters.size(); ++k) {
      EXPECT_EQ(grown.summary.parameters[k].mean, asked.summary.parameters[k].mean);
      EXPECT_EQ(grown.summary.parameters[k].ess_tail, asked.summary.parameters[k].ess_tail);
    }
  }
}

/// A step is settled after the last change of a mass, wherever the warm-up ends: dual averaging begins again at ten
/// times it.
TEST(Run, StepsAreSettledWhenTheWarmupEnds) {
  for (const char* sampler : {"hmc", "nuts"})
    for (const std::uint64_t seed : {1, 2, 3}) {
      Options o = gaussian(32, {}, 200);
      o.target = "gaussian_mixture";
      o.target_settings = {{"dim", "5"}, {"means", "0"}, {"sds", "1"}};
      o.sampler = sampler, o.adapt_scope = Scope::chain, o.seed = seed;
      const Result r = run_quietly(o);
      EXPECT_EQ(r.summary.warmup_converged, true) << sampler << ", seed " << seed;
      EXPECT_GT(r.summary.acceptance_mean, 0.5) << sampler << ", seed " << seed << ": " << r.summary.warmup_note;
      EXPECT_GT(r.summary.acceptance_q05, 0.2) << sampler << ", seed " << seed;
    }
}

/// Starts at a distance of a hundred thousand standard deviations: no proposal is accepted there until NUTS has moved
/// the chains.
Options far_away(Length warmup) {
  Options o = gaussian(32, warmup, 500);
  o.target = "gaussian_mixture";
  o.target_settings = {{"dim", "3"}, {"means", "5"}, {"sds", "5e-5"}};
  return o;
}

TEST(Run, RelocatesChainsFromAFarStart) {
  for (const Length warmup : {Length{}, Length{1000}}) {
    const ScratchFiles files;
    Options o = far_away(warmup);
    if (warmup) o.output = files.path("draws.nc"), o.save_warmup = true;  // whose statistics begin anew, too
    const Result r = run_quietly(o);
    std::printf("seed 5: warm-up %s\n", r.summary.warmup_note.c_str());
    EXPECT_EQ(r.summary.warmup_converged, warmup ? std::nullopt : std::optional(true));
    EXPECT_NE(r.summary.warmup_note.find("were relocated by NUTS"), std::string::npos);
    EXPECT_EQ(r.summary.stuck, 0);
    const double means[] = {5, 0, 0};
    for (std::size_t i = 0; i < 3; ++i)  // false alarm in 1 of 25 000 runs
      EXPECT_LT(std::abs(r.summary.parameters[i].mean - means[i]), 4.5 * r.summary.parameters[i].mcse_mean) << i;
  }
}

TEST(Run, SaysWhichChainsAcceptNothing) {
  Options o = far_away(1000);
  o.sampler = "mala", o.adapt_scope = Scope::chain;  // nobody relocates them
  const Result r = run_quietly(o);
  EXPECT_GT(r.summary.stuck, 0);
  EXPECT_NE(verdict_of(r.summary).reason.find("of 32 chains accepted nothing"), std::string::npos);
  ASSERT_FALSE(r.notes.empty());
  EXPECT_NE(r.notes[0].find("accepted nothing while sampling, and stand where they were; try the default in place of "
                            "--sampler, or no --num-warmup"),
            std::string::npos)
      << r.notes[0];
  for (const bool other : {true, false}) {  // followed, it converges
    Options as_told = o;
    as_told.num_samples = {};
    if (other)
      as_told.sampler = ensemble_sampler, as_told.adapt_scope = Scope::pooled;
    else
      as_told.num_warmup = {};
    const Result then = run_quietly(as_told);
    EXPECT_EQ(status_of(then), 0) << verdict_of(then.summary).reason;
  }
}

/// No step fits a funnel's neck and its mouth; the advice says what does.
TEST(Run, AdviceOfAFunnelIsAnotherForm) {
  const ScratchFiles files;
  Options o = gaussian(64, {}, 200);
  o.target = "funnel", o.target_settings = {{"dim", "20"}, {"scale", "6"}};
  o.sampler = "rwm";
  const Result r = run_quietly(o);
  EXPECT_EQ(r.summary.warmup_converged, false);
  ASSERT_FALSE(r.notes.empty());
  EXPECT_NE(r.notes[0].find("Where neither helps, the model wants another form (a funnel: non-centred)."),
            std::string::npos)
      << r.notes[0];
  // Non-centred, x_i = exp(v / 2) z_i with z_i ~ N(0, 1) and v = 6 z_0: what is drawn is N(0, I).
  std::string identity;
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 20; ++j) identity += (i == j ? "1" : "0") + std::string(j < 19 ? "," : "\n");
  o.target = "gaussian", o.target_settings = {{"covariance", files.write("identity.csv", identity)}};
  o.num_samples = {};
  EXPECT_EQ(status_of(run_quietly(o)), 0);
}

// Trajectories that cross over and back tell means apart far better than widths, which R-hat looks at as well.
TEST(Run, DrawsEnoughForWidthsToo) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Options o = gaussian(64, {}, {});
    o.target_settings["preset"] = "gp51_gaussian";
    o.sampler = "hmc", o.sampler_settings["mass"] = "dense";
    o.seed = seed;
    const Verdict verdict = verdict_of(run_quietly(o).summary);
    EXPECT_TRUE(verdict.converged) << "seed " << seed << ": " << verdict.reason;
  }
}

// An error of so many standard deviations of every mean, and no more draws than that takes.
TEST(Run, DrawsUntilTheErrorOfEveryMeanIsWhatWasAskedFor) {
  Options o = gaussian(64, {}, {});
  o.target_settings["preset"] = "gp51_gaussian";
  o.target_mcse = 0.02;
  const Result r = run_quietly(o);
  EXPECT_EQ(status_of(r), 0);
  for (const ParameterSummary& p : r.summary.parameters) EXPECT_LE(p.mcse_mean, 0.02 * p.sd) << p.name;
  o.target_mcse = 0;
  EXPECT_LT(r.summary.num_samples, run_quietly(o).summary.num_samples);
  const auto refuses = [&](double mcse, std::int64_t ess, const std::string& text) {
    o.target_mcse = mcse, o.target_ess = ess;
    try {
      run_quietly(o);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  };
  refuses(1e-5, 10000, "target_mcse = 1e-05");
  refuses(0.1, 500, "target_mcse = 0.1 and target_ess = 500");
  refuses(1.5, 10000, "target_mcse = 1.5");
}

TEST(Run, SaysWhenTheWarmupHasNotConverged) {
  Options o = gaussian(4, {}, 100);
  o.target = "funnel";
  o.target_settings = {{"dim", "20"}, {"scale", "6"}};
  o.sampler = "rwm";
  const Result r = run_quietly(o);
  EXPECT_EQ(r.summary.warmup_converged, false);
  ASSERT_FALSE(r.notes.empty());
  EXPECT_NE(r.notes[0].find("not converged after 2"), std::string::npos) << r.notes[0];
}

TEST(Run, ThreadsThinningAndLengthKeepDraws) {
  ScratchFiles files;
  Options one = gaussian(6, 100, 60), two = one, thinned = one, longer = one;
  one.threads = 1, one.output = files.path("one.nc");
  two.threads = 2, two.output = files.path("two.nc");
  thinned.thin = 3, thinned.output = files.path("thinned.nc");
  longer.num_samples = 90, longer.output = files.path("longer.nc");
  for (const auto* o : {&one, &two, &thinned, &longer}) run_quietly(*o);
  const auto a = draws_of(one), b = draws_of(two), c = draws_of(thinned), d = draws_of(longer);
  EXPECT_EQ(a, b);
  ASSERT_EQ(c.size(), a.size() / 3);
  for (std::size_t row = 0; row < 12; ++row) {
    for (std::size_t t = 0; t < 20; ++t) EXPECT_EQ(c[row * 20 + t], a[row * 60 + 3 * t + 2]);
    for (std::size_t t = 0; t < 60; ++t) EXPECT_EQ(d[row * 90 + t], a[row * 60 + t]);
  }
}

TEST(Run, ChainsAloneDoNotDependOnHowManyRunOrInWhatBatches) {
  ScratchFiles files;
  Options all = gaussian(12, 100, 40), few = all, batched = all;
  all.adapt_scope = few.adapt_scope = batched.adapt_scope = Scope::chain;
  few.num_chains = 5;
  batched.chain_batch_size = 4;
  all.output = files.path("all.nc"), few.output = files.path("few.nc"), batched.output = files.path("batched.nc");
  for (const auto* o : {&all, &few, &batched}) run_quietly(*o);
  const auto a = draws_of(all), b = draws_of(few), c = draws_of(batched);
  EXPECT_EQ(a, c);
  for (std::size_t p = 0; p < 2; ++p)
    for (std::size_t k = 0; k < 5 * 40; ++k) EXPECT_EQ(b[p * 5 * 40 + k], a[p * 12 * 40 + k]);
}

TEST(Run, InterruptedKeepsWhatWasDrawn) {
  ScratchFiles files;
  Options o = gaussian(8, 100, 2000000), whole = gaussian(8, 100, 200);
  o.output = files.path("stopped.nc"), whole.output = files.path("whole.nc");
  std::atomic<bool> stop{false};
  const Result r = run(
      o, [&](const Progress& p) { stop = p.phase == "sampling" && p.done >= 200; }, stop);
  run_quietly(whole);
  EXPECT_TRUE(r.interrupted);
  ASSERT_GE(r.draws_written, 200);
  EXPECT_LT(r.draws_written, 2000000);
  const auto a = draws_of(o), b = draws_of(whole);
  const std::size_t kept = static_cast<std::size_t>(r.draws_written);
  ASSERT_EQ(a.size(), 16 * kept);
  for (std::size_t row = 0; row < 16; ++row)
    for (std::size_t t = 0; t < 200; ++t) EXPECT_EQ(a[row * kept + t], b[row * 200 + t]);
}

TEST(Run, ProgressIsToldFiveTimesASecondAtMostAndAtTheEndOfAPhase) {
  const auto begin = std::chrono::steady_clock::now();
  std::map<std::string, int> told;
  const std::atomic<bool> never{false};
  Options o = gaussian(8, 5000, 400000);
  o.sampler = "rwm", o.draws = KeptDraws::moments;
  const Result r = run(
      o, [&](const Progress& p) { told[p.phase] += 1; }, never);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(r.draws_written, 400000);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_LE(told["warm-up"] + told["sampling"], 5 * seconds + 2);
}

TEST(Run, ChainsThatStartAtZeroDensityAreQuarantinedAndCounted) {
  ScratchFiles files;
  Options o = gaussian(5, 50, 60);
  o.init = "file:" + files.write("start.csv", "0,0\n1e200,1e200\n0.5,0.5\n0,0.1\n-1,-1\n");
  o.output = files.path("draws.nc");
  const Result r = run_quietly(o);
  ASSERT_EQ(r.quarantined.size(), 1u);
  EXPECT_EQ(r.quarantined[0].chain, 1);
  EXPECT_EQ(r.quarantined[0].iteration, 0);
  EXPECT_EQ(r.quarantined[0].reason, "the log density at its starting point is not finite");
  EXPECT_EQ(r.summary.quarantined, 1);
  for (const auto& p : r.summary.parameters) EXPECT_TRUE(std::isfinite(p.mean) && std::isfinite(p.ess_bulk)) << p.name;
  EXPECT_EQ(summarise_file(o.output).quarantined, 1);
  o.init = "file:" + files.write("nowhere.csv", "1e200,1e200\n");
  o.overwrite = true;
  testing_support::expect_error(
      [&] { run_quietly(o); }, ExitStatus::data, "",
      "no chain can start (all 5 starting points are refused: the log density at its starting point is not finite, as "
      "at (1e+200, 1e+200)). Choose other starting points with --init?");
}

/// In the neck of the funnel steps that suit its mouth diverge: flags, counts, file and memory tell the same.
TEST(Run, DivergencesHaveAPlace) {
  ScratchFiles files;
  Options o = gaussian(4, 0, 400);
  o.target = "funnel", o.target_settings = {};
  o.sampler = "nuts", o.sampler_settings = {{"step_size", "0.8"}, {"mass", "unit"}};
  o.adapt_scope = Scope::chain;
  o.thin = 2;
  o.output = files.path("funnel.nc");
  const Result r = run_quietly(o);
  std::printf("seed 5: %lld divergences\n", static_cast<long long>(r.summary.divergences));
  ASSERT_GT(r.summary.divergences, 3);
  const DrawsReader reader(o.output);
  const auto counts = reader.num_diverging();
  std::int64_t flags = 0;
  for (const auto count : counts) flags += count;
  EXPECT_EQ(r.summary.divergences, flags);
  EXPECT_EQ(summarise_file(o.output).divergences, flags);
  const auto stored = reader.divergences();
  ASSERT_EQ(stored.size(), r.divergences.size());
  ASSERT_EQ(static_cast<std::int64_t>(stored.size()), flags) << "few enough for all to be kept";
  double narrow = 0;
  for (std::size_t k = 0; k < stored.size(); ++k) {
    EXPECT_EQ(stored[k].chain, r.divergences[k].chain);
    EXPECT_EQ(stored[k].draw, r.divergences[k].draw);
    EXPECT_EQ(stored[k].point, r.divergences[k].point);
    EXPECT_LT(stored[k].draw, 200) << "draws, not iterations";
    EXPECT_GE(stored[k].draw, stored[k > 0 ? k - 1 : 0].draw);
    narrow += stored[k].point[0] < 0;  // v: the neck is where it is small
  }
  EXPECT_GT(narrow, 0.5 * static_cast<double>(stored.size()));
  o.draws = KeptDraws::moments;
  o.output = files.path("moments.nc");
  run_quietly(o);
  EXPECT_EQ(summarise_file(o.output).divergences, flags);
}

TEST(Run, RunsWithoutDivergencesSayNothingOfThem) {
  ScratchFiles files;
  Options o = gaussian(4, 100, 100);
  o.output = files.path("draws.nc");
  EXPECT_TRUE(run_quietly(o).divergences.empty());
  EXPECT_TRUE(DrawsReader(o.output).divergences().empty());
}

/// The promise of --draws moments: quantiles within 0.03 posterior sd, ESS within 15 %.
TEST(Run, MomentsAgreeWithAllDraws) {
  ScratchFiles files;
  Options all = gaussian(64, 500, 3000), moments = all;
  all.target_settings["preset"] = moments.target_settings["preset"] = "gp51_gaussian";
  all.output = files.path("all.nc"), moments.output = files.path("moments.nc");
  moments.draws = KeptDraws::moments;
  const RunSummary a = run_quietly(all).summary;
  const RunSummary told = run_quietly(moments).summary, m = summarise_file(moments.output);
  EXPECT_EQ(m.acceptance_mean, told.acceptance_mean);
  EXPECT_EQ(m.acceptance_q05, told.acceptance_q05);
  EXPECT_EQ(m.acceptance_q95, told.acceptance_q95);
  EXPECT_GT(m.acceptance_mean, 0.1);
  ASSERT_EQ(a.parameters.size(), m.parameters.size());
  for (std::size_t k = 0; k < a.parameters.size(); ++k) {
    const auto &x = a.parameters[k], &y = m.parameters[k];
    EXPECT_NEAR(x.mean, y.mean, 1e-9);
    EXPECT_NEAR(x.q05, y.q05, 0.03 * x.sd);
    EXPECT_NEAR(x.q50, y.q50, 0.03 * x.sd);
    EXPECT_NEAR(x.q95, y.q95, 0.03 * x.sd);
    EXPECT_NEAR(y.ess_bulk / x.ess_bulk, 1, 0.15) << x.name;
    EXPECT_NEAR(y.ess_tail / x.ess_tail, 1, 0.15) << x.name;
    EXPECT_NEAR(x.rhat, y.rhat, 0.005);
  }
}

TEST(Run, RefusesWhatDoesNotFit) {
  Options o = gaussian(1 << 24, 10, std::int64_t(1) << 36);
  o.output = "/dev/shm/kilochain_never_written.nc";
  try {
    run_quietly(o);
    FAIL() << "it fits?";
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.status(), ExitStatus::usage);
    for (const char* part : {"need more memory or disk", "state of the chains", "--thin", "--draws moments"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace kilochain
