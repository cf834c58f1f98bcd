// Spin models against known enumerations, against themselves turned, and what they refuse.
#include <gtest/gtest.h>

#include "targets/discrete/spin_glass.hpp"
#include "tests/discrete/small_models.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain::discrete {
namespace {

using namespace testing_support;
using kilochain::testing_support::ScratchFiles;

void expect_law(const SpinModel& m, std::size_t states, double mean, double variance) {
  const Enumeration all(m);
  EXPECT_EQ(all.code.size(), states);
  EXPECT_NEAR(all.mean, mean, 1e-10);
  EXPECT_NEAR(all.variance, variance, 1e-9);
}

// Means and variances that independent programs enumerated: agreement is better than 1e-10 there.
TEST(SpinModels, AreTheEnumeratedOnes) {
  const double beta = 1 / 2.27;
  expect_law(torus("4x4", beta, 8), 12870, -7.8741373998523905, 22.481585834097054);
  expect_law(torus("4x4", beta, {}), 65536, -25.03976864626712, 64.6040022768226);
  expect_law(small_rbm(true, 5), 252, -0.8979636161305368, 0.7658442466927852);
  expect_law(small_rbm(false, 5), 252, -0.3189632984563697, 0.7688943671134522);
  expect_law(small_rbm(true, {}), 1024, -0.7811263766264384, 0.7386785810613116);
  expect_law(small_rbm(false, {}), 1024, -0.22737108747493312, 0.6944505706721911);
}

// Turned to its reference a model has the same energies: T_i = -r_i S_i.
TEST(SpinModels, KeepTheirEnergiesWhenTurned) {
  for (SpinModel m : {torus("3x3", 1, {}, -1, 0.3), glass(9, true, 1, {}), small_rbm(true, {})}) {
    for (std::size_t i = 0; i < m.reference.size(); i += 2) m.reference[i] = 1;
    const SpinModel turned = m.turned();
    for (std::uint32_t code = 0; code < std::uint32_t(1) << m.n(); code += 7) {
      const Spins spins = spins_of(code, m.n());
      Spins there = spins;
      for (std::size_t i = 0; i < spins.size(); ++i) there[i] = static_cast<std::int8_t>(-m.reference[i] * spins[i]);
      ASSERT_NEAR(turned.energy(there.data()), m.energy(spins.data()), 1e-12);
    }
  }
}

TEST(SpinModels, HaveEachEdgeOfALatticeOnce) {
  const auto edges = [](const std::string& size) { return torus(size, 1, {}).edges.size(); };
  EXPECT_EQ(edges("4x4"), 32u);
  EXPECT_EQ(edges("9x9x9"), 2187u);
  EXPECT_EQ(edges("2x2"), 4u);
  EXPECT_EQ(edges("1x5"), 5u);
  EXPECT_EQ(edges("1"), 0u);
  EXPECT_EQ(edges("2x1x3"), 9u);
}

// A flip changes the energy by 2 v, and v of the flipped spin its sign.
TEST(SpinModels, CostTwiceTheirValueToFlip) {
  for (const SpinModel& m : {torus("3x4", 1, {}, 0.7, 0.2), glass(8, true, 1, {}), small_rbm(true, {})})
    for (Index i = 0; i < m.n(); ++i) {
      Spins spins = spins_of(0x2d5, m.n());
      const auto at = static_cast<std::size_t>(i);
      const double before = m.energy(spins.data()), v = m.local_fields(spins.data())[at] * spins[at];
      spins[at] = static_cast<std::int8_t>(-spins[at]);
      EXPECT_NEAR(m.energy(spins.data()) - before, 2 * v, 1e-12);
      EXPECT_NEAR(m.local_fields(spins.data())[at] * spins[at], -v, 1e-12);
    }
}

template <class F>
void refuses(F&& f, ExitStatus status, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "not refused: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

TEST(SpinModels, RefuseBadCouplings) {
  ScratchFiles files;
  const auto glass_of = [&](const std::string& rows) {
    SpinGlass::Settings s;
    s.couplings = files.write("edges.csv", "i,j,J\n" + rows);
    return SpinGlass::read(s);
  };
  const std::string path = files.path("edges.csv");
  EXPECT_EQ(glass_of("0,1,1\n1,2,-1\n").n(), 3);
  refuses([&] { glass_of("0,1,1\n-1,2,1\n"); }, ExitStatus::data,
          path + ": a coupling names a node out of range (line 3: i = -1, j = 2). Number the nodes 0, 1, 2, ...?");
  refuses([&] { glass_of("0,1.5,1\n"); }, ExitStatus::data,
          path + ": a coupling names a node out of range (line 2: i = 0, j = 1.5). Number the nodes 0, 1, 2, ...?");
  refuses([&] { glass_of("0,1,1\n1,0,2\n"); }, ExitStatus::data,
          path +
              ": the couplings are not symmetric (line 3: i = 1, j = 0, J = 2; line 2 has J = 1). Write each edge "
              "once, in one direction?");
  refuses([&] { glass_of("0,1,1\n0,1,1\n"); }, ExitStatus::data,
          path +
              ": an edge is given twice (line 3: i = 0, j = 1, J = 1; line 2 has J = 1). Write each edge once, in one "
              "direction?");
  refuses(
      [&] { glass_of("2,2,1\n"); }, ExitStatus::data,
      path + ": a node is coupled to itself (line 2: i = 2, j = 2). Remove the line? It would only add a constant.");
  refuses([&] { glass_of("0,1,nan\n"); }, ExitStatus::data,
          path + ": \"nan\" is not a finite number (line 2, column 3 \"J\"). Remove the row or write a number?");
  files.write("edges.csv", "a,b,c\n0,1,1\n");
  refuses(
      [&] {
        SpinGlass::Settings s;
        s.couplings = path;
        SpinGlass::read(s);
      },
      ExitStatus::data,
      path +
          ": not a table of couplings (columns a, b, c, expected i, j, J). Begin with the line i,j,J, then an edge "
          "a line?");
  refuses([] { SpinGlass::read({}); }, ExitStatus::usage,
          "spin_glass: no couplings (couplings is not set). Give a CSV file with the columns i,j,J: --couplings FILE?");
  Ising::Settings s;
  s.size = "3x3";
  s.couplings = files.write("edges.csv", "i,j,J\n0,9,1\n");
  refuses([&] { Ising::read(s); }, ExitStatus::data,
          path + ": a coupling names a node out of range (line 2: i = 0, j = 9). Nodes are 0 to 8: is the size right?");
  files.write("edges.csv", "i,j,J\n0,4,1\n");
  refuses([&] { Ising::read(s); }, ExitStatus::data,
          path +
              ": an edge is none of the lattice's (line 2: 0 and 4 are no neighbours on 3x3). Is the size right? "
              "--target spin_glass takes any graph.");
  files.write("edges.csv", "i,j,J\n0,1,1\n");
  refuses([&] { Ising::read(s); }, ExitStatus::data,
          path + ": edges are missing (1 edges, the lattice 3x3 has 18). Write J = 0 where there is none?");
}

TEST(SpinModels, RefuseBadSizesSlicesAndReferences) {
  ScratchFiles files;
  for (const std::string size : {"", "x4", "4x", "4y4", "0x4", "4x-4"})
    refuses([&] { torus(size, 1, {}); }, ExitStatus::usage,
            "ising: size = " + size + " (must be whole numbers of at least 1, with x between them). Try --size 60x60?");
  refuses([] { torus("5000x5000", 1, {}); }, ExitStatus::usage,
          "ising: size = 5000x5000 (more than 16777216 spins). Try --size 60x60?");
  refuses([] { torus("4x4", 1, 17); }, ExitStatus::usage,
          "ising: hamming = 17 (the slice is larger than the model of 16 spins, so it is empty). Try --hamming 8?");
  refuses([] { torus("4x4", 1, 0); }, ExitStatus::usage,
          "ising: hamming = 0 (the slice is the reference alone: nothing can move). Try --hamming 8?");
  Ising::Settings s;
  s.size = "2x2";
  s.reference = files.write("reference.csv", "1\n-1\n1\n");
  refuses([&] { Ising::read(s); }, ExitStatus::data,
          s.reference +
              ": a reference of the wrong length (3 numbers, the model has 4 spins). Write -1 or 1 for each "
              "spin?");
  files.write("reference.csv", "1\n-1\n1\n0\n");
  refuses([&] { Ising::read(s); }, ExitStatus::data,
          s.reference + ": a spin is neither -1 nor 1 (number 4 is 0). Write 0 as -1?");
}

TEST(SpinModels, RefuseWeightsOfTheWrongShape) {
  ScratchFiles files;
  Rbm::Settings s;
  refuses([&] { Rbm::read(s); }, ExitStatus::usage,
          "rbm: no weights (weights is not set). Give a .npy or CSV file, a row for each hidden unit: --weights FILE?");
  s.weights = files.write("w.csv", "1,2,3\n4,5,6\n");
  EXPECT_EQ(Rbm::read(s).n(), 5);
  s.hidden_bias = files.write("c.csv", "1\n2\n3\n");
  refuses([&] { Rbm::read(s); }, ExitStatus::data,
          s.hidden_bias +
              ": the wrong number of hidden biases (3 numbers, the weights are 2 hidden x 3 visible). Are the "
              "weights transposed? A row belongs to a hidden unit.");
  files.write("c.csv", "1\n2\n3\n4\n");
  refuses([&] { Rbm::read(s); }, ExitStatus::data,
          s.hidden_bias +
              ": the wrong number of hidden biases (4 numbers, the weights are 2 hidden x 3 visible). Is this "
              "the right file?");
}

}  // namespace
}  // namespace kilochain::discrete
