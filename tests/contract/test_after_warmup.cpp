// Kept draws follow from where chains stand when warm-up ends and from what they have learnt, and from nothing else:
// they are those of chains that are started there. A product of the factor with something that a chain carries from
// before the last change of the factor, for one, would make another proposal than the way back assumes, so that the law
// is not kept.
#include <gtest/gtest.h>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/adaptive_metropolis.hpp"
#include "kernels/samplers/adaptive_metropolis_haario.hpp"
#include "kernels/samplers/adaptive_proposal.hpp"
#include "kernels/samplers/barker.hpp"
#include "kernels/samplers/chees_hmc.hpp"
#include "kernels/samplers/cma.hpp"
#include "kernels/samplers/entropy_hmc.hpp"
#include "kernels/samplers/fisher_mala.hpp"
#include "kernels/samplers/gad_mala_exact.hpp"
#include "kernels/samplers/gad_mala_fast.hpp"
#include "kernels/samplers/gad_mala_low_rank.hpp"
#include "kernels/samplers/gad_rwm.hpp"
#include "kernels/samplers/gaussian_adaptation.hpp"
#include "kernels/samplers/hmc.hpp"
#include "kernels/samplers/mala.hpp"
#include "kernels/samplers/mams.hpp"
#include "kernels/samplers/nuts.hpp"
#include "kernels/samplers/rwm.hpp"
#include "kernels/samplers/tempered_mala.hpp"
#include "tests/support/chains.hpp"

namespace kilochain::testing_support {
namespace {

template <class Move>
class AfterWarmup : public ::testing::Test {};
using EveryMove = ::testing::Types<Rwm<double>, Mala<double>, Barker<double>, GadRwm<double>, GadMalaFast<double>,
                                   GadMalaExact<double>, GadMalaLowRank<double>, FisherMala<double>, CheesHmc<double>,
                                   Mams<double>, EntropyHmc<double>, TemperedMala<double>, Hmc<double>, Nuts<double>,
                                   AdaptiveMetropolis<double>, AdaptiveProposal<double>,
                                   AdaptiveMetropolisHaario<double>, GaussianAdaptation<double>, Cma<double>>;
TYPED_TEST_SUITE(AfterWarmup, EveryMove);

TYPED_TEST(AfterWarmup, NothingOfTheLastAdaptationIsLeft) {
  const Context context = cpu_context(1);
  constexpr Index chains = 5, n = 7;
  constexpr std::int64_t W = 12, kept = 4;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "7"}, {"means", "0.5"}});
  for (const Scope scope : {Scope::chain, Scope::pooled}) {
    typename TypeParam::Settings settings;
    TypeParam::resolve(settings, scope);
    CpuChains<TypeParam, double> through(context, chains, n, scope, settings),
        anew(context, chains, n, scope, settings);
    start_at<double>(context, *target, through, chains, normal_points<double>(chains, n, 8));
    run_phase<double>(context, *target, through, chains, scope, Phase{0, W, W, true, 9});
    anew.load(through.save());
    start_at<double>(context, *target, anew, chains, through.positions());
    for (Index c = 0; c < chains; ++c) anew.view().control[c].iteration = W;
    Recorded<double> a(chains, n, kept), b(chains, n, kept);
    run_phase<double>(context, *target, through, chains, scope, Phase{W, kept, W, false, 9}, &a);
    run_phase<double>(context, *target, anew, chains, scope, Phase{W, kept, W, false, 9}, &b);
    EXPECT_EQ(a.draws, b.draws) << name_of(scope);
    EXPECT_EQ(a.acceptance_rate, b.acceptance_rate) << name_of(scope);
  }
}

}  // namespace
}  // namespace kilochain::testing_support
