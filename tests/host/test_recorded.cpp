// A target that records other values than its coordinates: constrained, under names of their own,
// in memory and on disk.
#include <gtest/gtest.h>

#include <cmath>

#include "host/chains/cpu_target.hpp"
#include "host/draws/draws_file.hpp"
#include "host/registry/registry.hpp"
#include "host/run/run.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;
using testing_support::ScratchFiles;

/// log s ~ N(0, 1) and two values that depend on it; values only, no gradient. `broken`: not a number above log s = 1.
template <class Real, bool broken>
struct LogNormal {
  static constexpr const char* meaning = "for a test";
  struct Settings {};
  template <class V>
  static void settings(V&&, Settings&) {}
  struct Data {};
  static Data prepare(const Settings&, Arena<Real>&, TargetInfo& info) {
    info.dim = 1;
    info.names = {"s", "parts[0]", "parts[1]"};
    info.variables = {{"s", {}}, {"parts", {2}}};
    info.constrain = [](const double* x, const DrawId&, double* out) {
      out[0] = std::exp(x[0]);
      out[1] = x[0];
      out[2] = -x[0];
    };
    info.offers = Needs::value;
    return {};
  }
  static std::size_t scratch(const Data&) { return 0; }
  static void evaluate(const HostTeam&, const Data&, Needs, const Query<Real>& query, const Reply<Real>& reply, Real*) {
    const double x = static_cast<double>(query.point[0]);
    *reply.lp = broken && x > 1 ? std::nan("") : -0.5 * x * x;
  }
};

template <class Real, bool broken>
std::unique_ptr<Target<Real>> make(const Context& context, const SettingTexts&) {
  using Model = LogNormal<Real, broken>;
  return std::make_unique<CpuTarget<Model, Real>>(context, typename Model::Settings{});
}
template <bool broken>
TargetEntry entry(const char* name) {
  TargetEntry e;
  e.name = name, e.meaning = "for a test";
  e.make_float = make<float, broken>, e.make_double = make<double, broken>;
  return e;
}
const RegisterTarget registered(entry<false>("test_log_normal")), broken(entry<true>("test_broken"));

Options options() {
  Options o;
  o.target = "test_log_normal";
  o.sampler = "rwm";
  o.num_chains = 6;
  o.num_warmup = 300;
  o.num_samples = 700;
  o.thin = 2;
  o.device = "cpu";
  o.keep_draws = true;
  return o;
}
TEST(Recorded, DivergencesAreInRecordedValues) {
  ScratchFiles files;
  Options o = options();
  o.target = "test_broken";
  o.init = "zeros";
  o.output = files.path("broken.nc");
  const Result r = run_quietly(o);
  const auto stored = DrawsReader(o.output).divergences();
  ASSERT_GT(stored.size(), 10u);
  ASSERT_EQ(stored.size(), r.divergences.size());
  for (std::size_t k = 0; k < stored.size(); ++k) {
    ASSERT_EQ(stored[k].point.size(), 3u);
    EXPECT_GT(stored[k].point[1], 1);
    EXPECT_EQ(stored[k].point[0], std::exp(stored[k].point[1]));
    EXPECT_EQ(stored[k].point, r.divergences[k].point);
  }
}

TEST(Recorded, InMemoryAndOnDiskAlike) {
  ScratchFiles files;
  for (const Precision real : {Precision::single_precision, Precision::double_precision}) {
    Options o = options();
    o.real = real;
    o.output = files.path("recorded.nc"), o.overwrite = true;
    const Result r = run_quietly(o);
    ASSERT_EQ(r.names, (std::vector<std::string>{"s", "parts[0]", "parts[1]"}));
    ASSERT_EQ(r.draws.size(), 6u * 350u * 3u);
    for (std::size_t k = 0; k < r.draws.size(); k += 3) {
      ASSERT_NEAR(std::log(r.draws[k]), r.draws[k + 1], 1e-6);  // rounding of a float: 4 * 6e-8 and of its logarithm
      ASSERT_EQ(r.draws[k + 1], -r.draws[k + 2]);
    }
    const DrawsReader reader(o.output);
    ASSERT_EQ(reader.header().variables.size(), 2u);
    std::vector<double> values;
    reader.read_parameters(0, 3, values);
    for (std::size_t c = 0; c < 6; ++c)
      for (std::size_t d = 0; d < 350; ++d)
        for (std::size_t p = 0; p < 3; ++p) ASSERT_EQ(values[(p * 6 + c) * 350 + d], r.draws[(c * 350 + d) * 3 + p]);
    const Result read = read_result(o.output);
    EXPECT_EQ(read.draws, r.draws);
    EXPECT_EQ(read.lp, r.lp);
    EXPECT_EQ(read.statistics, r.statistics);
    EXPECT_EQ(read.draws_written, 350);
    ASSERT_EQ(r.variables.size(), 2u);
    EXPECT_EQ(r.variables[1].shape, read.variables[1].shape);
    ASSERT_EQ(r.summary.parameters.size(), 3u);
    EXPECT_EQ(r.summary.parameters[2].name, "parts[1]");
    EXPECT_LT(std::abs(r.summary.parameters[2].mean),
              4.5 * r.summary.parameters[2].mcse_mean);  // false alarm 1 in 150 000
  }
}

TEST(Recorded, MomentsAreThoseOfTheRecordedValues) {
  Options o = options();
  const Result all = run_quietly(o);
  o.draws = KeptDraws::moments;
  const Result moments = run_quietly(o);
  for (std::size_t p = 0; p < 3; ++p)  // the same sums in another order: 2 100 terms of about one sd
    EXPECT_NEAR(all.summary.parameters[p].mean, moments.summary.parameters[p].mean,
                2100 * 2.3e-16 * all.summary.parameters[p].sd);
}

TEST(Recorded, AnInterruptedRunKeepsWholeDraws) {
  Options o = options();
  o.num_samples = 2000000;
  std::atomic<bool> stop{false};
  const Result r = run(
      o, [&](const Progress& p) { stop = stop || (p.phase == "sampling" && p.done > 5000); }, stop);
  EXPECT_TRUE(r.interrupted);
  ASSERT_EQ(static_cast<std::int64_t>(r.draws.size()), r.draws_written * 6 * 3);
  for (std::size_t k = 0; k < r.draws.size(); k += 3) ASSERT_EQ(r.draws[k + 1], -r.draws[k + 2]);
}

TEST(Recorded, ASamplerThatWantsGradientsIsRefused) {
  for (const char* sampler : {"nuts", "gad_rwm", "gad_mala_exact"}) {
    Options o = options();
    o.sampler = sampler;
    try {
      run_quietly(o);
      FAIL() << sampler;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage);
      EXPECT_NE(std::string(error.what())
                    .find("Choose --sampler adaptive_metropolis, adaptive_metropolis_haario, adaptive_proposal, cma, "
                          "gaussian_adaptation, rwm, or give"),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace kilochain
