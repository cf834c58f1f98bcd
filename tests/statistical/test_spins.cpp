// Enumerated spin models at many flips that each sampler asks for, 2 10^7, nightly 10^8 (KILOCHAIN_FLIPS): the mean
// energy within 4 standard errors, by 100 blocks (t of 99: 1.2e-4 a comparison; 26 of them). Longer than the unit tests
// by a factor of hundreds: what biases there are, show.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/discrete/every_replica.hpp"

namespace kilochain::discrete {
namespace {

using namespace testing_support;

const double flips_wanted = std::getenv("KILOCHAIN_FLIPS") ? std::atof(std::getenv("KILOCHAIN_FLIPS")) : 2e7;

const WalkSettings walks{WalkPreset::own, 1, 6, 0, 0.88};

template <template <class> class Sampler, class Board, class Settings>
void run(const std::string& name, const SpinModel& m, const typename Board::Model& view, Settings settings,
         Rungs rungs = {0, 0, 0}) {
  if (rungs.count == 0) rungs = {1, m.beta, m.beta};
  Sampler<Board>::resolve(settings, {m.n(), m.hamming.value_or(0), m.hamming.has_value(), m.expert.c_str()});
  const Enumeration all(m);
  OneReplica<Sampler<Board>, Board> replica(m, view, settings, rungs);
  replica.assign(spins_of(all.code[0], m.n()));
  double asked = 0;  // flips that a step asks for
  constexpr int trial = 2000, blocks = 100;
  for (int t = 0; t < trial; ++t) {
    const Info info = replica.step({1, 0, t});
    if (rungs.count > 1)
      asked += walks.walk_min + walks.walk_max;
    else if (Sampler<Board>::num_stats == 3)
      asked += info.stats[2];
    else
      asked += std::is_same_v<Sampler<Board>, GibbsWithGradients<Board>> ? 2 : m.n();
  }
  const auto per_block = static_cast<std::int64_t>(flips_wanted / (asked / trial) / blocks / rungs.count);
  double sum = 0, squares = 0;
  for (std::int64_t b = 0, t = trial; b < blocks; ++b) {
    double energy = 0;
    for (std::int64_t k = 0; k < per_block; ++k) {
      replica.step({1, 0, t++});
      energy += replica.board().energy();
    }
    energy /= static_cast<double>(per_block);
    sum += energy, squares += energy * energy;
  }
  const double mean = sum / blocks, error = std::sqrt((squares / blocks - mean * mean) / (blocks - 1));
  std::printf("%s: mean energy %.6f, enumerated %.6f, z %.2f\n", name.c_str(), mean, all.mean,
              (mean - all.mean) / error);
  EXPECT_LT(std::abs(mean - all.mean), 4 * error) << name;
}

/// After all these flips the means hold: on graphs of one +-J,
TEST(SpinModels, MeansOfSlicesByClasses) {
  const Context context = cpu_context(1);
  using Classes = ClassBoard<MemberBits>;
  using Lists = ClassBoard<MemberLists<std::uint16_t>>;
  using Sweep = ClassSpins<std::uint16_t>;
  for (const auto& [name, m] : {std::pair<std::string, SpinModel>{"4x4 torus", torus("4x4", 1 / 2.27, 8)},
                                {"4x2x2 torus", torus("4x2x2", 0.3, 6)},
                                {"glass of 16", glass(16, false, 0.8, 7)}}) {
    SpinArrays a(context, m);
    const auto classes = *a.class_graph<std::uint16_t>();
    run<Intracluster, Classes>("intracluster, " + name, m, classes, walks);
    run<Intracluster, Lists>("intracluster from lists, " + name, m, classes, walks);
    run<Intracluster, Classes>("kawasaki, " + name, m, classes, WalkSettings{WalkPreset::kawasaki, 1, 1, 0, 0});
    run<GibbsWithGradients, Classes>("gibbs_with_gradients, " + name, m, classes, GradientSettings{});
    run<Intracluster, Classes>("tempered, " + name, m, classes, walks, {3, m.beta, m.beta / 2});
    run<Dmala, Sweep>("dmala, " + name, m, {classes, a.colours()}, DmalaSettings{2, true});
  }
}

/// of real weights,
TEST(SpinModels, MeansOfSlicesByWeights) {
  const Context context = cpu_context(1);
  for (const bool biases : {true, false}) {
    const SpinModel m = small_rbm(biases, 5);
    SpinArrays a(context, m);
    run<Intracluster, DenseBoard>("intracluster, RBM", m, a.layers(), WalkSettings{WalkPreset::own, 1, 4, 0, 1.2});
  }
  {
    const SpinModel m = glass(14, true, 0.6, 7);
    SpinArrays a(context, m);
    run<Intracluster, TreeBoard>("intracluster, real glass", m, a.graph(), walks);
  }
}

/// and of free models.
TEST(SpinModels, MeansOfFreeModels) {
  const Context context = cpu_context(1);
  using Sweep = ClassSpins<std::uint16_t>;
  const SpinModel m = torus("4x4", 0.3, {});
  SpinArrays a(context, m);
  run<Metropolis, PackedLattice>("metropolis in words, free 4x4", m, *a.packed(), SweepSettings{});
  run<Gibbs, Sweep>("gibbs, free 4x4", m, {*a.class_graph<std::uint16_t>(), a.colours()}, SweepSettings{});
  for (const char* size : {"1x4", "3x3"}) {  // ties that are always taken close classes of the first
    const SpinModel small = torus(size, 0.2, {});
    SpinArrays of_small(context, small);
    run<Metropolis, Sweep>(std::string("metropolis, free ") + size, small,
                           {*of_small.class_graph<std::uint16_t>(), of_small.colours()}, SweepSettings{});
  }
  const SpinModel real = glass(12, true, 0.6, {});
  SpinArrays of_real(context, real);
  run<Metropolis, GraphSpins>("metropolis, free real glass", real, {of_real.graph(), of_real.colours()},
                              SweepSettings{});
  const SpinModel rbm = small_rbm(true, {});
  SpinArrays of_rbm(context, rbm);
  run<Gibbs, LayerSpins>("gibbs, free RBM", rbm, of_rbm.layers(), SweepSettings{});
  run<Metropolis, LayerSpins>("metropolis, free RBM", rbm, of_rbm.layers(), SweepSettings{});
}

}  // namespace
}  // namespace kilochain::discrete
