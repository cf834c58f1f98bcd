// Time of the kernels that every iteration is made of, against their floor of bytes and multiply-adds,
// on one core in the thread's own processor time. One JSON line each: ns of one call, the floor,
// and the fraction of it that is reached. Floors: the longer of multiply-adds and of reading the factor,
// at rates measured here; an adaptive step: a root and a division for each entry; normals:
// the Philox words they are made of. Checks before it times: each result against a naive loop.
//   bench_kernels [--smoke]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/clock.hpp"
#include "kernels/adapt/cholesky_gradient.hpp"

namespace kilochain {
namespace {

void line(const char* kernel, const char* real, Index n, double seconds, double floor_seconds) {
  std::printf(
      "{\"kernel\": \"%s\", \"real\": \"%s\", \"n\": %d, \"ns\": %.1f, \"floor_ns\": %.1f, \"of_floor\": %.3f}\n",
      kernel, real, n, seconds * 1e9, floor_seconds * 1e9, floor_seconds / seconds);
  std::fflush(stdout);
}
void check(bool ok, const char* kernel, Index n) {
  if (ok) return;
  std::fprintf(stderr, "bench_kernels: %s is wrong (n = %d). Run the tests of kernels?\n", kernel, n);
  std::exit(1);
}

template <class Real>
double words_seconds(double budget) {  // of one block of four Philox words
  constexpr int blocks = 256;
  static std::uint32_t sink[4 * blocks];
  return bench::best_of(budget,
                        [] {
                          Rng rng{1, 2, 3};
                          asm volatile("" : "+m"(rng));  // not known in advance
                          for (int b = 0; b < blocks; ++b) {
                            const Words w = rng.words(Purpose::proposal, static_cast<std::uint32_t>(b));
                            for (int k = 0; k < 4; ++k) sink[k * blocks + b] = w.v[k];
                          }
                          asm volatile("" : : "r"(sink) : "memory");
                        }) /
         blocks;
}

template <class Real>
void all(const char* real, double budget) {
  constexpr int P = HostTeam::panel<Real>;
  const HostTeam team;
  const double peak = bench::peak_flops<Real>(budget), entry = bench::root_and_division<Real>(budget),
               words = words_seconds<Real>(budget);
  for (const Index n : {25, 100, 785}) {
    const std::size_t size = factor_size<P>(n, FactorShape::dense), row = padded(static_cast<std::size_t>(n));
    std::vector<Real> L(size + 64), G(size + 64), v(row + 64), y(row + 64), z(row + 64);
    const auto factor = [&](std::vector<Real>& of) { return Factor<Real>(of.data(), size, FactorShape::dense); };
    for (Index i = 0; i < n; ++i) {
      v[static_cast<std::size_t>(i)] = static_cast<Real>(std::sin(1.0 + i));
      for (Index j = 0; j <= i; ++j)
        L[factor_index<P>(i, j)] = static_cast<Real>(i == j ? 1.0 : 0.3 * std::cos(i + 2.0 * j) / n);
    }
    const double read =
        static_cast<double>(size * sizeof(Real)) / bench::reading(static_cast<double>(size * sizeof(Real)), budget);
    const double product = std::max(static_cast<double>(n) * n / peak, read);
    multiply_lower(team, factor(L), Row(v.data(), row), Row(y.data(), row), n);
    double naive = 0;
    for (Index j = 0; j < n; ++j)
      naive += double(L[factor_index<P>(n - 1, j)]) * double(v[static_cast<std::size_t>(j)]);
    check(std::abs(naive - double(y[static_cast<std::size_t>(n - 1)])) < 1e-4, "multiply_lower", n);
    line("multiply_lower (L v)", real, n,
         bench::best_of(budget, [&] { multiply_lower(team, factor(L), Row(v.data(), row), Row(y.data(), row), n); }),
         product);
    multiply_transposed(team, factor(L), Row(v.data(), row), Row(y.data(), row), n);
    naive = 0;
    for (Index i = 0; i < n; ++i) naive += double(L[factor_index<P>(i, 0)]) * double(v[static_cast<std::size_t>(i)]);
    check(std::abs(naive - double(y[0])) < 1e-4, "multiply_transposed", n);
    line("multiply_transposed (L^T v)", real, n,
         bench::best_of(budget,
                        [&] { multiply_transposed(team, factor(L), Row(v.data(), row), Row(y.data(), row), n); }),
         product);

    std::int64_t iteration = 0;
    double square = 0;
    for (int k = 0; k < 400; ++k) {
      normals(team, Rng{7, 0, ++iteration}, Purpose::proposal, Row(z.data(), z.size()), n);
      for (Index i = 0; i < n; ++i)
        square += double(z[static_cast<std::size_t>(i)]) * double(z[static_cast<std::size_t>(i)]);
    }
    check(std::abs(square / (400.0 * n) - 1) < 6 * std::sqrt(2 / (400.0 * n)), "normals", n);
    line("normals", real, n,
         bench::best_of(budget,
                        [&] {
                          normals(team, Rng{7, 0, ++iteration}, Purpose::proposal, Row(z.data(), z.size()), n);
                        }),
         words * n / normals_per_block<Real>);

    FactorSettings s{1e-9, 0.55};
    s.optimizer = Optimizer::rmsprop;
    double beta = 1;
    FactorAdaptation<Real> a{factor(L), factor(G), factor(G), {&beta}};
    Signal<Real> signal;
    signal.rank = 1;
    signal.a[0] = Row(v.data(), row), signal.b[0] = Row(z.data(), row);
    signal.acceptance = 0.55;
    const ChainSource<Real> source{signal};
    line("adapt_factor (RMSProp)", real, n,
         bench::best_of(budget,
                        [&] {
                          adapt_factor(team, s, Schedule{++iteration, 1000, 1, true}, source, a, n);
                        }),
         std::max(entry * n * (n + 1) / 2, 2 * read));
    check(math::finite(L[0]), "adapt_factor", n);
  }
}

}  // namespace
}  // namespace kilochain

int main(int argc, char** argv) {
  bool smoke = false;
  CLI::App app{"times the kernels of an iteration against their floors, on one core"};
  app.add_flag("--smoke", smoke, "a few calls of each");
  CLI11_PARSE(app, argc, argv);
  kilochain::all<float>("float", smoke ? 1e-4 : 0.2);
  kilochain::all<double>("double", smoke ? 1e-4 : 0.2);
}
