// Mutants of every place where a kernel synchronises: without it there is a race, or there are other bits. Some survive:
// most of those end a function, which leaves what it wrote visible to its callers (docs/add_a_sampler.md), or say in a
// comment beside them why they stay. All are listed, the others as needless.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "tests/emulated_device/fixture.hpp"
#include "tests/gpu/bench.hpp"

namespace kilochain {
namespace {

constexpr Case wide = {"gp51_gaussian", 51};  // more than a panel of the factor

struct Trial {
  std::string sampler;
  SettingTexts settings;
  Scope scope;
  std::set<std::string> places;
  std::vector<char> right;
};

class EmulatedSyncs : public EmulatedDeviceWith<int> {
 protected:
  /// The last of its chains is quarantined at its start.
  static std::vector<char> bits(const Trial& t) {
    static const Context alone = [] {
      Context c = device();
      c.shared_bytes = 0;  // a warp for each chain and rounds: where tiles meet is left out in test_tiles.cpp
      return c;
    }();
    Bench<float> chains(alone, t.sampler, wide, 4, t.scope, t.settings);
    chains.start(3);
    chains.run(3, true);
    chains.run(2, false);
    return chains.outcome().saved;
  }
  static std::vector<Trial> all_trials() {
    std::vector<Trial> trials;
    for (Scope scope : {Scope::chain, Scope::pooled}) {
      for (const std::string& name : sampler_names()) trials.push_back({name, {}, scope, {}, {}});
      trials.push_back({"gad_mala_fast", {{"optimizer", "relative"}}, scope, {}, {}});
      trials.push_back({"hmc", {{"mass", "dense"}}, scope, {}, {}});
    }
    for (Trial& t : trials) {
      emulated::forget_syncs();
      t.right = bits(t);
      t.places = emulated::sync_places();
    }
    return trials;
  }
  static bool found_out(const std::vector<Trial>& trials, const std::string& place) {
    for (const Trial& t : trials) {
      if (!t.places.count(place)) continue;
      emulated::drop_syncs({place});
      bool found = false;
      try {
        found = bits(t) != t.right;
      } catch (const Error&) {
        found = true;
      }
      emulated::forget_faults();
      if (found) return true;
    }
    return false;
  }
};

/// The lines of "file:line" and after it.
std::vector<std::string> lines_from(const std::string& place) {
  static std::map<std::string, std::string> paths;
  if (paths.empty())
    for (const char* room : {"kernels", "targets", "host"})
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(KILOCHAIN_SOURCE_DIR + ("/" + std::string(room))))
        paths[entry.path().filename()] = entry.path();
  const auto colon = place.find(':');
  std::ifstream file(paths[place.substr(0, colon)]);
  std::vector<std::string> lines;
  std::string line;
  for (int k = std::stoi(place.substr(colon + 1)); std::getline(file, line); --k)
    if (k <= 1) lines.push_back(line);
  return lines;
}
/// Whether the team has nothing more to do before the function ends, or a comment says why it syncs here.
bool may_be_left_out(const std::vector<std::string>& lines) {
  if (lines.empty()) return false;
  if (lines[0].find("//") != std::string::npos) return true;
  for (std::size_t k = 1; k < lines.size() && !lines[k].empty() && lines[k][0] != '}'; ++k) {
    if (lines[k].find("template <") != std::string::npos) break;
    if (lines[k].find("team") != std::string::npos) return false;
  }
  return true;
}

TEST_P(EmulatedSyncs, AreLeftOutInTurn) {
  const std::vector<Trial> trials = all_trials();
  std::set<std::string> places, survivors;
  for (const Trial& t : trials) places.insert(t.places.begin(), t.places.end());
  emulated::forget_syncs();
  for (const Trial& t : trials) bits(t);  // so that all of them are known
  int number = 0, tried = 0;
  for (const std::string& place : places) {
    if (number++ % 4 != GetParam()) continue;
    ++tried;
    if (found_out(trials, place)) continue;
    survivors.insert(place + (may_be_left_out(lines_from(place)) ? "" : " (needless)"));
  }
  std::cout << tried - static_cast<int>(survivors.size()) << " of " << tried << " mutants are found out; not found:";
  for (const std::string& place : survivors) std::cout << " " << place;
  std::cout << "\n";
  EXPECT_GT(tried, static_cast<int>(survivors.size()));
}
INSTANTIATE_TEST_SUITE_P(Quarters, EmulatedSyncs, testing::Range(0, 4));

}  // namespace
}  // namespace kilochain
