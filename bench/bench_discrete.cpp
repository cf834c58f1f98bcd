// Time of a flip of the spin samplers, on one core in the thread's own processor time, best of many stretches. One JSON
// line each, beside its bar: ns of a flip asked for (a walk's flips whether it is accepted or not, undoing included).
// Energies are checked against the spins before anything is told. --data: the folder with the thesis's couplings and
// weights; without it couplings and weights are drawn, of the same shapes.
//   bench_discrete [--smoke] [--data FOLDER]
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bench/clock.hpp"
#include "kernels/discrete/intracluster.hpp"
#include "kernels/discrete/replica.hpp"
#include "kernels/discrete/sweeps.hpp"
#include "targets/discrete/ising.hpp"
#include "targets/discrete/rbm.hpp"
#include "targets/discrete/spin_arrays.hpp"

namespace kilochain::discrete {
namespace {

/// Best time of a flip over stretches of `steps` steps.
template <class Sampler, class Board>
void time(const char* name, const SpinModel& m, const typename Board::Model& view, typename Sampler::Settings settings,
          int steps, int stretches, double bar) {
  Sampler::resolve(settings, {m.n(), m.hamming.value_or(0), m.hamming.has_value(), m.expert.c_str()});
  const Replica<Sampler, Board> replica{view, settings, {1, m.beta, m.beta}};
  const Context context = cpu_context(1);
  const Buffer<char> memory(context, replica.bytes());
  std::vector<std::int8_t> spins(static_cast<std::size_t>(m.n()), -1);
  for (Index k = 0; k < m.hamming.value_or(m.n() / 2); ++k)  // a prime step meets every spin once
    spins[static_cast<std::size_t>(static_cast<std::int64_t>(k) * 7919 % m.n())] = 1;
  replica.assign(memory.data(), spins.data());
  double best = 1e30, accepted = 0, mean = 0;
  std::int64_t t = 0;
  for (int stretch = 0; stretch < stretches; ++stretch) {
    const double begin = thread_seconds();
    double flips = 0;
    for (int s = 0; s < steps; ++s) {
      Info info;
      replica.step(Rng{1, 0, t++}, memory.data(), info);
      flips += Sampler::num_stats == 3 ? info.stats[2] : m.n();
      accepted += info.acceptance_rate;
      mean += replica.board(memory.data(), 0).energy();
    }
    best = std::min(best, (thread_seconds() - begin) / flips);
  }
  for (Index i = 0; i < m.n(); ++i) spins[static_cast<std::size_t>(i)] = replica.board(memory.data(), 0).spin(i);
  const double energy = m.energy(spins.data());
  if (std::abs(replica.board(memory.data(), 0).energy() - energy) > 1e-7 * (1 + std::abs(energy))) {
    std::fprintf(stderr, "bench_discrete: the energy of %s is wrong. Run the tests of discrete?\n", name);
    std::exit(1);
  }
  const double ns = best * 1e9;
  std::printf(
      "{\"sampler\": \"%s\", \"ns_per_flip\": %.4g, \"flips_per_ns\": %.4g, \"bar_ns\": %.4g, \"holds\": %s, "
      "\"acceptance_rate\": %.3f, \"mean_energy\": %.2f}\n",
      name, ns, 1 / ns, bar, ns <= bar ? "true" : "false", accepted / static_cast<double>(t),
      mean / static_cast<double>(t));
  std::fflush(stdout);
}

SpinModel lattice(const std::string& size, double beta, std::optional<std::int64_t> hamming,
                  const std::string& couplings = "") {
  Ising::Settings s;
  s.size = size, s.beta = beta, s.hamming = hamming, s.couplings = couplings;
  return Ising::read(s);
}

double drawn(std::uint32_t k) { return uniform(Rng{5, 0, 0}, Purpose::start, k); }

void run(int stretches, int scale, const std::string& data) {
  using Lists = ClassBoard<MemberLists<std::uint16_t>>;
  using Bits = ClassBoard<MemberBits>;
  const WalkSettings expert{WalkPreset::im_expert, 1, 1, 0, 0};
  const Context context = cpu_context(1);
  {
    const SpinModel m = lattice("60x60", 1 / 2.27, 1800);
    SpinArrays a(context, m);
    time<Intracluster<RowBoard>, RowBoard>("intracluster im_expert, 60x60", m, *a.rows_of_bits(), expert, 20 * scale,
                                           stretches, 60);
    time<Intracluster<Lists>, Lists>("intracluster im_expert from lists, 60x60", m, *a.class_graph<std::uint16_t>(),
                                     expert, 20 * scale, stretches, 60);
  }
  {
    SpinModel m = lattice("9x9x9", 1, 364, data.empty() ? "" : data + "/ising3d-9x9x9-couplings.csv");
    if (data.empty())
      for (std::size_t k = 0; k < m.edges.size(); ++k)
        m.edges[k].coupling = drawn(static_cast<std::uint32_t>(k)) < 0.5 ? -1 : 1;
    SpinArrays a(context, m);
    const auto view = *a.class_graph<std::uint16_t>();
    time<Intracluster<Bits>, Bits>("intracluster im_expert, 9x9x9", m, view, expert, 100 * scale, stretches, 90);
    time<Intracluster<Lists>, Lists>("intracluster im_expert from lists, 9x9x9", m, view, expert, 100 * scale,
                                     stretches, 90);
  }
  {
    Rbm::Settings s;
    s.hamming = 428;
    SpinModel m;
    if (data.empty()) {
      std::vector<double> w(784 * 500);
      for (std::size_t k = 0; k < w.size(); ++k) w[k] = 0.2 * (drawn(static_cast<std::uint32_t>(k)) - 0.5);
      m = Rbm::from(784, 500, w, std::vector<double>(784), std::vector<double>(500));
      finish(m, s);
    } else {
      s.weights = data + "/rbm-weights-hidden500-visible784.npy";
      s.hidden_bias = data + "/rbm-bias-hidden500.npy", s.visible_bias = data + "/rbm-bias-visible784.npy";
      m = Rbm::read(s);
    }
    SpinArrays a(context, m);
    time<Intracluster<DenseBoard>, DenseBoard>("intracluster im_expert, RBM 784+500", m, a.layers(), expert, 10 * scale,
                                               stretches, 4000);
  }
  for (const char* size : {"60x60", "256x256"}) {
    const SpinModel m = lattice(size, 1 / 2.27, {});
    SpinArrays a(context, m);
    time<Metropolis<PackedLattice>, PackedLattice>((std::string("metropolis in words, ") + size).c_str(), m,
                                                   *a.packed(), {}, 100 * scale, stretches, 1 / 1.5);
  }
}

}  // namespace
}  // namespace kilochain::discrete

int main(int argc, char** argv) {
  CLI::App app("Time of a flip of the spin samplers.");
  bool smoke = false;
  std::string data;
  app.add_flag("--smoke", smoke, "a moment of each");
  app.add_option("--data", data, "folder with the thesis's couplings and weights");
  CLI11_PARSE(app, argc, argv);
  kilochain::discrete::run(smoke ? 2 : 200, smoke ? 1 : 4, data);
}
