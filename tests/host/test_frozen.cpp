// After an automatic warm-up has settled, frozen chains are looked at: what no longer fits sends it back.
#include <gtest/gtest.h>

#include <atomic>

#include "host/learn/block_signs.hpp"
#include "host/registry/own_target.hpp"
#include "host/run/run.hpp"
#include "tests/support/runs.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;

/// Normal; after so many gradients they are eight times as steep as the density is, which takes nothing from the law
/// that chains have, but acceptance from all that was learnt.
std::atomic<std::int64_t> left{0};
struct Steepens {
  static constexpr const char* meaning = "a Gaussian whose gradients become steep";
  struct Data {};
  static int dim(const Data&) { return 5; }
  static double log_density_and_gradient(const Data&, const double* x, double* gradient) {
    const double steep = left-- > 0 ? 1 : 8;
    double lp = 0;
    for (int i = 0; i < 5; ++i) gradient[i] = -steep * x[i], lp -= x[i] * x[i] / 2;
    return lp;
  }
};

Options options(const char* sampler, Scope scope) {
  Options o;
  o.target = "steepens", o.sampler = sampler, o.adapt_scope = scope;
  o.num_chains = 32, o.seed = 3, o.threads = 1;
  return o;
}

TEST(FrozenChains, AStepThatNoLongerFitsIsLearntAgain) {
  const auto steepens = OwnTarget::of<Steepens>("steepens", [](Loader&) { return Steepens::Data{}; });
  for (const char* const sampler : {"mala", "hmc"})
    for (const Scope scope : {Scope::chain, Scope::pooled}) {
      SCOPED_TRACE(sampler);
      Options o = options(sampler, scope);
      constexpr std::int64_t many = std::int64_t(1) << 40;
      left = many, o.num_samples = 1;
      const std::int64_t iterations = run_quietly(o).summary.num_warmup, made = many - left;
      left = made - made * 130 / iterations, o.num_samples = 1000;  // 30 iterations before the last 100, which look
      const RunSummary s = run_quietly(o).summary;
      EXPECT_GT(s.num_warmup, iterations);
      EXPECT_EQ(s.stuck, 0);
      EXPECT_GT(s.acceptance_q05, 0.3);
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
  EXPECT_NE(monitor.frozen(other, rates).find("the mean log density moved when it was frozen (z = "),
            std::string::npos);
}

}  // namespace
}  // namespace kilochain
