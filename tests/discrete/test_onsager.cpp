// The free 2-D lattice against Onsager's energy (1944) and Yang's magnetization (1952), at three temperatures away from
// the critical one: on 64x64 the finite size changes them by less than exp(-64 / correlation length), below 1e-6.
#include <gtest/gtest.h>

#include "tests/discrete/every_replica.hpp"

namespace kilochain::discrete {
namespace {

using namespace testing_support;

double onsager_energy(double beta) {
  const double k = 2 * std::sinh(2 * beta) / std::pow(std::cosh(2 * beta), 2), t = std::tanh(2 * beta);
  return -(1 + 2 / M_PI * (2 * t * t - 1) * std::comp_ellint_1(k)) / t;
}
double yang_magnetization(double beta) {
  const double s = std::sinh(2 * beta);
  return s <= 1 ? 0 : std::pow(1 - std::pow(s, -4), 0.125);
}

// 40 blocks, 4.5 standard errors: 6e-5 a comparison, 18 of them.
template <class Sampler, class Board>
void compare(const std::string& name, const SpinModel& m, const typename Board::Model& view, int sweeps) {
  for (const double beta : {0.3, 0.38, 0.5}) {
    OneReplica<Sampler, Board> replica(m, view, {}, {1, beta, beta});
    replica.assign(Spins(static_cast<std::size_t>(m.n()), 1));
    constexpr int blocks = 40;
    double e = 0, e2 = 0, u = 0, u2 = 0;
    for (int t = 0; t < sweeps / 10; ++t) replica.step({21, 0, t});
    for (int b = 0; b < blocks; ++b) {
      double energy = 0, up = 0;
      for (int t = 0; t < sweeps / blocks; ++t) {
        replica.step({22, 0, b * (sweeps / blocks) + t});
        energy += replica.board().energy() / m.n() / (sweeps / blocks);
        up += (2.0 * static_cast<double>(replica.board().up()) / m.n() - 1) / (sweeps / blocks);
      }
      e += energy / blocks, e2 += energy * energy / blocks, u += up / blocks, u2 += up * up / blocks;
    }
    EXPECT_LT(std::abs(e - onsager_energy(beta)), 4.5 * std::sqrt((e2 - e * e) / (blocks - 1))) << name << " " << beta;
    EXPECT_LT(std::abs(u - yang_magnetization(beta)), 4.5 * std::sqrt((u2 - u * u) / (blocks - 1)))
        << name << " " << beta;
  }
}

TEST(FreeLattice, HasOnsagersEnergyAndYangsMagnetization) {
  const SpinModel m = torus("64x64", 1, {});
  const Context context = cpu_context(1);
  SpinArrays a(context, m);
  compare<Metropolis<PackedLattice>, PackedLattice>("metropolis, words", m, *a.packed(), 12000);
  using Board = ClassSpins<std::uint16_t>;
  compare<Gibbs<Board>, Board>("gibbs", m, {*a.class_graph<std::uint16_t>(), a.colours()}, 1200);
  compare<Metropolis<Board>, Board>("metropolis, classes", m, {*a.class_graph<std::uint16_t>(), a.colours()}, 1200);
}

// Words do what spins do one at a time: sizes about those of words, against the energy and count of the spins
// themselves.
TEST(FreeLattice, CountsItsWords) {
  const Context context = cpu_context(1);
  for (const char* size : {"4x4", "4x6", "6x4", "4x128", "130x4", "32x32", "34x30", "66x62", "256x8", "60x60"})
    for (const double J : {0.3, -0.3}) {
      const SpinModel m = torus(size, 1, {}, J);
      SpinArrays a(context, m);
      OneReplica<Metropolis<PackedLattice>, PackedLattice> replica(m, *a.packed(), {});
      Spins spins(static_cast<std::size_t>(m.n()));
      for (std::size_t i = 0; i < spins.size(); ++i)
        spins[i] = uniform(Rng{2, 0, 0}, Purpose::start, static_cast<std::uint32_t>(i)) < 0.5 ? 1 : -1;
      replica.assign(spins);
      ASSERT_EQ(replica.spins(), spins) << size;
      for (int t = 0; t < 20; ++t) {
        ASSERT_NEAR(replica.board().energy(), m.energy(replica.spins().data()), 1e-9) << size << " " << t;
        spins = replica.spins();
        ASSERT_EQ(replica.board().up(), std::count(spins.begin(), spins.end(), 1)) << size;
        replica.step({6, 0, t});
      }
    }
}

}  // namespace
}  // namespace kilochain::discrete
