// The folder of a search: trials.jsonl (the search, then a line a trial), best.toml, policy.csv, surface.json.
#pragma once
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/frontend/tune_options.hpp"

namespace kilochain::cli {

/// The table of trials on disk: appended and flushed line by line, so that a search is resumed where it ended.
class TrialTable {
 public:
  /// Opens folder/trials.jsonl, or begins it. A last line that was cut off is dropped. Throws Error (usage) when the
  /// folder cannot be made or holds the table of another search, (data) for a line that is none.
  TrialTable(const std::string& folder, const nlohmann::json& search);
  const std::vector<nlohmann::json>& rows() const { return rows_; }
  /// Throws Error (output) when it cannot be written.
  void append(nlohmann::json row);

 private:
  void read(const nlohmann::json& search);

  std::string path_;
  std::vector<nlohmann::json> rows_;
  std::ofstream file_;
};

/// What decides a trial's outcome: a search is resumed from a table only where all of it is the same.
nlohmann::json search_of(const TuneConfiguration& c);

/// What `kilochain sample` takes: the run's sampler and target with their settings, and `settings` over them.
std::string best_toml(const TuneConfiguration& c, const SettingTexts& settings, const std::string& comment);
/// A policy's file: a header of names, a row a point.
std::string policy_csv(const std::vector<Dimension>& box, const std::vector<Point>& points);
/// Mean and deviation of the model over the box: {objective, log, dimensions, trials, best, slices [{dimensions,
/// axes, mean, sd}]}, a slice for each pair of dimensions (for one dimension: along it), through the best point.
nlohmann::json surface(const Tuner& tuner, TuneObjective objective);

}  // namespace kilochain::cli
