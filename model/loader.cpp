#include "model/loader.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/inputs.hpp"

namespace kilochain {
namespace {

using Json = nlohmann::json;
constexpr int most_depth = 64;

void collect(const Json& j, const std::string& where, std::vector<double>& out, const std::string& path) {
  if (j.is_array()) {
    for (std::size_t k = 0; k < j.size(); ++k) collect(j[k], where + "[" + std::to_string(k) + "]", out, path);
    return;
  }
  require(j.is_number(), ExitStatus::data, path + ": " + where + " is not a number", j.dump().substr(0, 40),
          "Give a number, or a list of numbers?");
  out.push_back(j.get<double>());
  require(std::isfinite(out.back()), ExitStatus::data, path + ": " + where + " is not finite", j.dump(),
          "Leave out or impute missing values?");
}

/// A text for as long as the program runs: arrays are plain memory, and models name a handful.
const char* kept(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard<std::mutex> lock(mutex);
  return names.insert(name).first->c_str();
}

}  // namespace

JsonData::JsonData(const std::string& path, const std::string& section) : path_(path) {
  std::ifstream in(path);
  require(in.good(), ExitStatus::data, path + ": no such file of data", "it cannot be opened", "Is the path right?");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  note_input(path, text);
  const auto not_too_deep = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth <= most_depth) return true;  // what walks through it calls itself
    throw Error(ExitStatus::data, path + ": not the data of a model",
                "lists in lists, deeper than " + std::to_string(most_depth), "Is it the right file, and whole?");
  };
  Json j;
  try {
    j = Json::parse(text, not_too_deep);
  } catch (const Json::exception& error) {
    const std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    throw Error(ExitStatus::data, path + ": not JSON", what.substr(what.find("] ") + 2),
                "Is it the right file, and whole?");
  }
  if (!section.empty()) {
    require(j.is_object() && j.contains(section), ExitStatus::data, path + ": no section \"" + section + "\"",
            "top level", "Is it the right file?");
    j = Json(j.at(section));
  }
  require(j.is_object(), ExitStatus::data, path + ": not an object of names and values",
          section.empty() ? "top level" : section, "Is it the right file?");
  values_ = std::make_shared<const Json>(std::move(j));
}

JsonData JsonData::section(const std::string& name) const {
  const Json& j = *static_cast<const Json*>(values_.get());
  if (!j.contains(name) || !j.at(name).is_object()) return *this;
  return {path_, std::make_shared<const Json>(j.at(name))};
}

std::vector<double> JsonData::numbers(const std::string& key, std::optional<std::int64_t> size) const {
  const Json& j = *static_cast<const Json*>(values_.get());
  std::string known;
  for (const auto& [name, value] : j.items()) known += (known.empty() ? "" : ", ") + name;
  require(j.contains(key), ExitStatus::data, path_ + ": no data \"" + key + "\"", "there are " + known,
          "Is it the right file?");
  std::vector<double> out;
  collect(j.at(key), key, out, path_);
  require(size ? std::ssize(out) == *size : !out.empty(), ExitStatus::data,
          path_ + ": \"" + key + "\" has the wrong length",
          std::to_string(out.size()) + " numbers" + (size ? ", not " + std::to_string(*size) : ""),
          "Do all lists describe the same observations?");
  return out;
}

double JsonData::number(const std::string& key) const { return numbers(key, 1)[0]; }

JsonData DataFile::json() const {
  require(!data.empty(), ExitStatus::usage, "the model has no data", "data is not set", "Give --data FILE.json?");
  return JsonData(data).section("data");
}

DataArray Loader::put(const std::string& name, const std::vector<double>& values) {
  require(values.size() <= std::numeric_limits<Index>::max(), ExitStatus::data, "\"" + name + "\" is too long",
          std::to_string(values.size()) + " numbers, at most " + std::to_string(std::numeric_limits<Index>::max()),
          "Take part of the data?");
  return {arena_.put(values), static_cast<Index>(values.size()), kept(name)};
}

DataMatrix Loader::put(const std::string& name, const std::vector<double>& values, Index columns) {
  const auto rows = columns > 0 ? std::ssize(values) / columns : 0;
  require(columns > 0 && rows * columns == std::ssize(values) && rows <= std::numeric_limits<Index>::max(),
          ExitStatus::data, "\"" + name + "\" is no matrix of " + std::to_string(columns) + " columns",
          std::to_string(values.size()) + " numbers", "Are all rows whole?");
  return {arena_.put(values), static_cast<Index>(rows), columns, kept(name)};
}

}  // namespace kilochain
