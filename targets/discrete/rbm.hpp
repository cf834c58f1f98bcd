// Restricted Boltzmann machine with units v, h in {0, 1}: E = -v' W h - b v - c h, as spins S = 2 unit - 1:
//   J = W / 4, field = bias / 2 + sum of a unit's weights / 4, and a constant, so that energies are those of the units.
// Spins: the visible units, then the hidden ones. On a slice: so many units are 1.
#pragma once
#include "targets/discrete/spin_model.hpp"

namespace kilochain::discrete {

struct Rbm {
  static constexpr const char* meaning =
      "restricted Boltzmann machine, its weights from files; free or with --hamming units on";
  struct Settings : SpinSettings {
    std::string weights, hidden_bias, visible_bias;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("weights", s.weights, "file (.npy or CSV) with W, a row for each hidden unit, a column for each visible one");
    visit("hidden_bias", s.hidden_bias, "file with a bias for each hidden unit; zeros without one");
    visit("visible_bias", s.visible_bias, "file with a bias for each visible unit; zeros without one");
    SpinSettings::settings(visit, s);
  }
  /// Throws Error (usage) without weights, (data) for files that cannot be read or do not go together.
  static SpinModel read(const Settings& settings);
  /// From weights (hidden, visible) and biases already in memory.
  static SpinModel from(Index visible, Index hidden, const std::vector<double>& weights,
                        const std::vector<double>& visible_bias, const std::vector<double>& hidden_bias);
};

}  // namespace kilochain::discrete
