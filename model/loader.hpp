// What a model's load has: numbers from JSON files, checked, and memory that its chains can read.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/arrays.hpp"
#include "targets/target.hpp"

namespace kilochain {

/// One JSON object of numbers and lists of numbers. Errors (data) name the file, the key and what was found.
class JsonData {
 public:
  /// `section`: the key of an object inside the file; empty: the file itself.
  explicit JsonData(const std::string& path, const std::string& section = "");
  double number(const std::string& key) const;
  /// A list, or lists of lists one after the other (row-major). `size`: how many are expected; empty: one or more.
  std::vector<double> numbers(const std::string& key, std::optional<std::int64_t> size = {}) const;
  /// The section of that name, or where there is none all of these.
  JsonData section(const std::string& name) const;

 private:
  JsonData(std::string path, std::shared_ptr<const void> values) : path_(std::move(path)), values_(std::move(values)) {}
  std::string path_;
  std::shared_ptr<const void> values_;  // nlohmann::json: its header is not for every compiler
};

/// The settings of a model whose data are one file.
struct DataFile {
  std::string data;
  /// The file's section "data", or all of it where it has none. Throws an Error (usage) when no file is named.
  JsonData json() const;
};

class Loader {
 public:
  explicit Loader(Arena<double>& arena) : arena_(arena) {}
  JsonData json(const std::string& path, const std::string& section = "") { return JsonData(path, section); }
  /// Copies values to where the chains run; valid as long as the target is. `name` is for messages.
  DataArray put(const std::string& name, const std::vector<double>& values);
  /// The same as rows of `columns`. Throws an Error (data) when they do not divide the values.
  DataMatrix put(const std::string& name, const std::vector<double>& values, Index columns);

 private:
  Arena<double>& arena_;
};

}  // namespace kilochain
