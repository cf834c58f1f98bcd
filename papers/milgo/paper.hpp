// Milgo, Ronoh, Waiganjo & Manderick, "Comparison of Adaptive MCMC Samplers": its cells, and what it printed of them.
// A cell is one sampler on one target: 100 runs of 10 000 iterations from x_0 uniform on [-5, 5]^d, sigma_0 = 1, the
// last half kept. Of each run: |mean of the draws - mean of the target|, and by how many percentage points the share of
// draws inside the 68.3 % region and outside the 99 % region is too large. Of the runs: mean and standard deviation.
// C_0: the text gives C_u or C_c (the target's, untwisted) to MH, the benchmark of optimal proposals, and I to others.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "host/chains/chains.hpp"
#include "host/registry/settings.hpp"

namespace kilochain::milgo {

inline constexpr std::int64_t num_iterations = 10000, num_kept = 5000;
inline constexpr double start_half_width = 5;

/// The six numbers of a cell in the order of the table's rows, from the means and deviations of three quantities.
enum Figure { mean_error, region_68, region_99, num_figures };
inline constexpr const char* figure_names[num_figures] = {"mean_error", "region_68", "region_99"};
struct Published {
  std::array<double, num_figures> mean, sd;
};

/// How long a chain adapts, and with whom.
enum class Adaptation { throughout, vanishing, constant, frozen, pooled };
inline std::string name_of(Adaptation a) {
  const char* const names[] = {"throughout", "vanishing", "constant", "frozen", "pooled"};
  return names[static_cast<int>(a)];
}

struct Cell {
  std::string target;  ///< pi1 .. pi4
  Index dim;
  std::string name;     ///< as the paper says it: MH, AP, AM, M-GaA, M-CMA
  std::string sampler;  ///< as the command line says it
  SettingTexts settings;
  Adaptation adaptation = Adaptation::throughout;  ///< the paper's: to the end, draws included
  std::optional<Published> published;
};

/// The eight cells of table 1; all sixty, d = 2, 4, 8; and what the paper left open, on pi3 and pi4, d = 8.
std::vector<Cell> table_1();
std::vector<Cell> all_cells();
std::vector<Cell> open_questions();

/// The settings of twisted_gaussian that make a target.
SettingTexts target_settings(const std::string& target, Index dim);

/// Why a published number lies more than four standard errors from ours, where that was looked into; else empty.
std::string known_reason(const Cell& cell, Figure figure, bool deviation);

}  // namespace kilochain::milgo
