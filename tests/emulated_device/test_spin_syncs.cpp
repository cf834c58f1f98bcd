// Mutants of every place where a spin sampler's kernel synchronises: without it there is a race, or there are other bits.
// Those that survive are listed: most end a function, which leaves what it wrote visible to its callers.
#include <iostream>

#include "tests/emulated_device/fixture.hpp"
#include "tests/gpu/spin_bench.hpp"

namespace kilochain::discrete {
namespace {

using namespace testing_support;

struct Trial {
  SpinCase what;
  std::set<std::string> places;
  SpinOutcome right;
};

class EmulatedSpinSyncs : public EmulatedDevice {
 protected:
  static SpinOutcome outcome(const SpinCase& c) {
    SpinBench bench(device(), c.sampler, c.settings, c.model, 1);
    return bench.run(3);
  }
  static bool found_out(const std::vector<Trial>& trials, const std::string& place) {
    for (const Trial& t : trials) {
      if (!t.places.count(place)) continue;
      emulated::drop_syncs({place});
      bool found = false;
      try {
        found = outcome(t.what).spins != t.right.spins;
      } catch (const Error&) {
        found = true;
      }
      emulated::forget_faults();
      if (found) return true;
    }
    return false;
  }
};

TEST_F(EmulatedSpinSyncs, AreLeftOutInTurn) {
  std::vector<Trial> trials;
  std::set<std::string> places;
  for (const SpinCase& c : spin_cases()) {
    if (c.model.n() > 120) continue;
    emulated::forget_syncs();
    SpinOutcome right = outcome(c);
    trials.push_back({c, emulated::sync_places(), std::move(right)});
    places.insert(trials.back().places.begin(), trials.back().places.end());
  }
  emulated::forget_syncs();
  for (const Trial& t : trials) outcome(t.what);  // so that all places are known
  std::vector<std::string> survivors;
  for (const std::string& place : places)
    if (!found_out(trials, place)) survivors.push_back(place);
  std::cout << places.size() - survivors.size() << " of " << places.size() << " mutants are found out; not found:";
  for (const std::string& place : survivors) std::cout << " " << place;
  std::cout << "\n";
  EXPECT_GT(places.size(), 2 * survivors.size());
}

}  // namespace
}  // namespace kilochain::discrete
