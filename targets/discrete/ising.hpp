// Ising model on a periodic lattice of any number of axes: E = -sum J_ij S_i S_j - h sum S_i over nearest neighbours.
#pragma once
#include "targets/discrete/spin_model.hpp"

namespace kilochain::discrete {

struct Ising {
  static constexpr const char* meaning = "Ising model on a periodic lattice, free or with --hamming spins up";
  struct Settings : SpinSettings {
    std::string size = "60x60";
    double coupling = 1, field = 0;
    std::string couplings;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("size", s.size, "spins along each axis, such as 60x60 or 9x9x9");
    visit("coupling", s.coupling, Range{}, "J of every edge");
    visit("couplings", s.couplings, "CSV file with i,j,J in place of --coupling, each edge of the lattice once");
    visit("field", s.field, Range{}, "h of every spin");
    SpinSettings::settings(visit, s);
  }
  /// Throws Error (usage) for a size that is none, (data) for couplings that are not those of the lattice.
  static SpinModel read(const Settings& settings);
};

}  // namespace kilochain::discrete
