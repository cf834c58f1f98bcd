// Components of a program's own mixture may swap: all labellings are sampled as often, of parameters that are
// constrained too, with what is recorded of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "host/registry/own_target.hpp"
#include "kilochain/model.hpp"
#include "tests/support/runs.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;

struct TwoNormals {
  static constexpr const char* meaning = "Mixture of two normals";
  struct Data {
    DataArray y;
  };
  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    const auto mu = p.reals("mu", 2);
    const auto sigma = p.positives("sigma", 2);
    const auto share = p.interval("share", 0, 1);
    const auto first = mu[0], second = mu[1], s = sigma[0], t = sigma[1], p1 = log(share), p2 = log1p(-share);
    auto lp = normal_lp(first, 0, 10) + normal_lp(second, 0, 10) + half_normal_lp(s, 1) + half_normal_lp(t, 1);
    for (const double y : d.y) lp += log_sum_exp(p1 + normal_lp(y, first, s), p2 + normal_lp(y, second, t));
    return lp;
  }
};

// Of 4 figures one beyond 4.5 standard errors: 1 in 37 000.
TEST(EqualModes, OfAProgramsMixtureAreAllSampled) {
  const auto target = OwnTarget::of<TwoNormals>("two_normals", [](Loader& at) {
    std::vector<double> y;
    for (int k = 0; k < 60; ++k) y.push_back((k % 3 == 0 ? 8 : -4) + (k % 3 == 0 ? 0.5 : 2) * std::sin(1.0 + k * k));
    return TwoNormals::Data{at.put("y", y)};
  });
  Options o;
  o.target = target.name(), o.device = "cpu", o.seed = 2, o.num_chains = 16;
  const Result r = run_quietly(o);
  EXPECT_EQ(status_of(r), 0) << r.summary.warmup_note;
  EXPECT_TRUE(r.summary.equal_modes.starts_with(
      "2 equal ones: the posterior is the same after swaps (mu[0] with mu[1] and the sign of share, sigma[0] with "
      "sigma[1]); each draw"))
      << r.summary.equal_modes;
  const auto at = [&](const char* name) {
    return *std::ranges::find(r.summary.parameters, name, &ParameterSummary::name);
  };
  for (const char* what : {"mu", "sigma"}) {
    const auto a = at((std::string(what) + "[0]").c_str()), b = at((std::string(what) + "[1]").c_str());
    EXPECT_LT(std::abs(a.mean - b.mean), 4.5 * std::hypot(a.mcse_mean, b.mcse_mean)) << what;
  }
  EXPECT_LT(std::abs(at("share").mean - 0.5), 4.5 * at("share").mcse_mean);
  EXPECT_GT(at("mu[0]").sd, 5);
}

}  // namespace
}  // namespace kilochain
