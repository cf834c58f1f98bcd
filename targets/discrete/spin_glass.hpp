// Spins on any sparse graph: E = -sum J_ij S_i S_j - h sum S_i over the edges of a file.
#pragma once
#include "targets/discrete/spin_model.hpp"

namespace kilochain::discrete {

struct SpinGlass {
  static constexpr const char* meaning =
      "spins on any sparse graph, couplings from a file; free or with --hamming spins up";
  struct Settings : SpinSettings {
    std::string couplings;
    double field = 0;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("couplings", s.couplings, "CSV file with i,j,J, each edge once; nodes count from 0");
    visit("field", s.field, Range{}, "h of every spin");
    SpinSettings::settings(visit, s);
  }
  /// Throws Error (usage) without a file, (data) as read_couplings does.
  static SpinModel read(const Settings& s) {
    require(!s.couplings.empty(), ExitStatus::usage, "spin_glass: no couplings", "couplings is not set",
            "Give a CSV file with the columns i,j,J: --couplings FILE?");
    SpinModel m;
    m.target = "spin_glass";
    Index n = 0;
    m.edges = read_couplings(s.couplings, n);
    m.shape = {n};
    m.field.assign(static_cast<std::size_t>(n), s.field);
    m.expert = "3d";
    finish(m, s);
    return m;
  }
};

}  // namespace kilochain::discrete
