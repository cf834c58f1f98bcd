// Every place of the source where kernels synchronise is left out in turn, and must be found out: without it there is a
// race.
//   1. all trials run, so that the places that they come to are known;
//   2. each runs again while places are weighed: which of them alone stand between accesses that conflict;
//   3. each such place is left out, in the first trial that needs it, whose launch must fail.
// A place that no trial needs is needless, or a trial is missing; or it is in the list of those that stay, each with
// its reason. So is a place that no trial comes to. An entry of that list that is found out after all is a failure,
// too.
#pragma once
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <regex>

#include "tests/emulated_device/fixture.hpp"

namespace kilochain {

struct SyncTrial {
  std::string what;
  std::function<void()> run;
};
/// A place that stays, although nothing shows that it is needed.
struct KeptSync {
  std::string place;  ///< "file.hpp: function", with " 2" where it is the function's second
  std::string why;
};

class SyncMutants {
 public:
  /// Files, or folders with all that is in them, whose places must be found out; less those that another test has.
  explicit SyncMutants(const std::vector<std::string>& files, const std::vector<std::string>& but = {}) {
    for (const std::string& file : files) {
      const std::filesystem::path path = root() / file;
      if (!std::filesystem::is_directory(path)) read(path);
      if (std::filesystem::is_directory(path))
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
          const std::string relative = std::filesystem::relative(entry.path(), root());
          const auto starts = [&](const std::string& folder) { return relative.starts_with(folder); };
          if (entry.is_regular_file() && std::none_of(but.begin(), but.end(), starts)) read(entry.path());
        }
    }
  }

  void expect_found_out(const std::vector<SyncTrial>& trials, const std::vector<KeptSync>& kept) const {
    emulated::forget_syncs();
    for (const SyncTrial& t : trials) t.run();
    const std::set<std::string> met = emulated::sync_places();
    std::map<std::string, const SyncTrial*> needed;
    for (const SyncTrial& t : trials) {
      emulated::weigh_syncs();
      t.run();
      for (const std::string& place : emulated::needed_syncs()) needed.emplace(place, &t);
    }
    EXPECT_TRUE(emulated::faults().empty()) << "nothing was left out";
    std::map<std::string, std::string> stay;
    for (const KeptSync& k : kept) EXPECT_TRUE(stay.emplace(k.place, k.why).second) << k.place << " is listed twice";
    int found = 0;
    for (const auto& [place, name] : names_) {
      const bool listed = stay.erase(name) != 0;
      if (const auto by = needed.find(place); by != needed.end()) {
        EXPECT_FALSE(listed) << name << " (" << place << ") is found out by " << by->second->what
                             << ": it need not be in the list";
        emulated::drop_syncs({place});
        EXPECT_THROW(by->second->run(), Error) << name << " (" << place << ") is left out of " << by->second->what;
        EXPECT_FALSE(emulated::faults().empty());
        emulated::forget_faults();
        ++found;
      } else {
        EXPECT_TRUE(listed) << name << " (" << place
                            << "): " << (met.count(place) ? "nobody sees that it is left out" : "no trial comes here");
      }
    }
    for (const auto& [name, why] : stay) ADD_FAILURE() << name << ": there is no such place (" << why << ")";
    std::cout << found << " of " << names_.size() << " places are found out when they are left out, in "
              << trials.size() << " trials; " << kept.size() << " stay for a reason\n";
  }

 private:
  static std::filesystem::path root() { return KILOCHAIN_SOURCE_DIR; }

  void read(const std::filesystem::path& path) {
    static const std::regex sync(R"(^[^/]*(\b\w+\.sync\(\)|__syncwarp\(|__syncthreads\(\)))");
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    std::map<std::string, int> count;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      if (!std::regex_search(lines[k], sync)) continue;
      const std::string function = function_around(lines, k), file_name = path.filename();
      if (function == "sync") continue;  // the team's own
      std::string name = file_name + ": " + function;
      if (const int which = ++count[function]; which > 1) name += " " + std::to_string(which);
      names_[file_name + ":" + std::to_string(k + 1)] = name;
    }
  }
  /// The nearest line above that is indented less, and less than all such lines between, and is a function's first.
  static std::string function_around(const std::vector<std::string>& lines, std::size_t k) {
    static const std::regex call(R"((\w+)\()"),
        other(R"(^\s*(\}|#|if\b|else\b|for\b|while\b|do\b|switch\b|case\b)|\[[&=])");
    const auto indent = [&](std::size_t i) { return lines[i].find_first_not_of(' '); };
    std::size_t least = indent(k);
    while (k-- > 0) {
      if (lines[k].empty() || lines[k][0] == '#' || indent(k) >= least) continue;
      least = indent(k);
      std::smatch match;
      if (std::regex_search(lines[k], other) || !std::regex_search(lines[k], match, call)) continue;
      if (match[1] != "__launch_bounds__") return match[1];
      const std::string rest = match.suffix().str() + lines[k + 1];
      if (std::regex_search(rest, match, call)) return match[1];
    }
    return "?";
  }

  std::map<std::string, std::string> names_;  ///< of "file:line"
};

}  // namespace kilochain
