// Couplings of spin models, weights of Boltzmann machines, and the reference from which Hamming distances count.
#include "targets/discrete/ising.hpp"
#include "targets/discrete/rbm.hpp"
#include "targets/discrete/spin_glass.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {

std::vector<std::string> seeds() {
  return {"i,j,J\n0,1,1\n1,3,-1\n2,3,0.5\n0,2,-2.25\n",
          "i,j,J\r\n0,1,1\r\n1,0,1\r\n",
          "i,j,J\n0,4294967295,1\n",
          "i,j,J\n0,100000,1\n",
          "i,j,J\n0,0,1\n",
          "J,i,j\n1,2,3\n",
          "1\n-1\n1\n1\n",
          "-1,1,-1,1\n"};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  const std::string path = fuzz::write(fuzz::text_of(bytes, size));
  discrete::SpinGlass::Settings glass;
  glass.couplings = path;
  fuzz::accept([&] { discrete::SpinGlass::read(glass); });
  discrete::Ising::Settings lattice;
  lattice.size = "2x2", lattice.couplings = path;
  fuzz::accept([&] { discrete::Ising::read(lattice); });
  lattice.couplings = "", lattice.reference = path;
  fuzz::accept([&] { discrete::Ising::read(lattice); });
  discrete::Rbm::Settings machine;
  machine.weights = machine.visible_bias = path;
  fuzz::accept([&] { discrete::Rbm::read(machine); });
  return 0;
}
