#include "papers/reproduction.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/error.hpp"
#include "base/tell.hpp"
#include "base/units.hpp"
#include "host/frontend/files.hpp"
#include "host/frontend/interrupt.hpp"
#include "host/run/reporter.hpp"
#include "host/run/side_by_side.hpp"

namespace kilochain::papers {
namespace {

/// Of the tree that a page is written into; "not known" outside one.
std::string commit_of(const std::string& folder) {
  std::string commit;
  if (FILE* pipe = popen(fmt::format("git -C '{}' rev-parse --short HEAD 2>/dev/null", folder).c_str(), "r")) {
    char text[256];
    if (fgets(text, sizeof text, pipe)) commit = text;
    pclose(pipe);
  }
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  return commit.empty() ? "not known" : commit;
}

/// The results that an earlier call left in the file `store`, with fresh ones in the place of those with equal keys.
std::vector<Json> merged(const std::filesystem::path& store, const std::vector<Json>& fresh,
                         const std::vector<const char*>& keys) {
  std::vector<Json> all;
  if (std::ifstream old(store); old) all = Json::parse(old).get<std::vector<Json>>();
  const auto equal = [&](const Json& a, const Json& b) {
    return std::all_of(keys.begin(), keys.end(), [&](const char* key) { return a[key] == b[key]; });
  };
  const std::string commit = commit_of(store.parent_path().string());
  for (const Json& f : fresh) {
    std::erase_if(all, [&](const Json& o) { return equal(o, f); });
    all.push_back(f);
    all.back()["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));  // universal time
    all.back()["commit"] = commit;
  }
  return all;
}

/// How far the jobs are, in words.
class Board {
 public:
  Board(const std::vector<Job>& jobs, int workers, bool quiet)
      : jobs_(jobs), workers_(workers), quiet_(quiet), begun_(jobs.size()) {
    for (const Job& job : jobs) progress_.push_back({job.weight});
  }

  void tick(std::size_t job, double fraction) {
    const std::lock_guard lock(mutex_);
    if (waits(job)) begun_[job] = Clock::now();
    progress_[job].fraction = std::min(1.0, fraction), progress_[job].seconds = seconds_since(begun_[job]);
  }
  /// Of more than 100 jobs at most one a second is reported.
  void finish(std::size_t job, bool whole) {
    tick(job, 1);
    const std::lock_guard lock(mutex_);
    ++done_;
    const bool few = jobs_.size() <= 100, last = done_ == jobs_.size();
    if (quiet_ || !whole || !(few || last || seconds_since(said_) >= 1)) return;
    say(fmt::format("[{}/{}] {} done; {}", done_, jobs_.size(), jobs_[job].name, left()));
    said_ = std::chrono::steady_clock::now();
  }
  void tell() {
    if (quiet_) return;
    const std::lock_guard lock(mutex_);
    std::string now;
    for (std::size_t k = 0; k < jobs_.size(); ++k)
      if (!waits(k) && progress_[k].fraction < 1)
        now += fmt::format("{}{} {:.0f} %", now.empty() ? "" : ", ", jobs_[k].name, 100 * progress_[k].fraction);
    say(fmt::format("[{}/{}] {}; {}", done_, jobs_.size(), now, left()));
  }

 private:
  std::string left() const {
    const double seconds = seconds_left(progress_, workers_);
    return seconds >= 0 ? "ETA " + seconds_text(seconds) : "ETA not known yet";
  }
  using Clock = std::chrono::steady_clock;
  bool waits(std::size_t job) const { return begun_[job] == Clock::time_point{}; }
  const std::vector<Job>& jobs_;
  const int workers_;
  const bool quiet_;
  std::vector<JobProgress> progress_;
  std::vector<Clock::time_point> begun_;
  Clock::time_point said_{};
  std::size_t done_ = 0;
  std::mutex mutex_;
};

/// On `threads` threads (0: as many as cores). A job's first exception ends all (through `stop`) and is thrown again.
/// One thread takes the lightest jobs first, so that there is soon something to see;
/// others take the heaviest, so that none is last.
void run_jobs(std::vector<Job> jobs, int threads, bool quiet, std::atomic<bool>& stop) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.weight < b.weight; });
  const int workers = threads > 0 ? threads : omp_get_num_procs();
  Board board(jobs, workers, quiet);
  std::mutex order;
  std::size_t lightest = 0, heaviest = jobs.size();
  const std::jthread speaker([&](const std::stop_token& ended) {
    std::mutex mutex;
    std::condition_variable_any pause;
    std::unique_lock lock(mutex);
    while (pause.wait_for(lock, ended, std::chrono::seconds(5), [] { return false; }), !ended.stop_requested())
      board.tell();
  });
  side_by_side(jobs.size(), workers, stop, [&](std::size_t, int worker) {
    const std::size_t job = [&] {
      const std::lock_guard lock(order);
      return worker == 0 ? lightest++ : --heaviest;
    }();
    board.tick(job, 0);
    jobs[job].run([&](double fraction) { board.tick(job, fraction); });
    board.finish(job, !stop);
  });
}

}  // namespace

double seconds_left(const std::vector<JobProgress>& jobs, int workers) {
  double worked = 0, weight = 0;  // of what is done
  for (const JobProgress& j : jobs) worked += j.seconds, weight += j.weight * j.fraction;
  if (weight <= 0) return -1;
  double all = 0, longest = 0;
  for (const JobProgress& j : jobs) {
    // A job that is well under way is its own measure: weights are guesses.
    const double left =
        j.fraction >= 0.1 ? j.seconds * (1 - j.fraction) / j.fraction : j.weight * (1 - j.fraction) * worked / weight;
    all += left, longest = std::max(longest, left);
  }
  return std::max(longest, all / workers);
}

void say(const std::string& line) { tell(stderr, "{}\n", line); }

void add_flags(CLI::App& command, Flags& f, const std::string& what, const std::string& job) {
  command.add_flag("--json", f.json, "one JSON array, an object for each " + what);
  command.add_flag("--quiet", f.quiet, "no progress");
  command.add_option("--output", f.output, "folder for the page, its data and those of the figures");
  command.add_option("--seed", f.seed, "the same seed draws the same")->capture_default_str();
  command.add_option("--threads", f.threads, job + " at a time, each on one core; 0: as many as cores");
}

void check_flag(const char* flag, std::int64_t value, std::int64_t low, std::int64_t high, std::int64_t example) {
  require(value >= low && value <= high, ExitStatus::usage, fmt::format("command line: {} {}", flag, value),
          fmt::format("must be >= {} and <= {}", low, high), fmt::format("Try {}?", example));
}

DataFolder DataFolder::find(const std::string& given) {
  if (!given.empty()) {
    require(std::filesystem::is_directory(given), ExitStatus::data, given + ": no such folder", "--data-dir",
            "Fetch the data with scripts/fetch_data, or name the folder that holds them?");
    return {given};
  }
  for (const char* folder : {"data/public", "../shared/data"})
    if (std::filesystem::exists(std::filesystem::path(folder) / "ripley.csv")) return {folder};
  return {"data/public"};
}

std::string DataFolder::file(const std::string& name) const {
  const std::string whole = (std::filesystem::path(path) / name).string();
  require(std::filesystem::exists(whole), ExitStatus::data, whole + ": the data set is not here",
          "looked for in " + path,
          "Fetch it with scripts/fetch_data, or name the folder that holds it with --data-dir?");
  return whole;
}

std::string markdown_table(const Rows& rows, std::size_t left) {
  std::string out;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    out += fmt::format("| {} |\n", fmt::join(rows[k], " | "));
    if (k > 0) continue;
    out += "|";
    for (std::size_t c = 0; c < rows[k].size(); ++c) out += c < left ? "---|" : "---:|";
    out += "\n";
  }
  return out;
}

std::string machine() {
  std::string model = "processor not known", text;
  std::ifstream cpu("/proc/cpuinfo");
  while (std::getline(cpu, text))
    if (text.rfind("model name", 0) == 0) {
      model = text.substr(text.find(':') + 2);
      break;
    }
  utsname u{};
  uname(&u);
  return fmt::format("{}, {} cores, {} {}", model, omp_get_num_procs(), u.sysname, u.machine);
}

std::atomic<bool>& Reproduction::stop() const { return cli::stop_requested(); }

std::filesystem::path Reproduction::file(const std::string& end) const {
  return std::filesystem::path(flags_.output.empty() ? "." : flags_.output) / (stem() + end);
}

bool Reproduction::has_figure(int number) const {
  const std::string name = fmt::format("_figure{}", number);
  return std::filesystem::exists(file(name + ".json")) || std::filesystem::exists(file(name + ".png"));
}

int Reproduction::run() {
  if (!flags_.output.empty()) cli::make_folder(flags_.output);
  cli::catch_signals();
  run_jobs(jobs(), flags_.threads, flags_.quiet, stop());
  const std::vector<Json> fresh = results();
  if (stop() && fresh.empty()) return exit_code(ExitStatus::interrupted);
  if (flags_.json) {
    Json all = Json::array();
    for (const Json& r : fresh) all.push_back(brief(r));
    fmt::print("{}\n", all.dump(2));
  } else if (!fresh.empty()) {
    print(fresh);
  }
  if (!flags_.output.empty()) write_page(fresh);
  if (stop()) return exit_code(ExitStatus::interrupted);
  return exit_code(deviations(fresh) > 0 ? ExitStatus::deviates : ExitStatus::done);
}

void Reproduction::write_page(const std::vector<Json>& fresh) const {
  std::vector<Json> all = merged(file(".json"), fresh, keys());
  const std::string text = page(all);
  if (!all.empty()) cli::write_file(file(".json"), Json(all).dump(json_indent()) + "\n");
  cli::write_file(file(".md"), text);
  say("written: " + file(".md").string());
  if (!plotter().empty()) say(fmt::format("pictures: {} {}", plotter(), flags_.output));
}

}  // namespace kilochain::papers
