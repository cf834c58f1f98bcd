// Every registered target in every way of evaluating it, as the GPU's tests make them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/registry/registry.hpp"
#include "tests/gpu/device.hpp"
#include "tests/support/folders.hpp"

namespace kilochain {

struct TargetCase {
  std::string name;
  SettingTexts settings;
  bool hessian = true;  ///< whether it can be asked for Hessian products
};

/// By the engine's own choice, a warp for each chain, and by products.
inline constexpr std::pair<const char*, const char*> ways_of_regressions[] = {
    {"evaluator", "auto"}, {"evaluator", "team"}, {"matmul", "float32"}};

/// Those of the public data sets, too, if `large`; which of them are not there is said aloud.
inline std::vector<TargetCase> all_target_cases(bool large = true) {
  std::vector<TargetCase> out;
  const std::string root = testing_support::source_folder();
  for (const auto& entry : targets_of(Family::density)) {
    if (*entry.cpu_only({})) continue;  // has nothing on a device
    if (entry.name == "gaussian") {
      for (const char* preset : {"gauss2d_corr", "gp51_gaussian", "neal_gaussian"})
        out.push_back({entry.name, {{"preset", preset}}});
    } else if (entry.name == "logistic_regression") {
      std::vector<std::string> files = {root + "/data/challenger.csv"};
      if (large)
        for (const char* more : {"german.csv", "caravan.csv"}) {
          const std::string folder = testing_support::shared_data(), file = folder + "/" + more;
          if (!folder.empty() && std::filesystem::exists(file))
            files.push_back(file);
          else
            skip_aloud(std::string("no logistic regression of ") + more + ", which is not among the public data sets");
        }
      for (const auto& file : files)
        for (const auto& [setting, value] : ways_of_regressions)
          out.push_back({entry.name, {{"data", file}, {setting, value}}});
      out.push_back({entry.name, {{"data", root + "/data/challenger.csv"}, {"groups", "pressure_psi"}}, false});
    } else if (entry.name == "softmax_regression") {  // the label is a class of its own name here: 0 and 1
      for (const auto& [setting, value] : ways_of_regressions)
        out.push_back({entry.name, {{"data", root + "/data/challenger.csv"}, {setting, value}}});
    } else if (entry.name.ends_with("_regression")) {  // generalised linear models: counts of 0 and 1 here
      for (const SettingTexts& more : {SettingTexts{}, SettingTexts{{"groups", "pressure_psi"}}}) {
        out.push_back({entry.name, more, false});
        out.back().settings["data"] = root + "/data/challenger.csv";
      }
    } else if (entry.name == "eight_schools") {  // a model as users write them: tests/CMakeLists.txt
      out.push_back({entry.name, {{"data", root + "/data/eight_schools.json"}}});
    } else {
      out.push_back({entry.name, {}});
    }
  }
  return out;
}

inline std::string text_of(const TargetCase& which) {
  std::string text = which.name;
  for (const auto& [key, value] : which.settings) text += " " + key + "=" + value;
  return text;
}

}  // namespace kilochain
