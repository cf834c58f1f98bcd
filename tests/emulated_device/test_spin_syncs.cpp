// Every place where a spin sampler's kernel synchronises is left out in turn (tests/emulated_device/mutants.hpp).
#include "tests/emulated_device/mutants.hpp"
#include "tests/gpu/spin_bench.hpp"

namespace kilochain::discrete {
namespace {

using namespace testing_support;

using EmulatedSpinSyncs = EmulatedDevice;

TEST_F(EmulatedSpinSyncs, AreFoundOut) {
  std::vector<SyncTrial> trials;
  std::vector<SpinCase> cases = spin_cases();
  // So few spins that a flip sums all weights anew.
  cases.push_back({"gibbs_with_gradients", "a glass of nine reals", {{"moves", "3"}}, glass(9, true, 0.5, {}), false});
  for (const SpinCase& c : cases) {
    if (c.model.n() > 120) continue;
    trials.push_back({c.what, [c] {
                        SpinBench bench(device(), c.sampler, c.settings, c.model, 1);
                        bench.run(3);
                        bench.advance(0);  // chains stand there already
                      }});
  }
  SyncMutants({"kernels/discrete", "host/chains/replicas.hpp"}).expect_found_out(trials, {});
}

}  // namespace
}  // namespace kilochain::discrete
