// What the contract asks of every registered sampler: settings are checked and documented, densities that turn
// non-finite are rejections, chains that cannot go on are quarantined alone, statistics are recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/sampler_concept.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/chains.hpp"

namespace kilochain::testing_support {
namespace {

/// Has neither signal nor adapt, which what does not adapt need not define.
template <bool adapts>
struct WithoutSignal {
  struct About {
    bool adaptive;
  };
  static constexpr About about = {adapts};
};
static_assert(Adapts<WithoutSignal<false>, double> && !Adapts<WithoutSignal<true>, double>);

/// A standard normal with a defect, for tests. The defect sees the point and may spoil value and gradient.
class Spoiled : public Target<double> {
 public:
  using Defect = std::function<void(const double* x, Index n, double& lp, double* gradient)>;
  Spoiled(Index dim, Defect defect) : defect_(std::move(defect)) { info_.dim = dim; }
  void evaluate(const Exchange<double>& e, Index first, Index last) override {
    for (Index c = first; c < last; ++c) {
      if (e.needs[c] == Needs::nothing) continue;
      const auto query = e.query(c);
      const auto reply = e.reply(c);
      if (e.needs[c] == Needs::hessian_vector) {
        for (Index i = 0; i < info_.dim; ++i) reply.hessian_vector[i] = -query.direction[i];
        continue;
      }
      *reply.lp = 0;
      for (Index i = 0; i < info_.dim; ++i) {
        *reply.lp -= 0.5 * query.point[i] * query.point[i];
        reply.gradient[i] = -query.point[i];
      }
      defect_(query.point, info_.dim, *reply.lp, reply.gradient);
    }
  }

 private:
  Defect defect_;
};

class EverySampler : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySampler, RefusesBadSettings) {
  const SamplerEntry& entry = find_sampler(GetParam());
  EXPECT_FALSE(entry.meaning.empty());
  const auto refused = [&](const SettingInfo& setting, const std::string& text, const std::string& part) {
    for (const bool wide : {false, true}) {
      try {
        if (wide)
          make_chains<double>(context, entry.name, {{setting.name, text}}, 1, 2, Scope::chain);
        else
          make_chains<float>(context, entry.name, {{setting.name, text}}, 1, 2, Scope::chain);
        ADD_FAILURE() << setting.name << " = " << text << " was not refused";
      } catch (const Error& e) {
        EXPECT_EQ(e.status(), ExitStatus::usage);
        const std::string head = entry.name + ": " + setting.name + " = " + text + " (";
        EXPECT_EQ(std::string(e.what()).substr(0, head.size()), head);
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
        EXPECT_EQ(std::string(e.what()).back(), '?') << "says how to fix it: " << e.what();
      }
    }
  };
  for (const SettingInfo& s : entry.settings) {
    EXPECT_FALSE(s.meaning.empty()) << s.name;
    if (s.type == "number" || s.type == "integer") {
      refused(s, "many", "not a number");
      refused(s, "", "not a number");
      refused(s, "nan", "");
      refused(s, "inf", "");
      if (s.range.find('>') != std::string::npos) refused(s, "-1", s.range);
      if (s.range.find('<') != std::string::npos) refused(s, "100000000", s.range);
      if (s.type == "integer") refused(s, "1.5", "not a whole number");
    } else if (s.type == "yes/no") {
      refused(s, "perhaps", "must be yes or no");
    } else if (s.type != "text") {
      refused(s, "nonesuch", "must be one of " + s.type);
    }
    // The default is a value that the setting itself takes.
    EXPECT_NO_THROW(make_chains<double>(context, entry.name, {{s.name, s.default_value}}, 1, 2, Scope::chain))
        << s.name;
  }
}

TEST_P(EverySampler, NonFiniteRepliesAreRejections) {
  // Outside |x_i| <= 2 the density is zero, or not a number, or the gradient is spoiled as well.
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto outside = [](const double* x, Index n) {
    for (Index i = 0; i < n; ++i)
      if (!(std::abs(x[i]) <= 2)) return true;
    return false;
  };
  const Spoiled::Defect defects[] = {
      [&](const double* x, Index n, double& lp, double*) {
        if (outside(x, n)) lp = -inf;
      },
      [&](const double* x, Index n, double& lp, double*) {
        if (outside(x, n)) lp = nan;
      },
      [&](const double* x, Index n, double& lp, double* g) {
        if (outside(x, n)) lp = inf, g[0] = nan;
      },
      [&](const double* x, Index n, double& lp, double* g) {
        if (outside(x, n)) lp = -inf, g[n - 1] = inf;
      },
  };
  const bool adaptive = find_sampler(GetParam()).adaptive;
  const Index chains = 8, n = 3;
  for (const auto& defect : defects)
    for (const Scope scope : {Scope::chain, Scope::pooled}) {
      Spoiled target(n, defect);
      const auto sampler = make_chains<double>(context, GetParam(), {}, chains, n, scope);
      std::vector<double> x = normal_points<double>(chains, n, 8);
      for (double& v : x) v = std::max(-1.9, std::min(1.9, v));
      start_at<double>(context, target, *sampler, chains, x);
      Recorded<double> warm(chains, n, 400), kept(chains, n, 200);
      run_phase<double>(context, target, *sampler, chains, scope, Phase{0, 400, 400, adaptive, 9}, &warm);
      run_phase<double>(context, target, *sampler, chains, scope, Phase{400, 200, 400, false, 9}, &kept);
      for (const auto& c : sampler->controls()) {
        EXPECT_EQ(c.status, ChainStatus::running);
        EXPECT_EQ(c.iteration, 600);
      }
      for (const Recorded<double>* r : {&warm, &kept}) {
        for (const double v : r->draws) ASSERT_LE(std::abs(v), 2) << "left the region where the density is not zero";
        for (const double v : r->lp) ASSERT_TRUE(std::isfinite(v));
        for (const float v : r->acceptance_rate) ASSERT_TRUE(v >= 0 && v <= 1);
      }
      double moved = 0;
      for (Index c = 0; c < chains; ++c) moved += kept.draw(c, 0)[0] != kept.draw(c, 199)[0];
      EXPECT_GT(moved, 0) << "adaptation was spoiled: nothing moves any more";
    }
}

TEST_P(EverySampler, ChainsWithoutDensityAtTheStartAreQuarantinedAlone) {
  const SamplerEntry& entry = find_sampler(GetParam());
  const Index chains = 5, n = 2;
  for (const Scope scope : {Scope::chain, Scope::pooled}) {
    Spoiled target(n, [](const double* x, Index, double& lp, double* g) {
      if (x[0] > 100) lp = -std::numeric_limits<double>::infinity();
      if (x[0] < -100) g[0] = std::numeric_limits<double>::quiet_NaN();
    });
    const auto run = [&](const std::vector<double>& x, Recorded<double>& out) {
      auto sampler = make_chains<double>(context, GetParam(), {}, chains, n, scope);
      start_at<double>(context, target, *sampler, chains, x);
      run_phase<double>(context, target, *sampler, chains, scope, Phase{0, 20, 20, entry.adaptive, 9}, &out);
      return sampler->controls();
    };
    std::vector<double> x = normal_points<double>(chains, n, 8);
    Recorded<double> healthy(chains, n, 20), got(chains, n, 20);
    run(x, healthy);
    x[2] = 200, x[6] = -200;  // chains 1 and 3
    const auto controls = run(x, got);
    EXPECT_EQ(controls[1].status, ChainStatus::start_zero_density);
    EXPECT_EQ(controls[1].iteration, 0);
    // A sampler that starts without gradients has no quarrel with chain 3.
    EXPECT_EQ(controls[3].status,
              entry.needs.start == Needs::gradient ? ChainStatus::start_gradient : ChainStatus::running);
    for (const Index c : {0, 2, 4}) {
      EXPECT_EQ(controls[static_cast<std::size_t>(c)].status, ChainStatus::running);
      EXPECT_EQ(controls[static_cast<std::size_t>(c)].iteration, 20);
      for (std::int64_t t = 0; t < 20 && scope == Scope::chain; ++t)
        EXPECT_EQ(got.draw(c, t)[0], healthy.draw(c, t)[0]) << "a quarantined neighbour changed chain " << c;
    }
    for (const double v : got.draws) ASSERT_TRUE(std::isfinite(v));
  }
}

TEST_P(EverySampler, StatisticsAreRecorded) {
  const SamplerEntry& entry = find_sampler(GetParam());
  const Index chains = 3, n = 4;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "4"}});
  const auto sampler = make_chains<double>(context, GetParam(), {}, chains, n, Scope::chain);
  start_at(context, *target, *sampler, chains, normal_points<double>(chains, n, 8));
  Recorded<double> out(chains, n, 50);
  run_phase(context, *target, *sampler, chains, Scope::chain, Phase{0, 50, 50, entry.adaptive, 9}, &out);
  ASSERT_LE(entry.stats.size(), static_cast<std::size_t>(Info::max_stats));
  for (std::size_t s = 0; s < entry.stats.size(); ++s)
    for (Index c = 0; c < chains; ++c)
      for (std::int64_t t = 0; t < 50; ++t) {
        const float v = out.stat(static_cast<int>(s), c, t);
        EXPECT_TRUE(std::isfinite(v)) << entry.stats[s];
        if (entry.stats[s] == "step_size" || entry.stats[s] == "n_steps") {
          EXPECT_GT(v, 0);
        }
      }
  // lp is that of the recorded draw.
  std::vector<double> gradient(32), product(32), direction(32);
  double lp = 0, accepted = 0;
  for (Index c = 0; c < chains; ++c) {
    std::vector<double> x(32);
    std::copy_n(out.draw(c, 49), n, x.begin());
    Needs needs = Needs::value;
    target->evaluate({x.data(), direction.data(), gradient.data(), product.data(), &lp, &accepted, &needs, 32}, 0, 1);
    EXPECT_EQ(lp, out.lp[static_cast<std::size_t>(c * 50 + 49)]);
  }
}

TEST_P(EverySampler, SaysWhatItSteersItsAcceptanceTo) {
  const SamplerEntry& entry = find_sampler(GetParam());
  const auto row = std::find_if(entry.settings.begin(), entry.settings.end(),
                                [](const SettingInfo& info) { return info.name == "target_accept"; });
  if (row == entry.settings.end()) {
    EXPECT_TRUE(std::isnan(entry.target_accept({})));
    return;
  }
  EXPECT_EQ(entry.target_accept({}), std::stod(row->default_value));
  EXPECT_EQ(entry.target_accept({{"target_accept", "0.375"}}), 0.375);
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySampler, ::testing::ValuesIn(sampler_names()),
                         [](const auto& p) { return p.param; });

/// Chain 0 stands where the gradient is so steep that every proposal with it overflows.
Spoiled steep_at_six() {
  return Spoiled(2, [](const double* x, Index, double& lp, double* g) {
    lp = 0;
    if (x[0] == 6) g[0] = 1e305;
  });
}

TEST(NonFiniteProposal, IsARejection) {
  const std::pair<std::string, SettingTexts> cases[] = {{"mala", {{"initial_variance", "1e10"}}},
                                                        {"gad_mala_fast", {{"initial_scale", "200"}}},
                                                        {"gad_mala_exact", {{"initial_scale", "200"}}},
                                                        {"nuts", {{"step_size", "1e10"}}},
                                                        {"hmc", {{"step_size", "1e10"}}}};
  for (const auto& [name, settings] : cases)
    for (const bool adapting : {false, true}) {
      SCOPED_TRACE(name + (adapting ? ", adapting" : ""));
      Spoiled steep = steep_at_six();
      const auto sampler = make_chains<double>(context, name, settings, 2, 2, Scope::chain);
      start_at<double>(context, steep, *sampler, 2, {6, 0, 0, 0});
      Recorded<double> out(2, 2, 5);
      run_phase<double>(context, steep, *sampler, 2, Scope::chain, Phase{0, 5, 5, adapting, 9}, &out);
      for (const ChainControl& c : sampler->controls()) {
        EXPECT_EQ(c.status, ChainStatus::running);
        EXPECT_EQ(c.iteration, 5);
      }
      EXPECT_EQ(out.draw(0, 0)[0], 6) << "stands where it was";
      EXPECT_EQ(out.acceptance_rate[0], 0);
      EXPECT_EQ(out.diverging[0], 1) << "and is counted";
    }
}

TEST(Quarantine, AStateThatIsLost) {
  Spoiled target(2, [](const double* x, Index, double&, double* g) {
    if (x[0] == 6) g[1] = 1e308;
  });
  // L^T g of the start overflows, and is part of the chain's state.
  const auto sampler = make_chains<double>(context, "gad_mala_fast", {{"initial_scale", "1e10"}}, 2, 2, Scope::chain);
  start_at<double>(context, target, *sampler, 2, {6, 0, 0, 0});
  Recorded<double> out(2, 2, 5);
  run_phase<double>(context, target, *sampler, 2, Scope::chain, Phase{0, 5, 5, false, 9}, &out);
  EXPECT_EQ(sampler->controls()[0].status, ChainStatus::proposal);
  EXPECT_EQ(sampler->controls()[0].iteration, 0);
  EXPECT_EQ(sampler->controls()[1].status, ChainStatus::running);
  EXPECT_EQ(sampler->positions()[0], 6) << "stands where it was";
  EXPECT_STREQ(quarantine_reason(ChainStatus::proposal), "its own state, or what it has learnt, is no longer finite");
}

}  // namespace
}  // namespace kilochain::testing_support
