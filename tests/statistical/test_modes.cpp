// Modes eight to twelve standard deviations apart get their weights, with nothing else said, wherever chains begin.
// Status 0 and the weight within 5 of its errors: of 6 figures, a false alarm in 3e5 seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/runs.hpp"

namespace kilochain {
namespace {

TEST(Modes, GetTheirWeights) {
  for (const auto& [dim, means, at] : {std::tuple{"1", "-6;6", 6.0}, std::tuple{"3", "-4;4", 4.0}})
    for (const Scope scope : {Scope::chain, Scope::pooled}) {
      Options o;
      o.sampler = "tempered_mala";
      o.target = "gaussian_mixture";
      o.target_settings = {{"dim", dim}, {"means", means}, {"weights", "0.2,0.8"}};
      o.num_chains = 32;
      o.adapt_scope = scope;
      o.device = "cpu";
      o.target_ess = 3000;
      const Result r = testing_support::run_quietly(o);
      const std::string where = fmt::format("seed 1, {} dimensions, {}", dim, name_of(scope));
      EXPECT_EQ(status_of(r), 0) << where << ": " << verdict_of(r.summary).reason;
      const auto& x = r.summary.parameters[0];
      EXPECT_NEAR(x.mean, 0.6 * at, 5 * x.mcse_mean) << where;
      EXPECT_LT(x.mcse_mean, 0.1 * at) << where;
    }
}

}  // namespace
}  // namespace kilochain
