// Random numbers on the device: the same words as on the CPU, and normals equal to rounding.
#include <random>

#include "kernels/contract.hpp"
#include "tests/gpu/device.hpp"
#include "tests/gpu/device_draws.hpp"

namespace kilochain {
namespace {

class GpuDraws : public GpuTest {};

TEST_F(GpuDraws, CurandWordsAreRandom123Words) {
  std::vector<CounterKey> counters = {
      {{0, 0, 0, 0}, {0, 0}},
      {{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}},
      {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}}};
  std::mt19937 bits(3);
  for (int i = 0; i < 5000; ++i) {
    CounterKey c;
    for (auto& v : c.c) v = bits();
    for (auto& v : c.k) v = bits();
    counters.push_back(c);
  }
  const auto words = device_words(device(), counters);
  // Random123's published answer for the third counter (digits of pi): not merely equal, but right.
  EXPECT_EQ(words[2].v[0], 0xd16cfe09u);
  EXPECT_EQ(words[2].v[1], 0x94fdccebu);
  EXPECT_EQ(words[2].v[2], 0x5001e420u);
  EXPECT_EQ(words[2].v[3], 0x24126ea1u);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const CounterKey& c = counters[i];
    const Words w = philox(c.c[0], c.c[1], c.c[2], c.c[3], c.k[0], c.k[1]);
    for (int k = 0; k < 4; ++k) ASSERT_EQ(words[i].v[k], w.v[k]) << "counter " << i << ", word " << k;
  }
}

template <class Real>
void expect_same_normals(const Context& context) {
  for (Index n : {1, 2, 3, 31, 32, 33, 65, 785}) {
    const Rng rng{12345, 7, (std::int64_t(1) << 33) + 5};
    std::vector<Real> expected(static_cast<std::size_t>(n) + 64);
    normals(HostTeam{}, rng, Purpose::proposal, Row(expected.data(), expected.size()), n);
    const auto z = device_normals<Real>(context, rng, n);
    // Rounding: the angle to eps, the radius (at most 9) to a few eps.
    for (std::size_t i = 0; i < z.size(); ++i)
      ASSERT_NEAR(z[i], expected[i], 32 * std::numeric_limits<Real>::epsilon()) << "n = " << n << ", " << i;
  }
}
TEST_F(GpuDraws, NormalsAreTheHosts) {
  expect_same_normals<float>(device());
  expect_same_normals<double>(device());
}

template <class Real>
void expect_same_functions(const Context& context) {
  std::vector<Real> x;
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<Real>(i) * Real(0.021) + Real(0.0107));
  const auto out = device_functions<Real>(context, x);
  const double eps = std::numeric_limits<Real>::epsilon();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real e = math::exp(x[i]), l = math::log(x[i] > 0 ? x[i] : -x[i]);
    ASSERT_NEAR(out[4 * i], e, 4 * eps * double(e)) << "exp " << x[i];
    ASSERT_NEAR(out[4 * i + 1], l, 4 * eps * std::max(1.0, std::abs(double(l)))) << "log " << x[i];
    ASSERT_NEAR(double(out[4 * i + 2]) * double(out[4 * i + 2]) + double(out[4 * i + 3]) * double(out[4 * i + 3]), 1.0,
                8 * eps);
  }
}
TEST_F(GpuDraws, ElementaryFunctionsAreTheHosts) {
  expect_same_functions<float>(device());
  expect_same_functions<double>(device());
}

}  // namespace
}  // namespace kilochain
