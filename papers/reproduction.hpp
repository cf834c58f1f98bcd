// What the commands of all papers do alike: flags, jobs on threads, results that stay in the folder from one call to
// the next, their page, the exit status. A paper derives from Reproduction and registers a command (RegisterPaper).
#pragma once
#include <CLI/App.hpp>
#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "host/frontend/papers.hpp"

namespace kilochain::papers {

using Json = nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

struct Flags {
  std::string output;
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: as many as cores
  bool json = false, quiet = false;
};
/// --json, --quiet, --output, --seed and --threads. what: an object of the JSON array; job: what has a core of its own.
void add_flags(CLI::App& command, Flags& flags, const std::string& what, const std::string& job);
/// Throws Error (usage) where a flag's value is not in low .. high; `example` is one that is.
void check_flag(const char* flag, std::int64_t value, std::int64_t low, std::int64_t high, std::int64_t example);

/// Where papers find their data sets.
struct DataFolder {
  std::string path;
  /// `given`, else data/public, else ../shared/data, whichever is there. Throws Error (data) when `given` is not.
  static DataFolder find(const std::string& given);
  /// Throws Error (data), naming scripts/fetch_data, when the file is missing.
  std::string file(const std::string& name) const;
};

/// A line on standard error.
void say(const std::string& line);
/// A table in markdown: header, then rows; the first `left` columns stand to the left, the others to the right.
std::string markdown_table(const Rows& rows, std::size_t left);
/// Processor, cores and system: a figure without these cannot be made again.
std::string machine();

/// A piece of work that is independent of the others.
struct Job {
  std::string name;
  double weight;  ///< about how long it takes, in any unit
  std::function<void(const std::function<void(double fraction)>& tick)> run;
};

/// Of a job: how much of it is done, and the seconds that this took.
struct JobProgress {
  double weight, fraction = 0, seconds = 0;
};
/// Until all are done, by `workers` at a time; -1 while nothing is.
double seconds_left(const std::vector<JobProgress>& jobs, int workers);

class Reproduction {
 public:
  explicit Reproduction(const Flags& flags) : flags_(flags) {}
  virtual ~Reproduction() = default;
  Reproduction(const Reproduction&) = delete;
  /// Runs the jobs, with a line about how far they are every five seconds, prints the results and
  /// writes the page. Returns the exit status: done, deviates or interrupted.
  /// Throws Error for an output that cannot be written.
  int run();

 protected:
  /// The pieces of work, which end early when stop() becomes true.
  virtual std::vector<Job> jobs() = 0;
  /// Of the jobs that came to their end.
  virtual std::vector<Json> results() = 0;
  virtual void print(const std::vector<Json>& results) const = 0;
  /// What --json prints of a result.
  virtual Json brief(const Json& result) const { return result; }
  /// The start of its files' names.
  virtual std::string stem() const = 0;
  /// A fresh result takes the place of an earlier call's that has the same under all of these keys.
  virtual std::vector<const char*> keys() const = 0;
  /// The page of all results, with date and commit each; it may order them, as they are stored.
  virtual std::string page(std::vector<Json>& all) const = 0;
  /// The script that draws the page's pictures; empty where there is nothing to draw.
  virtual std::string plotter() const { return ""; }
  /// Says which figures of the paper deviate without a known reason, and returns how many.
  virtual std::size_t deviations(const std::vector<Json>& /*results*/) const { return 0; }
  virtual int json_indent() const { return 1; }

  std::atomic<bool>& stop() const;
  /// Files of the output folder that begin with the stem: "_figure1.json".
  std::filesystem::path file(const std::string& end) const;
  /// Whether the data or the picture of that figure lie in the output folder.
  bool has_figure(int number) const;

 private:
  void write_page(const std::vector<Json>& fresh) const;
  const Flags& flags_;
};

}  // namespace kilochain::papers
