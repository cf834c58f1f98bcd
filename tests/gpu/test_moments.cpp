// The streaming summary and the progress line's figures of draws that are added on a device: every figure is the CPU's, bit
// for bit where it has fused multiply-adds, whatever the shape, the windows, the batches of chains, and whoever is excluded
// on the way.
#include <cmath>
#include <random>

#include "host/chains/window_digest.hpp"
#include "host/statistics/progress_statistic.hpp"
#include "host/statistics/streaming/streaming.hpp"
#include "tests/gpu/device.hpp"

namespace kilochain {
namespace {

struct Shape {
  std::int64_t chains, dim, draws, first, tracked = 256, expected = 0;
};

/// Autoregressions, each parameter with a mean and a width of its own; `jump` moves all draws after the first 20.
template <class Real>
std::vector<Real> walks(const Shape& s, double jump) {
  std::vector<Real> x(static_cast<std::size_t>(s.chains * s.draws * s.dim));
  std::mt19937_64 engine(5);
  std::normal_distribution<double> normal;
  const View3<Real> to{x.data(), s.chains, s.draws, s.dim};
  for (Count c = 0; c < s.chains; ++c)
    for (Count d = 0; d < s.dim; ++d) {
      double v = normal(engine);
      for (Count t = 0; t < s.draws; ++t, v = 0.8 * v + 0.6 * normal(engine))
        to(c, t, d) =
            static_cast<Real>(static_cast<double>(1 + d) * (v + (t > 20 ? jump : 0)) + static_cast<double>(d));
    }
  return x;
}

void expect_same(const std::vector<ParameterSummary>& a, const std::vector<ParameterSummary>& b) {
  ASSERT_EQ(a.size(), b.size());
  int finite = 0;
  for (std::size_t d = 0; d < a.size(); ++d)
    for (const auto& [name, title, figure, unit] : summary_columns) {
      const double x = a[d].*figure, y = b[d].*figure;
      finite += std::isfinite(x);
      EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << name << " of " << d << ": " << x << " and " << y;
    }
  EXPECT_GT(finite, 0);
}

class GpuMoments : public GpuTest {
 protected:
  /// Windows of `window` draws at most, in batches of `batch` chains; the last chain is excluded after `excluded` draws.
  template <class Real>
  void compare(const Shape& s, std::int64_t window, std::int64_t batch, std::int64_t excluded = -1, double jump = 0) {
    if (!kFusedOnce && !cuda_emulated()) {
      skip_aloud("the CPU half of this build has no fused multiply-adds, which every device has: bits differ");
      GTEST_SKIP() << "Build with -DCMAKE_CXX_FLAGS=-march=x86-64-v3?";
    }
    SCOPED_TRACE(testing::Message() << s.chains << " chains, " << s.dim << " parameters, " << s.draws << " draws");
    const std::vector<Real> draws = walks<Real>(s, jump);
    const View3<const Real> all{draws.data(), s.chains, s.draws, s.dim};
    const auto rest = [&](Count t) { return View3<const Real>{draws.data() + t * s.dim, s.chains, s.draws, s.dim}; };
    StreamingOptions options;
    options.first_values = s.first * s.chains;
    options.max_tracked_chains = s.tracked;
    StreamingSummary here(s.chains, s.dim, s.expected, options), there(s.chains, s.dim, s.expected, options);
    ProgressStatistic look_here(s.chains, s.dim), look_there(s.chains, s.dim);
    const std::int64_t begun = s.first + 3;
    there.add(all, begun, 1), look_there.add(all, begun, 1);
    ASSERT_FALSE(there.exact());
    there.move_to(device()), look_there.move_to(device());
    Buffer<std::uint8_t> out(device(), static_cast<std::size_t>(batch));
    Buffer<ProgressFigures> figures(device(), kProgressParameters);
    Count now = begun;
    here.add(all, begun, 1), look_here.add(all, begun, 1);
    while (now < s.draws) {
      const Count count = there.begin_stretch(std::min(window, s.draws - now), 1);
      const bool leaves = excluded >= 0 && now >= excluded;
      for (Count first = 0; first < s.chains; first += batch) {
        const Count chains = std::min(batch, s.chains - first);
        std::vector<Real> part;
        for (Count c = first; c < first + chains; ++c)
          part.insert(part.end(), &all(c, now, 0), &all(c, now, 0) + count * s.dim);
        Buffer<Real> on(device(), part.size());
        on.upload(part.data());
        std::vector<std::uint8_t> gone(static_cast<std::size_t>(batch));
        if (first + chains == s.chains) gone[static_cast<std::size_t>(chains - 1)] = leaves;
        out.upload(gone.data());
        const View3<const Real> view{on.data(), chains, count, s.dim};
        there.add_on_device(view, first, count, out.data());
        look_there.add_on_device(view, first, count, out.data());
        synchronize(device());
      }
      there.end_stretch(count), look_there.end_stretch(count, figures.data());
      if (leaves)
        for (auto* summary : {&here, &there}) summary->exclude(s.chains - 1);
      if (leaves) look_here.exclude(s.chains - 1), look_there.exclude(s.chains - 1);
      here.add(rest(now), count, 1), look_here.add(rest(now), count, 1);
      now += count;
    }
    there.bring_back();
    const std::vector<std::string> names(static_cast<std::size_t>(s.dim), "x");
    expect_same(there.results(names, 1), here.results(names, 1));
    // Rounding: sums over at most 256 chains and 32 blocks, in another order, of differences that cancel.
    const auto a = look_here.worst(), b = look_there.worst_of(figures.host().data(), now);
    EXPECT_NEAR(a.rhat_max, b.rhat_max, 1e-10 * a.rhat_max);
    EXPECT_NEAR(a.ess_min, b.ess_min, 1e-8 * a.ess_min);
  }
};

TEST_F(GpuMoments, AreTheCpusBits) {
  compare<float>({1, 1, 150, 40}, 7, 1);
  compare<float>({300, 1, 80, 6, 20}, 33, 300);
  compare<double>({33, 2, 150, 8}, 64, 33);
  compare<float>({3, 31, 150, 16, 256, 150}, 150, 3);
  compare<double>({33, 33, 90, 8, 10}, 5, 33);
  compare<float>({3, 257, 80, 10, 2}, 20, 3);
}
// 17 frames of 64: means of 4^5 draws are made and met.
TEST_F(GpuMoments, LagsOfEveryLevel) { compare<float>({2, 1, 1300, 30}, 100, 2); }
TEST_F(GpuMoments, BatchesShareCells) {  // 16 chains of one parameter are one cell
  compare<float>({33, 1, 100, 10, 12}, 20, 5);
  compare<double>({7, 18, 100, 12}, 31, 3);
}
TEST_F(GpuMoments, WithoutWhoIsExcluded) {
  compare<float>({5, 17, 100, 12}, 20, 5, 50);
  compare<float>({5, 3, 100, 12}, 20, 2, 0);
}
TEST_F(GpuMoments, LearnAgainWhenDrawsMove) { compare<float>({12, 5, 400, 24}, 50, 12, -1, 30); }

TEST_F(GpuMoments, ADigestIsTheRecordsSums) {
  for (const Index chains : {1, 3, 33, 300}) {
    constexpr Count slots = 40, count = 37, first = 100, thin = 2;
    std::vector<ChainControl> control(static_cast<std::size_t>(chains));
    std::vector<std::uint8_t> diverging(static_cast<std::size_t>(chains) * slots);
    WindowDigest expected;
    std::vector<std::uint8_t> quarantined;
    for (Index c = 0; c < chains; ++c) {
      ChainControl& of = control[static_cast<std::size_t>(c)];
      if (c % 4 == 1) of.status = ChainStatus::proposal;
      of.iteration = c % 4 == 1 ? first - 10 + c % 60 : first + count * thin;
      of.acceptance_sum = c, of.counted = 7;
      const Count made = c % 4 == 1 ? (of.iteration - first) / thin : count;
      for (Count t = 0; t < slots; ++t) {
        const bool diverged = (c + t) % 5 == 0;
        diverging[static_cast<std::size_t>(c * slots + t)] = diverged;
        expected.divergences += diverged && t < made;
      }
      quarantined.push_back(c % 4 == 1);
      expected.quarantined += c % 4 == 1;
      if (c % 4 != 1) expected.acceptance_sum += c, expected.counted += 7;
    }
    Buffer<ChainControl> records(device(), control.size());
    Buffer<std::uint8_t> flags(device(), diverging.size()), out(device(), quarantined.size());
    Buffer<WindowDigest> digest(device(), 1);
    records.upload(control.data()), flags.upload(diverging.data());
    digest_window(device(), {records.data(), {flags.data(), chains, slots}, first, thin, count}, out.data(),
                  digest.data());
    const WindowDigest d = digest.host()[0];
    EXPECT_EQ(out.host(), quarantined);
    EXPECT_EQ(d.quarantined, expected.quarantined);
    EXPECT_EQ(d.divergences, expected.divergences);
    EXPECT_EQ(d.acceptance_sum, expected.acceptance_sum);  // small whole numbers: exact
    EXPECT_EQ(d.counted, expected.counted);
  }
}

}  // namespace
}  // namespace kilochain
