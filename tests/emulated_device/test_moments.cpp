// `--draws moments` on the emulated device: windows stay there, 160 bytes a window leave behind one event, and the run ends
// with the figures of a run whose draws the host has seen.
#include <cmath>

#include "tests/emulated_device/fixture.hpp"
#include "tests/emulated_device/staying.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using EmulatedMoments = EmulatedDevice;

TEST_F(EmulatedMoments, AWindowSendsItsDigestAlone) {
  for (const char* sampler : {"gad_mala_fast", "rwm"}) {
    Staying s(device(), sampler);
    const auto once = [&](int k) {
      s.begin();
      if (k == 0) return;
      EXPECT_TRUE(s.take(k).empty()) << "no chain has news";
    };
    for (int k = 0; k < 3; ++k) once(k);
    constexpr int count = 9;
    const auto before = emulated::counters();
    for (int k = 3; k < 3 + count; ++k) once(k);
    const auto after = emulated::counters();
    SCOPED_TRACE(sampler);
    EXPECT_EQ(after.copied_bytes - before.copied_bytes, count * 160);
    EXPECT_EQ(after.copies - before.copies, count);
    EXPECT_EQ(after.events - before.events, count);
    EXPECT_EQ(after.event_waits - before.event_waits, count);
    EXPECT_EQ(after.pageable_copies, before.pageable_copies);
    EXPECT_EQ(after.allocations, before.allocations);
    s.take(3 + count);
  }
  EXPECT_TRUE(emulated::faults().empty());
}

TEST_F(EmulatedMoments, AForgottenEventIsFoundOut) {
  struct Seen {
    std::vector<double> told;
    bool raced = false;
  };
  const auto seen = [](emulated::Mutant mutant) {
    Seen out;
    try {
      Staying s(device(), "rwm");
      s.begin();
      s.take(1);
      if (mutant != emulated::Mutant::none) emulated::plant(mutant, 1);
      s.begin();
      s.take(2);
      const WindowDigest& d = s.windows[2].digest();
      out.told.assign(std::begin(d.told), std::begin(d.told) + 4);
      out.told.push_back(d.acceptance_sum);
    } catch (const Error&) {  // the fault says why
    }
    const auto faults = emulated::faults();
    out.raced = !faults.empty() && faults[0].find("race of streams") != std::string::npos;
    emulated::forget_faults();
    return out;
  };
  const Seen right = seen(emulated::Mutant::none);
  ASSERT_EQ(right.told.size(), 5u);
  for (const auto mutant : {emulated::Mutant::event_record, emulated::Mutant::event_wait}) {
    const Seen wrong = seen(mutant);
    EXPECT_TRUE(wrong.raced || wrong.told != right.told) << "mutant " << static_cast<int>(mutant);
  }
}

void expect_same(const RunSummary& a, const RunSummary& b) {
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (std::size_t d = 0; d < a.parameters.size(); ++d)
    for (const auto& [name, title, figure, unit] : summary_columns) {
      EXPECT_TRUE(std::isfinite(a.parameters[d].*figure));
      EXPECT_EQ(a.parameters[d].*figure, b.parameters[d].*figure) << name << " of " << d;
    }
  EXPECT_EQ(a.divergences, b.divergences);
  EXPECT_EQ(a.quarantined, b.quarantined);
  EXPECT_EQ(a.num_samples, b.num_samples);
}

/// What windows that stay add up to, and the same draws seen by the host.
void expect_the_hosts(Staying& there, Staying& here, bool moves = true) {
  const std::int64_t ahead = there.run.batches.windows_under_way();
  std::int64_t taken = 0;
  while (there.summary.num_draws() < 90) {  // a frame of 64 and more
    there.begin();
    if (there.begun - taken == ahead) there.take(++taken);
  }
  while (taken < there.begun) there.take(++taken);
  while (here.summary.num_draws() < there.summary.num_draws())
    here.see(there.summary.num_draws() - here.summary.num_draws());
  const auto a = there.results(), b = here.results();
  for (std::size_t d = 0; d < 2; ++d)
    for (const auto& [name, title, figure, unit] : summary_columns) {
      const double x = a[d].*figure, y = b[d].*figure;
      EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << name << " of " << d << ": " << x << ", " << y;
      EXPECT_TRUE(!moves || std::isfinite(x)) << name;
    }
  EXPECT_EQ(there.divergences, here.divergences);
}

// Samplers that ask once and more often, batches of chains, and draws of which some are not kept.
TEST_F(EmulatedMoments, WindowsThatStayAddUpToTheHostsFigures) {
  for (const char* sampler : {"rwm", "gad_mala_fast", "hmc"})
    for (const std::int64_t batch : {0, 3})
      for (const std::int64_t thin : {1, 3}) {
        if (thin > 1 && std::string(sampler) != "rwm") continue;
        SCOPED_TRACE(testing::Message() << sampler << ", batches of " << batch << ", thin " << thin);
        Staying there(device(), sampler, batch, true, thin), here(device(), sampler, batch, false, thin);
        expect_the_hosts(there, here);
        EXPECT_LT(there.windows[0].bytes_on_host(), here.windows[0].bytes_on_host());
      }
  EXPECT_TRUE(emulated::faults().empty());
}

// Steps past the edge of stability diverge, more or less often; chains need not move.
TEST_F(EmulatedMoments, DivergencesOfWindowsThatStayAreCounted) {
  const SettingTexts steps = {{"mass", "unit"}, {"step_rule", "fixed"}, {"step_size", "0.2025"}, {"num_steps", "11"}};
  Staying there(device(), "hmc", 3, true, 1, steps), here(device(), "hmc", 3, false, 1, steps);
  expect_the_hosts(there, here, false);
  EXPECT_GT(there.divergences, 0);
  EXPECT_TRUE(emulated::faults().empty());
}

/// 300 chains of a Gaussian, of which the host keeps 218 draws each before they stay.
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

// 65 536 draws of a parameter are kept by the host at first, of 300 chains 218 each; the first chain is quarantined.
TEST_F(EmulatedMoments, AWholeRunHasTheHostsFigures) {
  const testing_support::ScratchFiles files;
  Options o = of_300(236);
  std::string start = "1e200,1e200\n";
  for (int c = 1; c < 300; ++c) start += "0." + std::to_string(c) + ",0\n";
  o.init = "file:" + files.write("start.csv", start);
  const std::atomic<bool> go_on{false};
  double rhat = 0;
  const Result there = run(
      o, [&](const Progress& p) { rhat = std::isfinite(p.rhat_max) ? p.rhat_max : rhat; }, go_on);
  o.keep_draws = true;  // then the host sums them up
  const Result here = run(o, {}, go_on);
  EXPECT_EQ(there.statistics, "summed up on the device after the first 218 draws of each chain");
  EXPECT_EQ(here.statistics, "summed up by the host: the draws are kept there");
  EXPECT_EQ(there.draws_written, 236);
  EXPECT_EQ(here.draws_written, 236);
  EXPECT_EQ(there.summary.quarantined, 1);
  EXPECT_GT(rhat, 0.9);
  expect_same(there.summary, here.summary);
  EXPECT_TRUE(emulated::faults().empty());
}

// Ctrl-C while windows stay: the figures are those of a run of as many draws, seen by the host.
TEST_F(EmulatedMoments, AnInterruptedRunKeepsWhatWasDrawn) {
  std::atomic<bool> stop{false};
  const Result r = run(
      of_300(100000), [&](const Progress& p) { stop = p.phase == "sampling" && p.done > 240; }, stop);
  EXPECT_TRUE(r.interrupted);
  ASSERT_GT(r.draws_written, 240);
  ASSERT_LT(r.draws_written, 100000);
  EXPECT_EQ(r.statistics, "summed up on the device after the first 218 draws of each chain");
  Options o = of_300(r.draws_written);
  o.keep_draws = true;
  const std::atomic<bool> go_on{false};
  const Result whole = run(o, {}, go_on);
  EXPECT_FALSE(whole.interrupted);
  EXPECT_EQ(r.summary.num_samples, r.draws_written);
  expect_same(r.summary, whole.summary);
  EXPECT_TRUE(emulated::faults().empty());
}

// Steps so long that one coordinate in ten thousand overflows: chains are quarantined here and there, in many windows. Who,
// when and why is told by a device whose windows stay, in batches or not, as by the CPU.
TEST_F(EmulatedMoments, QuarantinedChainsAreTheCpus) {
  Options o = of_300(260);
  o.sampler_settings = {{"initial_variance", "7.5e75"}, {"adapt_rate", "0"}};  // 3.4e38 is 3.93 steps
  o.num_warmup = 0;
  const std::atomic<bool> go_on{false};
  const auto listed = [&](const Options& of) {
    std::vector<std::string> out;
    const Result r = run(of, {}, go_on);
    for (const QuarantinedChain& q : r.quarantined)
      out.push_back(std::to_string(q.iteration) + ", chain " + std::to_string(q.chain) + ": " + q.reason);
    EXPECT_EQ(r.summary.quarantined, std::ssize(out));
    return out;
  };
  const auto there = listed(o);
  EXPECT_GT(there.size(), 5u);
  EXPECT_LT(there.size(), 100u);
  Options cpu = o, batches = o;
  cpu.device = "cpu";
  batches.chain_batch_size = 100;
  EXPECT_EQ(listed(cpu), there);
  EXPECT_EQ(listed(batches), there);
  EXPECT_TRUE(emulated::faults().empty());
}

}  // namespace
}  // namespace kilochain
