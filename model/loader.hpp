// What a model's load(settings, loader) has: numbers from JSON files, checked, and memory that its chains can read.
#pragma once
#include <string>
#include <vector>

#include "targets/target.hpp"

namespace kilochain {

/// One JSON object of numbers and lists of numbers. Errors (data) name the file, the key and what was found.
class JsonData {
 public:
  /// `section`: the key of an object inside the file; empty: the file itself.
  explicit JsonData(const std::string& path, const std::string& section = "");
  double number(const std::string& key) const;
  /// A list, or lists of lists one after the other (row-major). `size`: how many are expected; -1: any, but one at least.
  std::vector<double> numbers(const std::string& key, std::int64_t size = -1) const;

 private:
  std::string path_, section_;
  std::shared_ptr<const void> values_;  // nlohmann::json: its header is not for every compiler
};

class Loader {
 public:
  explicit Loader(Arena<double>& arena) : arena_(arena) {}
  JsonData json(const std::string& path, const std::string& section = "") { return JsonData(path, section); }
  /// Copies values to where the chains run; valid as long as the target is.
  const double* put(const std::vector<double>& values) { return arena_.put(values); }

 private:
  Arena<double>& arena_;
};

}  // namespace kilochain
