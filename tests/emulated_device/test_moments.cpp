// `--draws moments` and runs that are interrupted or lose chains, on the emulated device: the figures and the lists are
// those of a run that does not depend on windows, batches or devices.
#include <cmath>
#include <string_view>

#include "host/run/run.hpp"
#include "tests/emulated_device/fixture.hpp"

namespace kilochain {
namespace {

using EmulatedMoments = EmulatedDevice;

void expect_same(const RunSummary& a, const RunSummary& b) {
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (std::size_t d = 0; d < a.parameters.size(); ++d)
    for (const auto& [name, title, figure, unit] : summary_columns) {
      const double x = a.parameters[d].*figure, y = b.parameters[d].*figure;
      EXPECT_TRUE(std::isfinite(x));
      // Blocks of draws are laid out for as many as are expected: both runs hold what streaming.hpp promises of
      // effective sizes and R-hat, so they differ by twice that; R-hat of chains that are apart also by a part of
      // itself.
      const std::string_view of = name;
      const bool by_blocks = of == "mcse_mean" || of == "ess_bulk" || of == "ess_tail" || of == "rhat";
      EXPECT_NEAR(x, y, of == "rhat" ? 0.01 + 0.03 * (y - 1) : by_blocks ? 0.3 * y : 0) << name << " of " << d;
    }
  EXPECT_EQ(a.divergences, b.divergences);
  EXPECT_EQ(a.quarantined, b.quarantined);
  EXPECT_EQ(a.num_samples, b.num_samples);
}

/// 300 chains of a Gaussian.
Options of_300(std::int64_t num_samples) {
  Options o;
  o.target = "gaussian";
  o.target_settings = {{"preset", "gauss2d_corr"}};
  o.sampler = "rwm";
  o.num_chains = 300;
  o.num_warmup = 1;
  o.num_samples = num_samples;
  o.device = "cuda";
  o.real = Precision::single_precision;
  o.draws = KeptDraws::moments;
  o.adapt_scope = Scope::chain;
  return o;
}

// Ctrl-C while a device draws ahead: the figures are those of a run of as many draws. 33 chains: windows of 1 000 draws
// of 300 take minutes.
TEST_F(EmulatedMoments, AnInterruptedRunKeepsWhatWasDrawn) {
  std::atomic<bool> stop{false};
  const auto of_33 = [](std::int64_t num_samples) {
    Options o = of_300(num_samples);
    o.num_chains = 33;
    return o;
  };
  const Result r = run(
      of_33(100000), [&](const Progress& p) { stop = p.phase == "sampling" && p.done > 240; }, stop);
  EXPECT_TRUE(r.interrupted);
  ASSERT_GT(r.draws_written, 240);
  ASSERT_LT(r.draws_written, 100000);
  const std::atomic<bool> go_on{false};
  const Result whole = run(of_33(r.draws_written), {}, go_on);
  EXPECT_FALSE(whole.interrupted);
  EXPECT_EQ(r.summary.num_samples, r.draws_written);
  expect_same(r.summary, whole.summary);
  EXPECT_TRUE(emulated::faults().empty());
}

// Steps so long that densities overflow: proposals are rejected for that, in many windows, and no chain is lost. Whose
// and when is the same in batches. A CPU's products overflow elsewhere on the way to the same density: it has others.
TEST_F(EmulatedMoments, OverflowingProposalsAreRejected) {
  Options o = of_300(260);
  o.sampler_settings = {{"initial_variance", "1.1e74"}, {"adapt_rate", "0"}};
  o.num_warmup = 0;
  const std::atomic<bool> go_on{false};
  const auto listed = [&](const Options& of) {
    std::vector<std::string> out;
    const Result r = run(of, {}, go_on);
    for (const Divergence& d : r.divergences)
      out.push_back(std::to_string(d.draw) + ", chain " + std::to_string(d.chain));
    out.push_back(std::to_string(r.summary.divergences) + " in all");
    EXPECT_EQ(r.summary.quarantined, 0);
    return out;
  };
  const auto there = listed(o);
  EXPECT_GT(there.size(), 5u);
  Options cpu = o, batches = o;
  cpu.device = "cpu";
  batches.chain_batch_size = 100;
  EXPECT_GT(listed(cpu).size(), 5u);
  EXPECT_EQ(listed(batches), there);
  EXPECT_TRUE(emulated::faults().empty());
}

}  // namespace
}  // namespace kilochain
