// What a run does before it samples, and how it makes its summary: data once, settings before data,
// figures from wherever the draws are.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "host/chains/cpu_target.hpp"
#include "host/draws/disk_space.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;
using testing_support::ScratchFiles;

int reads = 0;

/// N(0, 1) in three dimensions, which counts how often its data are read.
template <class Real>
struct Counted {
  static constexpr const char* meaning = "for a test";
  struct Settings {};
  template <class V>
  static void settings(V&&, Settings&) {}
  struct Data {};
  static Data prepare(const Settings&, Arena<Real>&, TargetInfo& info) {
    ++reads;
    info.dim = 3;
    info.check = [](const double* x) {
      require(x[0] < 100, ExitStatus::data, "test_counted: out of bounds", "x[0] = " + std::to_string(x[0]), "Less?");
    };
    info.names = {"a", "b", "c"};
    return {};
  }
  static std::size_t scratch(const Data&) { return 0; }
  static void evaluate(const HostTeam&, const Data&, Needs, const Query<Real>& query, const Reply<Real>& reply, Real*) {
    double lp = 0;
    for (Index i = 0; i < 3; ++i) {
      reply.gradient[i] = -query.point[i];
      lp -= 0.5 * static_cast<double>(query.point[i]) * static_cast<double>(query.point[i]);
    }
    *reply.lp = lp;
  }
};

template <class Real>
std::unique_ptr<Target<Real>> make(const Context& context, const SettingTexts&) {
  return std::make_unique<CpuTarget<Counted<Real>, Real>>(context, typename Counted<Real>::Settings{});
}
TargetEntry counted() {
  TargetEntry e;
  e.name = "test_counted", e.meaning = "for a test";
  e.make_float = make<float>, e.make_double = make<double>;
  return e;
}
const RegisterTarget registered(counted());

Options options() {
  Options o;
  o.target = "test_counted";
  o.sampler = "gad_mala_fast";
  o.num_chains = 6;
  o.num_warmup = 100;
  o.num_samples = 400;
  o.device = "cpu";
  return o;
}
void expect_same_figures(const std::vector<ParameterSummary>& a, const std::vector<ParameterSummary>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(a[k].name, b[k].name);
    for (const SummaryColumn& column : summary_columns)
      EXPECT_EQ(a[k].*column.figure, b[k].*column.figure) << a[k].name << " " << column.name;
  }
}

TEST(PreparedRun, ReadsDataOnceHoweverOftenItIsAsked) {
  reads = 0;
  const PreparedRun prepared(options());
  EXPECT_EQ(reads, 1);
  const std::atomic<bool> never{false};
  EXPECT_GT(prepared.estimate().seconds, 0);
  const Result first = prepared.run(nullptr, never), second = prepared.run(nullptr, never);
  EXPECT_EQ(reads, 1);
  expect_same_figures(first.summary.parameters, second.summary.parameters);
  expect_same_figures(first.summary.parameters, run_quietly(options()).summary.parameters);
}

/// What the writer sets aside for the journal, a window and its margin, is off the disk that a file may take.
TEST(PreparedRun, TheJournalsRoomIsOffTheDisk) {
  const ScratchFiles files;
  Options o = options();
  o.num_chains = 1000, o.num_warmup = 10, o.num_samples = 3000, o.threads = 1;  // windows of 40 MB
  o.output = files.path("draws.nc");
  const PreparedRun prepared(o);
  const auto free = [&] { return static_cast<double>(std::filesystem::space(files.path("")).available); };
  const double before = free(), told = static_cast<double>(prepared.estimate().disk_available), after = free();
  TargetInfo info;
  info.dim = 3, info.names = {"a", "b", "c"};
  const auto room = static_cast<double>(journal_bytes(o, info, Precision::double_precision));
  EXPECT_GT(room, 4e7);
  EXPECT_GT(told, std::min(before, after) - room - 1e7) << "others may write meanwhile";
  EXPECT_LT(told, std::max(before, after) - room + 1e7);
  Options none = o;
  none.draws = KeptDraws::moments;
  EXPECT_EQ(journal_bytes(none, info, Precision::double_precision), 0u);
  const auto set_aside = [](const std::string& path) {
    struct stat now {};
    return ::stat(path.c_str(), &now) == 0 ? 512.0 * static_cast<double>(now.st_blocks) : 0;
  };
  const std::string probe = files.write("probe", "x");
  EXPECT_EQ(reserve_disk_space(probe, 1 << 20), "");
  if (set_aside(probe) < 1 << 20) {
    std::printf("SKIPPED: nothing can be set aside here, and free space counts\n");
    return;
  }
  // Of few chains: windows that take a second are cut short, and the chunks that they share are set aside again.
  o.num_chains = 25;
  const auto of_few = static_cast<double>(journal_bytes(o, info, Precision::double_precision));
  std::atomic<bool> done{false};
  double most = 0;
  std::jthread looks([&] {
    while (!done) {
      most = std::max(most, set_aside(o.output + ".journal"));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const std::atomic<bool> never{false};
  run(o, nullptr, never);  // three windows: what was set aside for the first is there until the last
  done = true;
  looks.join();
  std::printf("journal: %.1f MB set aside, %.1f told\n", most / 1e6, of_few / 1e6);
  EXPECT_GT(most, 0.9 * of_few);
  EXPECT_LT(most, 1.1 * of_few);
}

TEST(PreparedRun, ChecksSettingsOfTheSamplerBeforeItReadsData) {
  reads = 0;
  Options o = options();
  o.sampler_settings["target_accept"] = "1.5";
  testing_support::expect_error([&] { PreparedRun{o}; }, ExitStatus::usage, "",
                                "gad_mala_fast: target_accept = 1.5 (must be > 0 and < 1). Try 0.5?");
  EXPECT_EQ(reads, 0);
}

TEST(PreparedRun, EvaluatesOnceWithChecksBeforeItWritesAnything) {
  ScratchFiles files;
  Options o = options();
  o.init = "file:" + files.write("start.csv", "200,0,0\n");
  o.output = files.path("draws.nc");
  testing_support::expect_error([&] { run_quietly(o); }, ExitStatus::data, "",
                                "test_counted: out of bounds (x[0] = 200.000000). Less?");
  EXPECT_FALSE(std::filesystem::exists(o.output));
}

/// Draws that do not fit into a GiB are summarised as they come, also where they are stored.
TEST(PreparedRun, ALargeFileIsNotReadBack) {
  Options o = options();
  o.output = "draws.nc";
  o.num_chains = 1024;
  constexpr std::int64_t dim = 128, draws_of_a_gib = 1024;  // 2^30 bytes of double
  EXPECT_EQ(summary_from(o, dim, draws_of_a_gib), SummaryFrom::memory);
  EXPECT_EQ(summary_from(o, dim, draws_of_a_gib + 1), SummaryFrom::stream);
  o.resume = std::make_shared<const RunState>();  // the first draws are in the file alone
  EXPECT_EQ(summary_from(o, dim, draws_of_a_gib), SummaryFrom::file);
}

/// The figures do not depend on where the draws were when they were summarised: in memory, in the file,
/// or read back from it.
TEST(PreparedRun, SummariesFromMemoryAndFromTheFileAreTheSameBits) {
  ScratchFiles files;
  for (const Precision real : {Precision::single_precision, Precision::double_precision}) {
    Options memory = options(), file = memory, kept = memory;
    memory.real = file.real = kept.real = real;
    file.output = files.path("draws.nc"), file.overwrite = true;
    kept.keep_draws = true;
    const auto in_memory = run_quietly(memory).summary.parameters;
    expect_same_figures(in_memory, run_quietly(file).summary.parameters);
    expect_same_figures(in_memory, summarise_file(file.output).parameters);
    expect_same_figures(in_memory, summarise_file(file.output, {.max_bytes = 1}).parameters);  // a parameter at a time
    expect_same_figures(in_memory, run_quietly(kept).summary.parameters);
  }
}

TEST(PreparedRun, ProgressTellsFiguresOfDrawsThatAreKept) {
  for (const KeptDraws draws : {KeptDraws::all, KeptDraws::moments, KeptDraws::none}) {
    Options o = options();
    o.draws = draws;
    o.num_chains = 64;
    o.num_samples = 2000;  // two windows, so that a report comes after one
    Progress last;
    const std::atomic<bool> never{false};
    run(
        o, [&](const Progress& p) { last = p; }, never);
    EXPECT_EQ(last.phase, "sampling");
    EXPECT_EQ(last.done, 2000);
    EXPECT_EQ(last.total, 2000);
    EXPECT_EQ(std::isfinite(last.rhat_max) && std::isfinite(last.ess_min), draws != KeptDraws::none);
  }
}

TEST(PreparedRun, ProgressTellsWhatAnAutomaticWarmUpWaitsFor) {
  const auto told = [](const char* sampler) {
    Options o = options();
    o.sampler = sampler, o.num_warmup.reset(), o.num_chains = 16, o.num_samples = 100;
    o.target = "gaussian_mixture", o.target_settings = {{"dim", "5"}, {"means", "-10; 11"}};  // no normal law fits
    std::string all;
    const std::atomic<bool> never{false};
    run(
        o, [&](const Progress& p) { all += p.phase == "warm-up" ? p.waits_for + "\n" : p.waits_for; }, never);
    return all;
  };
  const std::string scouts = told("ensemble_hmc"), blocks = told("rwm");
  EXPECT_NE(scouts.find("16 scouts"), std::string::npos) << scouts;
  EXPECT_NE(blocks.find("R-hat"), std::string::npos) << blocks;
}

TEST(PreparedRun, AFixedLengthMayBeZeroAndAFileOfStartsIsReadForAllBatches) {
  ScratchFiles files;
  std::string rows;
  for (int c = 0; c < 6; ++c) rows += std::to_string(0.1 * c) + ",0,1\n";
  Options all = options(), batched = all;
  all.num_warmup = batched.num_warmup = 0;
  all.adapt_scope = batched.adapt_scope = Scope::chain;
  all.init = batched.init = "file:" + files.write("start.csv", rows);
  batched.chain_batch_size = 2;
  expect_same_figures(run_quietly(all).summary.parameters, run_quietly(batched).summary.parameters);
}

}  // namespace
}  // namespace kilochain
