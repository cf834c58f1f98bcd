// What a beginner tries: every sampler, each scope, 1, 4 and 64 chains, on N(0, I_5) and N(0, 4), with nothing else
// said.
// Status 0 and right, or status 6; never status 0 and wrong. 1 700 figures within 5 of their errors: a false alarm in a
// thousand seeds. The larger table: matrix.py beside this file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/registry/registry.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

class Easy : public ::testing::TestWithParam<std::string> {};

TEST_P(Easy, IsRightOrSaysThatItIsNot) {
  const testing_support::ScratchFiles files;
  // M-GaA's rates do not fall, and pooled rates are those of many chains: one or four teach C noise alone.
  const auto may_fail = [](const Options& o) {
    return o.adapt_scope == Scope::pooled && o.num_chains < 64 &&
           (o.sampler == "gaussian_adaptation" || o.sampler == "cma");
  };
  for (const auto& [name, covariance, variance] :
       {std::tuple{"N(0, I_5)", "1,0,0,0,0\n0,1,0,0,0\n0,0,1,0,0\n0,0,0,1,0\n0,0,0,0,1\n", 1.0},
        std::tuple{"N(0, 4)", "4\n", 4.0}})
    for (const Scope scope : {Scope::chain, Scope::pooled})
      for (const int chains : {1, 4, 64}) {
        Options o;
        o.sampler = GetParam();
        if (scope == Scope::chain && o.sampler == ensemble_sampler) continue;
        o.target = "gaussian";
        o.target_settings["covariance"] = files.write("covariance.csv", covariance);
        o.num_chains = chains;
        o.adapt_scope = scope;
        o.device = "cpu";
        o.keep_draws = true;
        const Result r = testing_support::run_quietly(o);
        const std::string where =
            fmt::format("seed 1, {}, {}, {} chains", name, scope == Scope::chain ? "each alone" : "pooled", chains);
        std::printf("%s: status %d\n", where.c_str(), status_of(r));
        if (status_of(r) != 0) {
          EXPECT_TRUE(may_fail(o)) << where << ": " << verdict_of(r.summary).reason;
          EXPECT_EQ(status_of(r), 6) << where;
          continue;
        }
        testing_support::expect_right(r, std::vector<double>(r.summary.parameters.size(), variance), 5, where);
      }
}
std::vector<std::string> all_samplers() {
  std::vector<std::string> out;
  for (const SamplerEntry& s : samplers())
    if (s.family == Family::density) out.push_back(s.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Samplers, Easy, ::testing::ValuesIn(all_samplers()), [](const auto& p) { return p.param; });

}  // namespace
}  // namespace kilochain
