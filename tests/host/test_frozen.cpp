// After an automatic warm-up has settled, frozen chains are looked at: what no longer fits sends it back, and what
// never fits is said.
#include <gtest/gtest.h>

#include <atomic>

#include "host/registry/own_target.hpp"
#include "host/run/block_signs.hpp"
#include "host/run/run.hpp"
#include "tests/support/runs.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;

/// Normal, of sd 1 for so many gradients, then of sd 0.01: a step that was learnt before accepts nothing after.
std::atomic<std::int64_t> left{0};
struct Narrows {
  static constexpr const char* meaning = "a Gaussian that becomes narrow";
  struct Data {};
  static int dim(const Data&) { return 5; }
  static double log_density_and_gradient(const Data&, const double* x, double* gradient) {
    const double precision = left-- > 0 ? 1 : 1e4;
    double lp = 0;
    for (int i = 0; i < 5; ++i) gradient[i] = -precision * x[i], lp += gradient[i] * x[i] / 2;
    return lp;
  }
};

Options options(const char* sampler, Scope scope) {
  Options o;
  o.target = "narrows", o.sampler = sampler, o.adapt_scope = scope;
  o.num_chains = 32, o.num_samples = 1000, o.seed = 3, o.threads = 1;
  return o;
}

/// The run after which the target has just so many gradients left as 30 iterations before chains are frozen.
Result narrowed(const Options& o, std::int64_t frozen) {
  left = std::numeric_limits<std::int64_t>::max() / 2;
  Options warm = o;
  warm.num_samples = 1;
  const std::int64_t before = left, iterations = run_quietly(warm).summary.num_warmup, made = before - left;
  left = made - (frozen + 30) * o.num_chains * made / (iterations * o.num_chains);
  return run_quietly(o);
}

TEST(FrozenChains, AStepThatNoLongerFitsIsLearntAgain) {
  const auto narrows = OwnTarget::of<Narrows>("narrows", [](Loader&) { return Narrows::Data{}; });
  for (const char* const sampler : {"mala", "hmc", "rwm"})
    for (const Scope scope : {Scope::chain, Scope::pooled}) {
      SCOPED_TRACE(sampler);
      const Options o = options(sampler, scope);
      const Result r = narrowed(o, 100);
      EXPECT_TRUE(verdict_of(r.summary).converged) << verdict_of(r.summary).reason;
      for (const ParameterSummary& p : r.summary.parameters) EXPECT_NEAR(p.sd, 0.01, 0.001);
    }
}

TEST(FrozenChains, WhatTheySayAgainstTheLastBlock) {
  WarmupMonitor monitor(0.8);
  BlockSigns block{std::vector<double>(32, -2.5), 0.8, 1.001, 0.1, 0.1};
  for (std::size_t k = 0; k < 32; ++k) block.lp[k] += 0.1 * (k % 5);
  monitor.add(block), monitor.add(block);
  const std::vector<double> rates(32, 0.8);
  EXPECT_EQ(monitor.frozen(block, rates), "");
  BlockSigns other = block;
  other.acceptance = 0.1;
  EXPECT_EQ(monitor.frozen(other, rates), "acceptance 0.1 once it was frozen, 0.8 before");
  std::vector<double> some = rates;
  some[3] = 0, some[4] = NAN;  // the latter is quarantined
  EXPECT_EQ(monitor.frozen(block, some), "1 of the frozen chains accept nothing");
  for (double& lp : other.lp) lp += 1;
  other.acceptance = 0.8;
  EXPECT_NE(monitor.frozen(other, rates).find("the mean log density moved when it was frozen (z = "), std::string::npos);
}

}  // namespace
}  // namespace kilochain
