// The tables of "Gradient-based Adaptive Markov Chain Monte Carlo" (Titsias & Dellaportas, NeurIPS 2019): what was
// published, what the authors' released code gives when it is run again, and what each row runs here.
// The figures are facts, kept in published.cpp; the settings are in plan.cpp.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "host/registry/settings.hpp"
#include "kernels/choices.hpp"
#include "papers/reproduction.hpp"

namespace kilochain::titsias2019 {

using papers::DataFolder;

inline constexpr double none = std::numeric_limits<double>::quiet_NaN();  ///< not published: "> 0.7"

/// One row of a table: means over repeats. seconds: one repeat, warm-up included. The last is a standard deviation.
struct Figures {
  double seconds, acceptance, ess_min, ess_median, ess_max, min_ess_per_second, min_ess_per_second_sd;
};

/// The authors' released code, run again under GNU Octave on one core. sd: over its repeats, NaN for one repeat.
struct Measured {
  Figures mean;
  int repeats;  ///< 0: not measured
  double acceptance_sd, ess_min_sd, ess_median_sd, ess_max_sd;
  double acceptance_least, acceptance_most;  ///< of single repeats
};

struct PaperRow {
  int table;
  std::string target, sampler;  ///< short names: am, hmc20
  std::string paper_name;       ///< AM, HMC-20
  Figures published;
  Measured measured;
};

/// Every row of tables 1 to 7, in their order.
const std::vector<PaperRow>& titsias2019_rows();

/// What a row runs, in the names of `kilochain sample`.
struct Setup {
  std::string target, sampler;
  SettingTexts target_settings, sampler_settings;
  std::int64_t num_warmup = 20000, num_samples = 20000;
  std::string init = "normal";
  Precision real = Precision::double_precision;
  std::string printed = {};  ///< as printed: how that differs from what the authors ran; empty when it does not
};

/// The setup of a row. as_printed: what the paper's text says, where the authors ran something else. `labels`: a file
/// with the labels of MNIST as the published runs had them, for target mnist_5v6.
Setup setup_of(const std::string& target, const std::string& sampler, bool as_printed, const DataFolder& data,
               const std::string& labels);

/// Writes the labels of the training images with the first 497 sixes called fives, as in the published runs: their
/// boundary was the number of sixes, 5918, where 5421 fives come first. Throws Error (data, output).
void write_published_labels(const DataFolder& data, const std::string& path);

}  // namespace kilochain::titsias2019
