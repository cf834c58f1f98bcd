// "Bayesian Optimization for Adaptive MCMC" (Mahendran 2011): its models, methods and protocol,
// and what was published or measured of them.
#pragma once
#include <string>
#include <vector>

#include "host/registry/settings.hpp"
#include "papers/reproduction.hpp"
#include "targets/discrete/spin_model.hpp"

namespace kilochain::mahendran2011 {

enum Method { kawasaki, im_expert, im_unif, im_bayesopt, num_methods };
inline constexpr const char* method_names[] = {"Kawasaki", "IMExpert", "IMUnif", "IMBayesOpt"};

inline constexpr int adaptations = 100, adaptation_steps = 100, longest_lag = 500;

/// What the original code gave with the expert's settings, on the kind of machine that this project is built on.
struct Original {
  double mean_energy, acceptance, microseconds;
  std::vector<std::pair<int, double>> autocorrelation;  ///< at a few lags
};

struct Model {
  std::string name, target;
  SettingTexts settings;
  int first_figure;      ///< 4.x: autocorrelation; the two after it: traces, the model's mean
  int longest_walk;      ///< of IMUnif and IMBayesOpt
  double largest_gamma;  ///< the same
  double unique_points;  ///< of the paper's policies, mean over runs
  Original original;
};

/// The three of Table 4.2. Throws Error (data) where their files are missing.
std::vector<Model> models(const papers::DataFolder& data);

}  // namespace kilochain::mahendran2011
