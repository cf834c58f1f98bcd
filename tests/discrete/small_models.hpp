// Small spin models, and all that is known of them by enumeration.
#pragma once
#include <cmath>
#include <functional>
#include <map>

#include "kernels/discrete/replica.hpp"
#include "targets/discrete/ising.hpp"
#include "targets/discrete/rbm.hpp"
#include "targets/discrete/spin_arrays.hpp"

namespace kilochain::discrete::testing_support {

using Spins = std::vector<std::int8_t>;

inline SpinModel torus(const std::string& size, double beta, std::optional<std::int64_t> hamming, double coupling = 1,
                       double field = 0) {
  Ising::Settings s;
  s.size = size, s.beta = beta, s.hamming = hamming, s.coupling = coupling, s.field = field;
  return Ising::read(s);
}

/// A graph of n nodes in a ring with chords; couplings are +-1, or real ones.
inline SpinModel glass(Index n, bool real, double beta, std::optional<std::int64_t> hamming) {
  SpinModel m;
  m.target = "spin_glass";
  m.shape = {n};
  m.field.assign(static_cast<std::size_t>(n), 0);
  const Rng rng{11, 0, 0};
  std::uint32_t k = 0;
  for (Index i = 0; i < n; ++i)
    for (const Index step : {1, 3}) {
      if (step == 3 && i % 2) continue;
      const double u = uniform(rng, Purpose::start, k++);
      m.edges.push_back({i, (i + step) % n, real ? 3 * u - 1.2 : u < 0.5 ? -1.0 : 1.0});
    }
  if (real)
    for (Index i = 0; i < n; ++i) m.field[static_cast<std::size_t>(i)] = uniform(rng, Purpose::start, k++) - 0.4;
  SpinSettings s;
  s.beta = beta, s.hamming = hamming;
  finish(m, s);
  return m;
}

/// A spin between others whose pulls cancel but for rounding: 0.1 + 0.2 - 0.3 = 6e-17.
inline SpinModel rounded_ties(double beta) {
  SpinModel m;
  m.target = "spin_glass", m.shape = {4}, m.field.assign(4, 0);
  m.edges = {{0, 1, 0.1}, {0, 2, 0.2}, {0, 3, -0.3}};
  SpinSettings s;
  s.beta = beta;
  finish(m, s);
  return m;
}

/// The reference RBM of 6 visible and 4 hidden units; with its biases or without.
inline SpinModel small_rbm(bool biases, std::optional<std::int64_t> hamming) {
  const std::vector<std::vector<double>> w = {
      {-0.678948, 0.089187, 0.068258, -0.833719}, {1.233709, -0.298149, 0.184885, -0.66391},
      {-0.262736, 0.612046, -0.664909, 0.042739}, {-0.179597, 0.18888, 0.676582, -0.790612},
      {-0.798987, 0.269425, 0.249836, -0.054483}, {-0.171106, -0.734763, 0.137134, -0.304575}};
  std::vector<double> rows;
  for (std::size_t h = 0; h < 4; ++h)
    for (const auto& row : w) rows.push_back(row[h]);
  std::vector<double> b(6), c(4);
  if (biases)
    b = {-0.407328, -0.494202, 0.155158, -0.411093, 0.293475, 0.256491}, c = {0.294599, 0.37013, 0.59691, 0.195724};
  SpinModel m = Rbm::from(6, 4, rows, b, c);
  SpinSettings s;
  s.hamming = hamming;
  finish(m, s);
  return m;
}

inline std::uint32_t code_of(const Spins& spins) {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < spins.size(); ++i) code |= static_cast<std::uint32_t>(spins[i] > 0) << (i % 32);
  return code;
}
/// Of models beyond 32 spins the code is repeated.
inline Spins spins_of(std::uint32_t code, Index n) {
  Spins spins(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < spins.size(); ++i) spins[i] = code >> (i % 32) & 1 ? 1 : -1;
  return spins;
}

/// Every state of the model's set with its energy and probability.
struct Enumeration {
  std::vector<std::uint32_t> code;
  std::vector<double> energy, probability, cumulative;
  std::map<std::uint32_t, std::size_t> index;
  double mean = 0, variance = 0;

  explicit Enumeration(const SpinModel& m) {
    double lowest = INFINITY, sum = 0;
    for (std::uint32_t c = 0; c < std::uint32_t(1) << m.n(); ++c) {
      const Spins spins = spins_of(c, m.n());
      Index differ = 0;
      for (std::size_t i = 0; i < spins.size(); ++i) differ += spins[i] != m.reference[i];
      if (m.hamming && differ != *m.hamming) continue;
      index[c] = code.size();
      code.push_back(c);
      energy.push_back(m.energy(spins.data()));
      lowest = std::min(lowest, energy.back());
    }
    for (const double e : energy) probability.push_back(std::exp(-m.beta * (e - lowest))), sum += probability.back();
    double before = 0;
    for (std::size_t k = 0; k < code.size(); ++k) {
      probability[k] /= sum;
      cumulative.push_back(before += probability[k]);
      mean += probability[k] * energy[k];
    }
    for (std::size_t k = 0; k < code.size(); ++k) variance += probability[k] * (energy[k] - mean) * (energy[k] - mean);
  }
  std::size_t draw(double u) const {
    return std::min<std::size_t>(
        code.size() - 1,
        static_cast<std::size_t>(std::lower_bound(cumulative.begin(), cumulative.end(), u) - cumulative.begin()));
  }
};

/// A replica on the CPU, of a model that is turned already (its reference is all -1).
template <class Sampler, class Board>
class OneReplica {
 public:
  OneReplica(const SpinModel& model, typename Board::Model view, typename Sampler::Settings settings, Rungs rungs)
      : n_(model.n()), replica_{view, settings, rungs}, memory_(context_, replica_.bytes()) {}
  OneReplica(const SpinModel& model, typename Board::Model view, typename Sampler::Settings settings)
      : OneReplica(model, view, settings, {1, model.beta, model.beta}) {}
  void assign(const Spins& spins) { replica_.assign(memory_.data(), spins.data()); }
  Info step(const Rng& rng) {
    Info info;
    replica_.step(rng, memory_.data(), info);
    return info;
  }
  Board board() { return replica_.board(memory_.data(), 0); }
  Spins spins() {
    Spins s(static_cast<std::size_t>(n_));
    for (Index i = 0; i < n_; ++i) s[static_cast<std::size_t>(i)] = board().spin(i);
    return s;
  }
  char* scratch() { return replica_.scratch(memory_.data()); }

 private:
  Index n_;
  Context context_ = cpu_context(1);
  Replica<Sampler, Board> replica_;
  Buffer<char> memory_;
};

/// Standard normal deviate of a chi-square of k degrees of freedom (Wilson and Hilferty 1931). p = 1e-4: 3.72.
inline double chi_square_z(double x, double k) {
  return (std::cbrt(x / k) - (1 - 2 / (9 * k))) / std::sqrt(2 / (9 * k));
}
/// Of counts against probabilities, states that expect fewer than 8 put together.
inline double chi_square_z(const std::vector<double>& counts, const std::vector<double>& probability, double total) {
  double x = 0, k = -1, rest = 0, rest_expected = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    const double expected = total * probability[s];
    if (expected < 8) {
      rest += counts[s], rest_expected += expected;
      continue;
    }
    x += (counts[s] - expected) * (counts[s] - expected) / expected, ++k;
  }
  if (rest_expected > 0) x += (rest - rest_expected) * (rest - rest_expected) / rest_expected, ++k;
  return chi_square_z(x, k);
}

}  // namespace kilochain::discrete::testing_support
