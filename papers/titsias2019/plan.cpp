// What each row of the paper runs: the authors' settings, and what the paper prints where that differs.
#include <fmt/format.h>

#include "base/error.hpp"
#include "host/frontend/files.hpp"
#include "papers/titsias2019/paper.hpp"
#include "targets/data/bytes.hpp"

namespace kilochain::titsias2019 {
namespace {

const char* const images_name = "train-images-idx3-ubyte.gz";
const char* const labels_name = "train-labels-idx1-ubyte.gz";

/// The factor learnt by gradient: constants of the released code. The text has no floor of beta (nor one of the
/// diagonal, but without that a diagonal that is stepped over zero has no logarithm).
SettingTexts gradient_adapted(double learning_rate, bool as_printed) {
  SettingTexts s = {
      {"optimizer", "rmsprop"}, {"beta_control", "paper"}, {"learning_rate", fmt::format("{}", learning_rate)}};
  if (as_printed) s["beta_floor"] = "1e-300";
  return s;
}

void set_sampler(Setup& s, const std::string& name, bool as_printed) {
  const char* const no_floor = "no floor under beta";
  const bool mnist = s.target_settings.count("images") > 0;
  if (name == "gad_mala_fast" || name == "gad_mala_exact") {
    s.sampler = name;
    s.sampler_settings = gradient_adapted(mnist ? 1e-5 : 1.5e-4, as_printed);
    s.printed = no_floor;
    if (mnist) s.num_warmup = 50000;
  } else if (name == "gad_rwm") {
    s.sampler = name;
    s.sampler_settings = gradient_adapted(5e-5, as_printed);
    s.printed = no_floor;
  } else if (name == "am") {
    s.sampler = "adaptive_metropolis";
    s.sampler_settings = {{"variant", as_printed ? "paper" : "authors"}};
    s.printed = "no scale steered to the acceptance, other learning rates, a smaller start";
    const bool neal = s.target == "gaussian";
    if (neal && !as_printed) s.sampler_settings["factor"] = "diagonal";  // the text speaks of a full factor
  } else if (name == "mala") {
    s.sampler = name;
    s.sampler_settings = {{"target_accept", as_printed ? "0.574" : "0.54"}};
    s.printed = "acceptance steered to 0.574, not 0.54";
  } else if (name.rfind("hmc", 0) == 0) {
    s.sampler = "hmc";
    s.sampler_settings = {{"preset", "HMC-" + name.substr(3)}, {"target_accept", as_printed ? "0.651" : "0.7"}};
    s.printed = "acceptance steered to 0.651, not 0.7";
  } else if (name == "nuts") {
    // A third party's, with nothing but its step adapted: unit mass. The paper says 500 iterations, acceptance > 0.7.
    s.sampler = name;
    s.sampler_settings = {{"mass", "unit"}, {"target_accept", "0.7"}};
    s.num_warmup = 500;
  } else {
    s.sampler = name;  // rwm: its defaults are the authors'
  }
}

}  // namespace

Setup setup_of(const std::string& target, const std::string& sampler, bool as_printed, const DataFolder& data,
               const std::string& labels) {
  Setup s;
  if (target == "neal_gaussian") {
    s.target = "gaussian";
    s.target_settings = {{"preset", target}};
  } else if (target.rfind("mnist_5v6", 0) == 0) {
    s.target = "logistic_regression";
    s.target_settings = {{"images", data.file(images_name)},
                         {"labels", target == "mnist_5v6" ? labels : data.file(labels_name)},
                         {"digits", "5,6"}};
  } else {
    s.target = "logistic_regression";
    s.target_settings = {{"data", data.file(target + ".csv")}};
  }
  set_sampler(s, sampler, as_printed);
  if (!as_printed) s.printed.clear();
  return s;
}

void write_published_labels(const DataFolder& data, const std::string& path) {
  std::string bytes = read_bytes(data.file(labels_name));
  const std::size_t header = 8;
  int wrong = 497;
  for (std::size_t k = header; k < bytes.size() && wrong > 0; ++k)
    if (bytes[k] == 6) bytes[k] = 5, --wrong;
  require(wrong == 0, ExitStatus::data, data.file(labels_name) + ": too few sixes",
          fmt::format("{} short of 497", wrong), "Is it MNIST's training set?");
  cli::write_file(path, bytes);
}

}  // namespace kilochain::titsias2019
