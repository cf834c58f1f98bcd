// Every sampler leaves its law unchanged: exact draws, one step, and the histogram over all states is the law's still.
#include <gtest/gtest.h>

#include "tests/discrete/every_replica.hpp"

namespace kilochain::discrete {
namespace {

using namespace testing_support;

// About 90 chi-squares, each refused at p = 1e-4: a false alarm of 9e-3 for one seed; this seed gives none.
TEST(SpinSamplers, LeaveTheLawUnchanged) {
  constexpr std::uint64_t seed = 3;
  RecordProperty("seed", std::to_string(seed));
  every_replica([&](const std::string& name, const SpinModel& m, auto& replica) {
    const Enumeration all(m);
    if (name.starts_with("tempered")) return;  // its rungs start in one state: the law is of the ladder
    constexpr int draws = 20000;
    std::vector<double> counts(all.code.size());
    double moved = 0;
    for (int d = 0; d < draws; ++d) {
      const std::size_t from = all.draw(uniform(Rng{seed, 1, d}, Purpose::start));
      replica.assign(spins_of(all.code[from], m.n()));
      replica.step(Rng{seed, 0, 2 * d});
      const auto at = all.index.find(code_of(replica.spins()));
      ASSERT_NE(at, all.index.end()) << name << " left its set";
      ++counts[at->second];
      moved += at->second != from;
    }
    EXPECT_LT(chi_square_z(counts, all.probability, draws), 3.72) << name;
    EXPECT_GT(moved, draws / 20) << name;
  });
}

// Energy, count and spins of a board agree with the model's after many steps. Integers: exact; added up reals:
// rounding.
TEST(SpinSamplers, CountWhatTheSpinsSay) {
  every_replica([&](const std::string& name, const SpinModel& m, auto& replica) {
    const Enumeration all(m);
    replica.assign(spins_of(all.code[all.code.size() / 2], m.n()));
    for (int t = 0; t < 300; ++t) replica.step(Rng{5, 0, t});
    const Spins spins = replica.spins();
    const double scale = static_cast<double>(m.edges.size()) * 2 + 20;
    EXPECT_NEAR(replica.board().energy(), m.energy(spins.data()), 300 * 2.2e-16 * scale) << name;
    EXPECT_EQ(replica.board().up(), std::count(spins.begin(), spins.end(), 1)) << name;
  });
}

// One long run of each: the mean energy within 4.5 standard errors by 30 blocks (t of 29: 1e-4 a comparison).
TEST(SpinSamplers, RunsHaveTheEnumeratedLaw) {
  every_replica([&](const std::string& name, const SpinModel& m, auto& replica) {
    const Enumeration all(m);
    replica.assign(spins_of(all.code[0], m.n()));
    constexpr int blocks = 30, per_block = 150, thin = 4;
    std::vector<double> means;
    for (int b = 0, t = 0; b < blocks; ++b) {
      double sum = 0;
      for (int d = 0; d < per_block; ++d) {
        for (int k = 0; k < thin; ++k, ++t) replica.step(Rng{17, 0, t});
        sum += replica.board().energy();
      }
      means.push_back(sum / per_block);
    }
    double mean = 0, square = 0;
    for (const double e : means) mean += e / blocks;
    for (const double e : means) square += (e - mean) * (e - mean) / (blocks - 1.0) / blocks;
    EXPECT_LT(std::abs(mean - all.mean), 4.5 * std::sqrt(square) + 1e-12)
        << name << ": " << mean << " for " << all.mean;
  });
}

}  // namespace
}  // namespace kilochain::discrete
