#include "papers/reproduction.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "base/error.hpp"
#include "host/frontend/files.hpp"
#include "host/frontend/interrupt.hpp"

namespace kilochain::papers {
namespace {

/// 2026-01-31, in universal time.
std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

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
    all.back()["date"] = today();
    all.back()["commit"] = commit;
  }
  return all;
}

}  // namespace

void say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

void add_flags(CLI::App& command, Flags& f, const std::string& what, const std::string& job) {
  command.add_flag("--json", f.json, "one JSON array, an object for each " + what);
  command.add_option("--output", f.output, "folder for the page, its data and those of the figures");
  command.add_option("--seed", f.seed, "the same seed draws the same")->capture_default_str();
  command.add_option("--threads", f.threads, job + " at a time, each on one core; 0: as many as cores");
}

void check_flag(const char* flag, std::int64_t value, std::int64_t low, std::int64_t high, std::int64_t example) {
  require(value >= low && value <= high, ExitStatus::usage, fmt::format("command line: {} {}", flag, value),
          fmt::format("must be >= {} and <= {}", low, high), fmt::format("Try {}?", example));
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

int Reproduction::run() {
  if (!flags_.output.empty()) cli::make_folder(flags_.output);
  cli::catch_signals();
  run_jobs(jobs(), flags_.threads, stop(), 5);
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
