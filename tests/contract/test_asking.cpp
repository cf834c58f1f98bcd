// What a sampler asks for is what it says it asks for: a target is told the most of each phase, hears of nothing more,
// and may leave the rest undone. A sampler that lacks a member of the contract, or misspells one, does not compile.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "kernels/sampler_concept.hpp"
#include "kernels/samplers/barker.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/chains.hpp"

namespace kilochain::testing_support {
namespace {

/// A standard normal that does what exchange.most allows and no more, as a target of many chains may: what it leaves
/// out is NaN. It records what it was told and asked.
class Frugal : public Target<double> {
 public:
  explicit Frugal(Index dim) { info_.dim = dim; }
  void evaluate(const Exchange<double>& e, Index first, Index last) override {
    told.insert(e.most);
    for (Index c = first; c < last; ++c) {
      asked = std::max(asked, e.needs[c]);
      if (e.needs[c] == Needs::nothing) continue;
      EXPECT_LE(e.needs[c], e.most) << "asked for more than the target was told";
      const auto query = e.query(c);
      const auto reply = e.reply(c);
      const bool product = e.needs[c] == Needs::hessian_vector;
      if (!product) *reply.lp = 0;
      for (Index i = 0; i < info_.dim; ++i) {
        const double x = query.point[i], nan = std::numeric_limits<double>::quiet_NaN();
        if (product) {
          reply.hessian_vector[i] = -query.direction[i];
        } else {
          *reply.lp -= 0.5 * x * x;
          reply.gradient[i] = e.most >= Needs::gradient ? -x : nan;
          if (e.most < Needs::hessian_vector) reply.hessian_vector[i] = nan;
        }
      }
    }
  }
  std::set<Needs> told;
  Needs asked = Needs::nothing;
};

class EverySamplerAsks : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySamplerAsks, ForNoMoreAndNoLessThanItSaysInEachPhase) {
  const SamplerEntry& entry = find_sampler(GetParam());
  const Index chains = 16, n = 3;
  for (const Scope scope : {Scope::chain, Scope::pooled}) {
    Frugal target(n);
    const auto sampler = make_chains<double>(context, GetParam(), {}, chains, n, scope);
    const auto begins = [&] { target.told.clear(), target.asked = Needs::nothing; };
    const auto expect = [&](Needs needs, const char* phase) {
      EXPECT_EQ(target.told, std::set<Needs>{needs}) << phase;
      EXPECT_EQ(target.asked, needs) << phase << ": it says that it asks for more than it does";
    };
    start_at<double>(context, target, *sampler, chains, normal_points<double>(chains, n, 8));
    expect(entry.needs.start, "start");
    begins();
    Recorded<double> warm(chains, n, 100), kept(chains, n, 100);
    run_phase<double>(context, target, *sampler, chains, scope, Phase{0, 100, 100, true, 9}, &warm);
    expect(entry.needs.warmup, "warm-up");
    begins();
    run_phase<double>(context, target, *sampler, chains, scope, Phase{100, 100, 100, false, 9}, &kept);
    expect(entry.needs.sampling, "sampling");
    for (const double v : kept.draws) ASSERT_TRUE(std::isfinite(v)) << "it learnt from what the target left out";
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySamplerAsks, ::testing::ValuesIn(sampler_names()),
                         [](const auto& p) { return p.param; });

// Each has one member of Barker's misspelt, or of another type.
using Good = Barker<double>;
struct AboutMisspelt {
  static constexpr About abuot = Good::about;
};
struct StateWithoutPosition : Good {
  struct State {
    Row<double> x;
  };
};
struct StateTableMisspelt : Good {
  template <class V>
  static void state(V&& visit, Settings&) = delete;
};
struct ProposeLacksItsSchedule : Good {
  template <class Team>
  static void propose(const Team&, const Rng&, const Settings&, const Adaptation&, State&, const Query<double>&, Index);
};
struct UpdateReturnsNothing : Good {
  template <class Team>
  static void update(const Team&, const Rng&, const Settings&, const Schedule&, const Adaptation&, State&,
                     const Query<double>&, const Reply<double>&, Info&, Index);
};
struct SignalOfFloats : Good {
  static Signal<float> signal(const Settings&, const State&, double);
};
struct FactorWithoutTable : Good {
  static constexpr Moves moves = Moves::by_factor;
};
static_assert(SamplerOf<Good, double>);
static_assert(!DescribesItself<AboutMisspelt>);
static_assert(!SamplerOf<FactorWithoutTable, double>);
static_assert(!HasState<StateWithoutPosition, double> && !HasState<StateTableMisspelt, double>);
static_assert(!Proposes<ProposeLacksItsSchedule, double>);
static_assert(!Updates<UpdateReturnsNothing, double>);
static_assert(!Adapts<SignalOfFloats, double>);

// A fact that is left out has no default to fall back to.
template <class T>
concept NeedsNothingStated = requires {
  T{.start = Needs::value, .sampling = Needs::value};
};
static_assert(!NeedsNothingStated<NeedsByPhase>);
static_assert(!std::default_initializable<About>);

// A number is no row: it cannot be filled with normals, and a row of one coordinate has room for a whole register.
template <class T>
concept FillsWithNormals = requires(T field, const Rng& rng) {
  normals(HostTeam{}, rng, Purpose::proposal, field, Index{1});
};
static_assert(FillsWithNormals<Row<double>> && !FillsWithNormals<Scalar<double>> && !FillsWithNormals<Numbers<double>>);
static_assert(padded(1) == 32 && padded(32) == 32 && padded(33) == 64);

}  // namespace
}  // namespace kilochain::testing_support
