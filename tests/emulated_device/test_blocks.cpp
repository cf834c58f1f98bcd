// Several chains to a block: log densities and gradients are those of the definition at every awkward size, a chain's
// bits do not depend on its company, and whole iterations in one kernel draw what rounds of two kernels draw.
#include <cmath>
#include <fstream>

#include "tests/emulated_device/fixture.hpp"
#include "tests/gpu/bench.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::ScratchFiles;

struct Shape {
  int rows, dim;
  Index chains;
};

class EmulatedBlocks : public EmulatedDevice {
 protected:
  static Context separate() {
    Context c = device();
    c.fuse = false;
    return c;
  }
  /// A table of 0/1 labels and normal numbers; its settings.
  static SettingTexts logistic(const ScratchFiles& files, const Shape& s, const std::string& evaluator) {
    const std::string path = files.path(std::to_string(s.rows) + "x" + std::to_string(s.dim) + ".csv");
    std::mt19937_64 bits(8);
    std::normal_distribution<double> normal;
    std::ofstream out(path);
    for (int j = 0; j < s.dim; ++j) out << "x" << j << ",";
    out << "y\n";
    for (int i = 0; i < s.rows; ++i) {
      for (int j = 0; j < s.dim; ++j) out << static_cast<float>(normal(bits)) << ",";
      out << bits() % 2 << "\n";
    }
    return {{"data", path}, {"standardise", "false"}, {"bias", "false"}, {"evaluator", evaluator}};
  }
};

template <class Real>
struct Answers {
  std::vector<double> lp;
  std::vector<Real> gradient;
  std::size_t row;
};
/// Chain c asks at a point of its own for nothing, a value or a gradient, as c % 4 says.
Needs asked(Index chain) { return chain % 4 == 1 ? Needs::nothing : chain % 4 == 2 ? Needs::value : Needs::gradient; }
template <class Real>
Answers<Real> answers(const Context& context, const std::string& name, const SettingTexts& settings, Index chains) {
  auto target = make_target<Real>(context, name, settings);
  const std::size_t dim = static_cast<std::size_t>(target->info().dim), row = padded(dim + (dim == 1)),
                    count = static_cast<std::size_t>(chains);
  std::vector<Real> point(count * row);
  std::vector<Needs> needs;
  for (std::size_t c = 0; c < count; ++c) {
    std::mt19937_64 bits(c);
    std::normal_distribution<float> normal;
    needs.push_back(asked(static_cast<Index>(c)));
    for (std::size_t j = 0; j < dim; ++j) point[c * row + j] = static_cast<Real>(0.3F * normal(bits));
  }
  Buffer<Real> p(context, count * row), d(context, count * row), g(context, count * row), h(context, count * row);
  Buffer<double> lp(context, count), signals(context, count);
  Buffer<Needs> n(context, count);
  p.upload(point.data()), n.upload(needs.data());
  Exchange<Real> e{p.data(), d.data(), g.data(), h.data(), lp.data(), signals.data(), n.data(), row};
  e.most = Needs::gradient;
  target->evaluate(e, 0, chains);
  synchronize(context);
  return {lp.host(), g.host(), row};
}

// Rounding of sums over `terms` terms of size about one, relative to the size of the vector: 8 sqrt(terms) eps.
template <class Real>
void expect_near_definition(const Context& device, const std::string& name, const SettingTexts& settings,
                            const SettingTexts& on_host, Index chains, double terms) {
  const auto exact = answers<double>(cpu_context(1), name, on_host, chains);
  const auto found = answers<Real>(device, name, settings, chains);
  const double bound = 8 * std::sqrt(terms) * std::numeric_limits<Real>::epsilon();
  for (Index c = 0; c < chains; ++c) {
    const std::size_t k = static_cast<std::size_t>(c);
    if (asked(c) == Needs::nothing) {
      EXPECT_EQ(found.lp[k], 0.0) << "chain " << c;
      for (std::size_t j = 0; j < found.row; ++j) ASSERT_EQ(found.gradient[k * found.row + j], Real(0));
      continue;
    }
    EXPECT_NEAR(found.lp[k], exact.lp[k], bound * (std::abs(exact.lp[k]) + 1)) << "chain " << c;
    if (asked(c) != Needs::gradient) continue;
    double difference = 0, size = 1;
    for (std::size_t j = 0; j < exact.row; ++j) {
      const double a = exact.gradient[k * exact.row + j], b = double(found.gradient[k * found.row + j]);
      difference += (a - b) * (a - b), size += a * a;
    }
    EXPECT_LE(std::sqrt(difference), bound * std::sqrt(size)) << "chain " << c;
  }
}

TEST_F(EmulatedBlocks, LogDensitiesAndGradientsAreThoseOfTheDefinition) {
  for (const Shape& s : {Shape{2, 1, 1},
                         {7, 2, 3},
                         {1000, 25, 33},
                         {7, 31, 257},
                         {129, 32, 33},
                         {600, 33, 3},
                         {513, 65, 1},
                         {1000, 9, 3},
                         {64, 5, 33},
                         {300, 17, 3}}) {
    SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.dim) + ", " + std::to_string(s.chains) + " chains");
    const ScratchFiles files;
    const SettingTexts tiles = logistic(files, s, "auto"), on_host = logistic(files, s, "team");
    expect_near_definition<float>(device(), "logistic_regression", tiles, on_host, s.chains, s.rows + s.dim);
    if (s.rows * s.dim <= 20000)  // of twice the bytes
      expect_near_definition<double>(device(), "logistic_regression", tiles, on_host, s.chains, s.rows + s.dim);
  }
  EXPECT_TRUE(emulated::faults().empty());
}

// Exact: a chain among 257, in a tile of 32, and among 3, in one of 8; X in one part, or in the parts that less memory
// holds.
TEST_F(EmulatedBlocks, AChainsBitsDependOnNeitherItsCompanyNorTheMemory) {
  const ScratchFiles files;
  const SettingTexts settings = logistic(files, {1100, 9, 0}, "auto");
  const auto many = answers<float>(device(), "logistic_regression", settings, 257),
             few = answers<float>(device(), "logistic_regression", settings, 3);
  Context small = device();
  small.shared_bytes = 80 << 10;
  const auto parts = answers<float>(small, "logistic_regression", settings, 257);
  EXPECT_EQ(many.lp, parts.lp);
  EXPECT_EQ(many.gradient, parts.gradient);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(many.lp[c], few.lp[c]);
  for (std::size_t k = 0; k < 3 * many.row; ++k) ASSERT_EQ(many.gradient[k], few.gradient[k]);
}

TEST_F(EmulatedBlocks, WhatDoesNotFitGoesAnotherWay) {
  const ScratchFiles files;
  const auto way = [&](const Context& context, const char* target, const SettingTexts& settings) {
    Bench<float> bench(context, "mala", make_target<float>(context, target, settings), 5, Scope::chain);
    bench.start();
    bench.run(2, false);
    return bench.target->evaluation();
  };
  const auto regression = [&](const char* evaluator) { return logistic(files, {600, 25, 0}, evaluator); };
  Context small = device();
  small.shared_bytes = 40 << 10;
  EXPECT_NE(way(small, "logistic_regression", regression("auto")).find("matrix products"), std::string::npos);
  EXPECT_NE(way(device(), "logistic_regression", regression("auto")).find("whole iterations"), std::string::npos);
  EXPECT_EQ(way(device(), "logistic_regression", regression("team")), "a warp for each chain");
  EXPECT_NE(way(device(), "funnel", {}).find("whole iterations"), std::string::npos);
  small.shared_bytes = 0;
  EXPECT_EQ(way(small, "funnel", {}), "a warp for each chain");
}

/// What a run leaves behind: states, records, and the draws of its last `kept` iterations.
struct Left {
  std::vector<char> saved;
  std::vector<double> lp;
  std::vector<float> draws, acceptance;
  std::vector<std::int64_t> iterations, gradients;
  std::vector<ChainStatus> statuses;
  bool operator==(const Left&) const = default;
};
template <class Real>
Left left_by(const Context& context, const std::string& sampler, std::unique_ptr<Target<Real>> target, Index chains,
             std::int64_t warmup = 5, double nan_at = -1) {
  constexpr std::int64_t kept = 4;
  Bench<Real> bench(context, sampler, std::move(target), chains, Scope::chain, {});
  const std::size_t slots = static_cast<std::size_t>(chains * kept), dim = static_cast<std::size_t>(bench.dim);
  Buffer<Real> draws(context, slots * dim);
  Buffer<double> lp(context, slots);
  Buffer<float> acceptance(context, slots), values(context, slots * Info::max_stats);
  Buffer<std::uint8_t> diverging(context, slots);
  Recording<Real> r;
  r.draws = draws.data(), r.lp = lp.data(), r.acceptance_rate = acceptance.data(), r.diverging = diverging.data(),
  r.stats = values.data(), r.stat_stride = static_cast<std::int64_t>(slots);
  r.capacity = kept, r.first_iteration = warmup, r.thin = 1, r.active = true;
  bench.start(nan_at);
  bench.run(warmup, true);
  bench.run(kept, false, r);
  Left out;
  const Outcome o = bench.outcome();
  out.saved = o.saved, out.lp = lp.host(), out.acceptance = acceptance.host();
  for (const Real v : draws.host()) out.draws.push_back(static_cast<float>(v));
  for (const auto& c : o.controls)
    out.iterations.push_back(c.iteration), out.gradients.push_back(c.gradients), out.statuses.push_back(c.status);
  return out;
}

class EmulatedIterations : public EmulatedBlocks, public testing::WithParamInterface<std::string> {
 protected:
  template <class Real>
  void expect_the_same(const std::string& target, const SettingTexts& settings, Index chains, double nan_at) {
    const Context apart = separate();
    const Left together =
                   left_by(device(), GetParam(), make_target<Real>(device(), target, settings), chains, 5, nan_at),
               rounds = left_by(apart, GetParam(), make_target<Real>(apart, target, settings), chains, 5, nan_at);
    EXPECT_TRUE(together == rounds) << GetParam() << " on " << target << ", " << chains << " chains";
    for (std::size_t c = 0; c < together.statuses.size(); ++c)
      EXPECT_EQ(together.statuses[c] == ChainStatus::running, static_cast<double>(c) != nan_at) << "chain " << c;
  }
};

// Exact: the bodies, the evaluation and the order of its sums are the same.
TEST_P(EmulatedIterations, InOneKernelAreThoseOfRounds) {
  const ScratchFiles files;
  const SettingTexts table = logistic(files, {70, 5, 0}, "auto"), wide = logistic(files, {7, 33, 0}, "auto");
  expect_the_same<float>("gaussian", {{"preset", "gp51_gaussian"}}, 33, 20);
  expect_the_same<float>("funnel", {{"dim", "33"}}, 7, 3);  // a warp for each chain, and those that wait for nobody
  expect_the_same<float>("gaussian_mixture", {{"dim", "2"}, {"means", "0.5,-0.5"}}, 130, -1);
  expect_the_same<double>("gaussian", {{"preset", "gauss2d_corr"}}, 3, 1);
  expect_the_same<float>("gaussian", {{"preset", "neal_gaussian"}}, 1, -1);
  expect_the_same<float>("logistic_regression", table, 33, 7);
  expect_the_same<double>("logistic_regression", wide, 9, 0);
  EXPECT_TRUE(emulated::faults().empty());
}

TEST_P(EmulatedIterations, AreOneLaunchForAllOfASegment) {
  Bench<float> bench(device(), GetParam(), cases[0], 5, Scope::chain);
  bench.start();
  bench.run(2, true);
  synchronize(device());  // what is queued runs late
  const auto before = emulated::counters();
  bench.run(30, false);
  EXPECT_EQ(emulated::counters().synchronisations, before.synchronisations);
  synchronize(device());
  const auto after = emulated::counters();
  EXPECT_EQ(after.launches - before.launches, 2) << "told which iterations, and made them";
  EXPECT_EQ(after.copies, before.copies);
  for (const auto& c : bench.outcome().controls) EXPECT_EQ(c.iteration, 32);
}

INSTANTIATE_TEST_SUITE_P(Samplers, EmulatedIterations,
                         testing::Values("rwm", "mala", "gad_rwm", "gad_mala_fast", "hmc", "nuts", "barker"),
                         [](const auto& p) { return p.param; });

TEST_F(EmulatedBlocks, NoOrderOfThreadsAndBlocksChangesABit) {
  const ScratchFiles files;
  const SettingTexts table = logistic(files, {140, 11, 0}, "auto");
  std::vector<Left> all;
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    emulated::set_seed(seed);
    all.push_back(left_by(device(), "gad_mala_fast", make_target<float>(device(), "logistic_regression", table), 37));
  }
  for (const Left& one : all) EXPECT_TRUE(one == all[0]);
  EXPECT_TRUE(emulated::faults().empty());
}

TEST_F(EmulatedBlocks, WhicheverCallFailsThereIsAMessageAndNoLeak) {
  const ScratchFiles files;
  const SettingTexts table = logistic(files, {600, 25, 0}, "auto");  // more shared memory than a kernel has unasked
  const auto run_all = [&]() -> std::string {
    try {
      left_by(device(), "gad_mala_fast", make_target<float>(device(), "logistic_regression", table), 2, 1);
      return "";
    } catch (const std::exception& e) {
      return e.what();
    }
  };
  ASSERT_EQ(run_all(), "");
  auto at_rest = emulated::living();
  std::int64_t k = 1, found = 0;
  for (;; ++k) {
    emulated::fail_call(k);
    const std::string message = run_all();
    if (!emulated::failed()) break;
    found += !message.empty();
    const auto left = emulated::living();
    EXPECT_EQ(left, at_rest) << "call " << k << ": " << message << "\nleft: " << emulated::text(left);
    at_rest = left;
    emulated::forget_faults();
  }
  EXPECT_GT(found, k / 2);
}

}  // namespace
}  // namespace kilochain
