// The turn of the microcanonical sampler against its differential equation, du/dt = (I - u u^T) f/(n - 1) and kinetic
// energy growing by f^T u dt, and backwards; ChEES finds one length of trajectories from short ones.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/samplers/chees_hmc.hpp"
#include "kernels/samplers/mams.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/chains.hpp"
#include "tests/support/single_chain.hpp"

namespace kilochain::testing_support {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
Vector plus(Vector a, double c, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += c * b[i];
  return a;
}
/// Runge and Kutta's classical rule, 2 000 steps; the last entry of `u` is the kinetic energy.
Vector turned(Vector u, const Vector& f, double time) {
  const auto n = f.size();
  const auto slope = [&](const Vector& at) {
    const Vector v(at.begin(), at.begin() + std::ptrdiff_t(n));
    const double along = dot(v, f);
    Vector out = plus(Vector(n), 1 / (double(n) - 1), plus(f, -along, v));
    out.push_back(along);
    return out;
  };
  u.push_back(0);
  for (int k = 0; k < 2000; ++k) {
    const double h = time / 2000;
    const Vector a = slope(u), b = slope(plus(u, h / 2, a)), c = slope(plus(u, h / 2, b)), d = slope(plus(u, h, c));
    u = plus(plus(u, h / 6, plus(a, 1, d)), h / 3, plus(b, 1, c));
  }
  return u;
}

TEST(Microcanonical, TurnsAsItsEquationSays) {
  for (const Index n : {1, 2, 3, 7})
    for (const double time : {0.01, 0.7, -0.7, 3.0}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", time " << time);
      const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", std::to_string(n)}});
      Mams<double>::Settings settings;
      SingleChain<Mams<double>> chain(context, *target, settings);
      chain.start(exact_draw(target->info(), 3, 0));
      const auto size = static_cast<std::size_t>(n > 1 ? n : 2);
      Vector u(size), f(size);
      for (std::size_t i = 0; i < size; ++i) u[i] = std::cos(1 + 2.0 * double(i)), f[i] = 3 * std::sin(2 + double(i));
      u = plus(Vector(size), 1 / std::sqrt(dot(u, u)), u);
      auto& st = chain.state;
      std::vector<double> g(32);
      for (Index i = 0; i < n; ++i) st.r[i] = u[std::size_t(i)], g[std::size_t(i)] = f[std::size_t(i)];
      *st.kinetic = 0, *st.z = n == 1 ? -f[1] : 0, *st.w = n == 1 ? u[1] : 0;  // its force is -z
      Mams<double>::turn(chain.team, settings, chain.adaptation, time, 0.0, Row<double>(g.data(), g.size()), st.work,
                         st, n);
      const Vector wanted = turned(u, f, time);
      for (Index i = 0; i < n; ++i) EXPECT_NEAR(st.r[i], wanted[std::size_t(i)], 1e-10);
      if (n == 1) {
        EXPECT_NEAR(*st.w, wanted[1], 1e-10);
      }
      EXPECT_NEAR(*st.kinetic, wanted[size], 1e-10);
    }
}

TEST(Chees, LearnsOneLengthFromShortOnes) {
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "6"}, {"means", "0"}, {"sds", "5"}});
  const Index chains = 64;
  Vector lengths;
  for (const char* step : {"0.01", "0.1"}) {
    const auto sampler = make_chains<double>(context, "chees_hmc", {{"step_size", step}}, chains, 6, Scope::pooled);
    start_at<double>(context, *target, *sampler, chains, exact_points<double>(target->info(), chains, 1));
    run_phase<double>(context, *target, *sampler, chains, Scope::pooled, Phase{0, 1500, 1500, true, 2});
    Recorded<double> out(chains, 6, 256);
    run_phase<double>(context, *target, *sampler, chains, Scope::pooled, Phase{1500, 256, 1500, false, 2}, &out);
    double length = 0;
    for (std::int64_t t = 0; t < 256; ++t) length += double(out.stat(2, 0, t)) * double(out.stat(3, 0, t)) / 256;
    lengths.push_back(length);
  }
  // E sin^2 (h T/5) over the jitter h is largest where tan(2 T/5) = 2 T/5: T = 11.2, on average 5.6 and half a step.
  for (const double length : lengths) EXPECT_NEAR(length, 6.5, 1.5);
}

}  // namespace
}  // namespace kilochain::testing_support
