// Spin samplers on CUDA: the CPU's draws, bit for bit where energies are integers; the enumerated law; save and load.
#include "tests/gpu/device.hpp"
#include "tests/gpu/spin_bench.hpp"

namespace kilochain::discrete {
namespace {

using namespace testing_support;

class GpuSpins : public GpuTest {};

/// Spins are the same in any case: rounding would have to fall between a random number and its threshold, 1e-13 a choice.
void expect_same(const SpinOutcome& cpu, const SpinOutcome& gpu, const SpinCase& c) {
  SCOPED_TRACE(c.what);
  EXPECT_EQ(cpu.spins, gpu.spins);
  ASSERT_EQ(cpu.draws.size(), gpu.draws.size());
  const double edges = static_cast<double>(c.model.edges.size()) + static_cast<double>(c.model.n()) * 35;
  const double rounding = c.integers ? 0 : 10 * edges * 2.2e-16;
  for (std::size_t k = 0; k < cpu.draws.size(); ++k) ASSERT_NEAR(cpu.draws[k], gpu.draws[k], rounding) << k;
  for (std::size_t k = 0; k < cpu.lp.size(); ++k) {
    ASSERT_NEAR(cpu.lp[k], gpu.lp[k], rounding) << k;
    ASSERT_NEAR(cpu.acceptance_rate[k], gpu.acceptance_rate[k], 1e-6) << k;  // float, of exponentials
  }
  for (std::size_t k = 0; k < cpu.stats.size(); ++k) ASSERT_NEAR(cpu.stats[k], gpu.stats[k], 1e-6) << k;
  for (std::size_t k = 0; k < cpu.positions.size(); ++k) ASSERT_NEAR(cpu.positions[k], gpu.positions[k], rounding) << k;
  for (std::size_t k = 0; k < cpu.controls.size(); ++k) {
    EXPECT_EQ(cpu.controls[k].iteration, gpu.controls[k].iteration);
    EXPECT_EQ(cpu.controls[k].counted, gpu.controls[k].counted);
    EXPECT_NEAR(cpu.controls[k].acceptance_sum, gpu.controls[k].acceptance_sum, 1e-6);
  }
}

TEST_F(GpuSpins, DrawTheHostsDraws) {
  const Index num_chains = cuda_emulated() ? 3 : 600;  // more than one chain to a block
  for (const SpinCase& c : spin_cases()) {
    SpinBench cpu(host(), c.sampler, c.settings, c.model, num_chains),
        gpu(device(), c.sampler, c.settings, c.model, num_chains);
    for (const std::int64_t iterations : {2, 3}) {  // in pieces
      const SpinOutcome a = cpu.run(iterations, 5), b = gpu.run(iterations, 5);
      expect_same(a, b, c);
    }
  }
}

// A reference of both signs: magnetization is a sum over spins then. The 1024th iteration makes added up reals anew.
TEST_F(GpuSpins, KnowTheirReference) {
  SpinModel m = torus("3x5", 0.4, 7);
  for (std::size_t i = 0; i < m.reference.size(); i += 2) m.reference[i] = 1;
  const SpinCase c{"intracluster", "two-sided reference", {{"walk_max", "2"}}, m, true};
  SpinBench cpu(host(), c.sampler, c.settings, m, 2), gpu(device(), c.sampler, c.settings, m, 2);
  cpu.place(true), gpu.place(true);
  const SpinOutcome a = cpu.run(4), b = gpu.run(4);
  expect_same(a, b, c);
}

TEST_F(GpuSpins, GoOnWithTheSameBitsWhenLoaded) {
  const SpinModel m = glass(33, true, 0.5, 11);
  for (const char* sampler : {"intracluster", "dmala"}) {
    SpinBench whole(device(), sampler, {}, m, 3), first(device(), sampler, {}, m, 3),
        second(device(), sampler, {}, m, 3);
    whole.run(2), first.run(2);
    second.chains().load(first.chains().save());
    second.reached_ = 2;
    const SpinOutcome a = whole.run(3), b = second.run(3);
    EXPECT_EQ(a.spins, b.spins) << sampler;
    EXPECT_EQ(a.draws, b.draws) << sampler;
  }
}

// Statistical: means of independent chains about the enumerated one, |z| < 5 (6e-7 for each of 4).
TEST_F(GpuSpins, HaveTheEnumeratedLaw) {
  const double beta = 1 / 2.27;
  const Index num_chains = cuda_emulated() ? 64 : 4096;
  const std::int64_t iterations = cuda_emulated() ? 30 : 400, forget = iterations / 3;
  struct Law {
    const char* sampler;
    SettingTexts settings;
    SpinModel model;
    double mean, variance;
  };
  for (const Law& law :
       {Law{"intracluster",
            {{"walk_max", "4"}, {"gamma_max", "0.44"}},
            torus("4x4", beta, 8),
            -7.874137399852,
            22.481585834097},
        Law{"metropolis", {{"sweeps", "3"}}, torus("4x4", beta, {}), -25.03976864626712, 64.6040022768226},
        Law{"gibbs", {{"sweeps", "2"}}, small_rbm(true, {}), -0.7811263766264384, 0.7386785810613116},
        Law{"gibbs_with_gradients", {{"moves", "6"}}, torus("4x4", beta, 8), -7.874137399852, 22.481585834097}}) {
    SpinBench gpu(device(), law.sampler, law.settings, law.model, num_chains);
    const SpinOutcome out = gpu.run(iterations);
    double sum = 0, squares = 0;
    for (Index c = 0; c < num_chains; ++c) {
      double mean = 0;
      for (std::int64_t t = forget; t < iterations; ++t)
        mean += out.draws[2 * static_cast<std::size_t>(c * iterations + t)] / static_cast<double>(iterations - forget);
      sum += mean, squares += mean * mean;
    }
    const double mean = sum / num_chains, error = std::sqrt((squares / num_chains - mean * mean) / (num_chains - 1));
    EXPECT_LT(std::abs(mean - law.mean), 5 * error) << law.sampler << ": " << mean << " +- " << error;
    EXPECT_LT(error, std::sqrt(law.variance / num_chains)) << law.sampler;
  }
}

}  // namespace
}  // namespace kilochain::discrete
