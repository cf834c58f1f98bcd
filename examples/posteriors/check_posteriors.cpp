// Draws from each reference posterior and compares every mean and mean square with the known one.
//   check_posteriors FOLDER [SAMPLER [TARGET...]]
// FOLDER: POSTERIOR/data.json and POSTERIOR/reference.json with "parameters", "mean", "mean_sq" and their errors.
// Without a sampler nothing is said but data, and the run must have converged. Status 1 when one has not or any |z|
// reaches 4, 2 for an error. Expected false alarms: 158 comparisons, 1 in 100 runs.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <kilochain/run.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

const std::map<std::string, std::string> posteriors = {{"eight_schools", "eight_schools-eight_schools_noncentered"},
                                                       {"kidiq", "kidiq-kidscore_momiq"},
                                                       {"arma", "arma-arma11"},
                                                       {"low_dim_gauss_mix", "low_dim_gauss_mix-low_dim_gauss_mix"},
                                                       {"sblrc", "sblrc-blr"},
                                                       {"mesquite", "mesquite-logmesquite"},
                                                       {"hidden_markov", "hmm_example-hmm_example"},
                                                       {"lotka_volterra", "hudson_lynx_hare-lotka_volterra"},
                                                       {"gaussian_process", "gp_pois_regr-gp_regr"},
                                                       {"diamonds", "diamonds-diamonds"}};

/// The reference counts from 1, kilochain from 0.
std::string our_name(const std::string& name) {
  const auto bracket = name.find('[');
  return bracket == std::string::npos
             ? name
             : name.substr(0, bracket + 1) + std::to_string(std::stoi(name.substr(bracket + 1)) - 1) + "]";
}

/// Mean of f over the draws of one parameter and its standard error, from the means of the chains:
/// they are independent.
template <class F>
std::pair<double, double> mean_over_chains(const kilochain::Result& r, std::size_t parameter, std::size_t chains, F f) {
  const std::size_t dim = r.names.size(), draws = r.draws.size() / dim / chains;
  double sum = 0, squares = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    double mean = 0;
    for (std::size_t d = 0; d < draws; ++d) mean += f(r.draws[(c * draws + d) * dim + parameter]) / double(draws);
    sum += mean, squares += mean * mean;
  }
  const double mean = sum / double(chains);
  return {mean, std::sqrt((squares / double(chains) - mean * mean) / double(chains - 1))};
}

double compare(const std::string& folder, const std::string& target, const std::string& sampler) {
  const std::string place = folder + "/" + posteriors.at(target) + "/";
  std::ifstream file(place + "reference.json");
  if (!file)
    throw std::runtime_error(place + "reference.json: not there. Is it the folder of the reference posteriors?");
  const auto reference = nlohmann::json::parse(file);
  kilochain::Options options;
  options.target = target;
  options.target_settings = {{"data", place + "data.json"}};
  options.keep_draws = true;
  if (!sampler.empty()) {
    options.sampler = sampler;
    options.num_chains = 64;
    options.num_warmup = 1000;
    options.num_samples = 1000;
    options.adapt_scope = kilochain::Scope::chain;  // each chain finds its own way from a far start
    options.init = "normal:0.1";                    // arma explodes where |theta| > 1
  }
  const std::atomic<bool> never{false};
  const auto result = kilochain::run(options, nullptr, never);
  const auto chains = std::size_t(result.summary.num_chains);
  const bool converged = !sampler.empty() || kilochain::status_of(result) == 0;
  double worst = 0, rhat = 0;
  for (const auto& p : result.summary.parameters) rhat = std::max(rhat, p.rhat);
  for (std::size_t k = 0; k < reference["parameters"].size(); ++k) {
    const std::string name = our_name(reference["parameters"][k]);
    const auto at = std::find(result.names.begin(), result.names.end(), name);
    if (at == result.names.end()) throw std::runtime_error(target + ": records no " + name);
    const auto parameter = std::size_t(at - result.names.begin());
    const auto z = [&](auto f, const char* value, const char* error) {
      const auto [mean, mcse] = mean_over_chains(result, parameter, chains, f);
      return (mean - reference[value][k].get<double>()) / std::hypot(mcse, reference[error][k].get<double>());
    };
    const double of_mean = z([](double x) { return x; }, "mean", "mcse_mean"),
                 of_square = z([](double x) { return x * x; }, "mean_sq", "mcse_mean_sq");
    std::printf("%-18s %-10s z of the mean %6.2f, of the mean square %6.2f\n", target.c_str(), name.c_str(), of_mean,
                of_square);
    for (const double of : {of_mean, of_square})  // chains that never moved have none: that is no agreement
      worst = std::isnan(of) ? INFINITY : std::max(worst, std::abs(of));
  }
  std::printf("%-18s %s: acceptance %.2f, largest R-hat %.4f, largest |z| %.2f%s\n", target.c_str(),
              result.summary.sampler.c_str(), result.summary.acceptance_mean, rhat, worst,
              converged ? "" : ": NOT CONVERGED");
  return converged ? worst : INFINITY;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2)
    throw std::runtime_error("check_posteriors: which folder? Usage: check_posteriors FOLDER [SAMPLER [TARGET...]]");
  std::vector<std::string> targets(argv + std::min(argc, 3), argv + argc);
  if (targets.empty())
    for (const auto& [target, posterior] : posteriors) targets.push_back(target);
  double worst = 0;
  for (const auto& target : targets) worst = std::max(worst, compare(argv[1], target, argc > 2 ? argv[2] : ""));
  return worst < 4 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
