// Densities that do not fall off along a parameter are named as such; wide and heavy-tailed ones are not.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kilochain/model.hpp"
#include "kilochain/run.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;
using testing_support::ScratchFiles;

/// x[0] standard normal, x[1] as `slope` says: (lp, its derivative).
using Along = std::pair<double, double> (*)(double);
int density(std::size_t n, const double* x, double* gradient, double* lp, void* along) {
  static_cast<void>(n);
  const auto [value, slope] = (*static_cast<Along*>(along))(x[1]);
  *lp = value - x[0] * x[0] / 2;
  gradient[0] = -x[0], gradient[1] = slope;
  return 0;
}

Result sampled(Along along, const char* sampler, const std::string& output = "") {
  FunctionDensity function;
  function.one = density, function.user_data = &along, function.dim = 2;
  const OwnTarget target("along", function);
  Options o;
  o.target = target.name(), o.sampler = sampler, o.seed = 3, o.device = "cpu", o.output = output;
  o.num_chains = 16, o.num_warmup = 400, o.num_samples = 200;
  return run_quietly(o);
}

struct FlatTau {
  static constexpr const char* meaning = "log tau without a prior";
  using Data = int;
  template <class P>
  KC_HD static auto log_density(P& p, const Data&) {
    const auto mu = p.real("mu");
    p.add_jacobian(-log(p.positive("tau")));
    return normal_lp(mu, 0, 1);
  }
};

const char* const samplers[] = {"nuts", "gad_mala_fast"};

TEST(Flat, AParameterWithoutAPriorIsNamed) {
  const Along flat[] = {[](double) { return std::pair(3.0, 0.0); },                                   // both ways
                        [](double x) { return std::pair(-std::exp(-x), std::exp(-x)); },              // one way
                        [](double x) { return std::pair(-std::atan(-x) * 0.1, 0.1 / (1 + x * x)); },  // bounded
                        [](double x) { return std::pair(x, 1.0); }};                                  // it rises
  for (const Along& along : flat) {
    const Result r = sampled(along, "nuts");
    EXPECT_EQ(r.summary.flat, "x[1]") << &along - flat;
    EXPECT_NE(verdict_of(r.summary).reason.find(
                  "the density does not fall off along x[1]: without a prior there is no posterior"),
              std::string::npos);
  }
  EXPECT_EQ(sampled(flat[0], "gad_mala_fast").summary.flat, "x[1]");
}

TEST(Flat, WideAndHeavyTailedOnesAreNotAccused) {
  const Along proper[] = {
      [](double x) { return std::pair(-x * x / 2e12, -x / 1e12); },  // sd 1e6, which gad_mala does not reach
      [](double x) { return std::pair(-x * x / 2e24, -x / 1e24); },
      [](double x) { return std::pair(-std::log1p(x * x * 1e-8), -2e-8 * x / (1 + x * x * 1e-8)); },  // Cauchy, 1e4
      [](double x) { return std::pair(-0.6 * std::log1p(x * x), -1.2 * x / (1 + x * x)); }};          // |x|^-1.2
  for (const char* sampler : samplers)
    for (const Along& along : proper) EXPECT_EQ(sampled(along, sampler).summary.flat, "") << &along - proper;
}

TEST(Flat, WhatIsRecordedIsNamedAndTheFileKnowsIt) {
  const ScratchFiles files;
  const Along flat = [](double) { return std::pair(0.0, 0.0); };
  const std::string path = files.path("flat.nc");
  sampled(flat, "nuts", path);
  const RunSummary s = summarise_file(path);
  EXPECT_EQ(s.flat, "x[1]");
  EXPECT_FALSE(verdict_of(s).converged);

  const OwnTarget target = OwnTarget::of<FlatTau>("flat_tau", [](Loader&) { return 0; });
  Options o;
  o.target = target.name(), o.sampler = "nuts", o.num_chains = 8, o.num_warmup = 400, o.num_samples = 100;
  EXPECT_EQ(run_quietly(o).summary.flat, "tau");
}

}  // namespace
}  // namespace kilochain
