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

/// Of each question, three classes' log odds of yes; people are of each class with even odds.
struct ThreeClasses {
  static constexpr const char* meaning = "Latent classes";
  static constexpr int classes = 3, questions = 6;
  struct Data {
    DataArray y;  ///< (person, question)
  };
  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    const decltype(p.reals("a", classes)) odds[] = {p.reals("a", classes), p.reals("b", classes),
                                                    p.reals("c", classes), p.reals("d", classes),
                                                    p.reals("e", classes), p.reals("f", classes)};
    const auto zero = 0 * odds[0][0];
    auto lp = zero;
    for (const auto& of : odds)
      for (int k = 0; k < classes; ++k) lp += normal_lp(of[k], 0, 1.5);
    for (Index at = 0; at < d.y.size(); at += questions) {
      auto a = zero, b = zero, c = zero;
      for (int j = 0; j < questions; ++j) {
        a += d.y[at + j] * odds[j][0] - log1p_exp(odds[j][0]);
        b += d.y[at + j] * odds[j][1] - log1p_exp(odds[j][1]);
        c += d.y[at + j] * odds[j][2] - log1p_exp(odds[j][2]);
      }
      lp += log_sum_exp(log_sum_exp(a, b), c);
    }
    return lp;
  }
};

// A search for other modes finds images of the one that is known, and these are no others.
TEST(EqualModes, AreNoUnequalOnes) {
  const auto target = OwnTarget::of<ThreeClasses>("three_classes", [](Loader& at) {
    std::vector<double> y;
    for (int k = 0; k < 80; ++k)
      for (int j = 0; j < ThreeClasses::questions; ++j) {
        const double chance = k % 3 == 0 ? 0.8 : k % 3 == 1 ? 0.2 : j < 3 ? 0.85 : 0.15;
        y.push_back(std::fmod(std::abs(std::sin(12.9898 * k + 78.233 * j)) * 43758.5453, 1) < chance);
      }
    return ThreeClasses::Data{at.put("y", y)};
  });
  Options o;
  o.target = target.name(), o.device = "cpu", o.seed = 1, o.num_chains = 16;
  const Result r = run_quietly(o);
  EXPECT_EQ(status_of(r), 0) << r.summary.warmup_note;
  EXPECT_TRUE(r.summary.equal_modes.starts_with("6 equal ones")) << r.summary.equal_modes;
  EXPECT_EQ(r.summary.unequal_modes, "");
}

}  // namespace
}  // namespace kilochain
