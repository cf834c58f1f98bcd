// A chain's draws have the same bits however chains are split into batches, whatever the number of threads, and when
// the run is interrupted and resumed; for every registered sampler, while adapting and after, at awkward sizes.
#include <gtest/gtest.h>

#include "tests/contract/common.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/chains.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

constexpr std::int64_t warmup = 30, sampling = 10;

template <class Real>
struct Whole {
  Recorded<Real> warm, kept;
};

template <class Real>
struct Crew {
  Context context;
  std::unique_ptr<Target<Real>> target;
  std::unique_ptr<Chains<Real>> sampler;
  Index chains, dim;
  Scope scope;
  std::uint32_t first_chain = 0;

  Crew(const std::string& name, Index chains_, Index dim_, Scope scope_, int threads, std::uint32_t first = 0)
      : context(cpu_context(threads)), chains(chains_), dim(dim_), scope(scope_), first_chain(first) {
    target = make_target<Real>(context, "gaussian_mixture", {{"dim", std::to_string(dim)}, {"means", "-1; 1"}});
    sampler = make_chains<Real>(context, name, {}, chains, dim, scope);
  }
  void start() { start_at(context, *target, *sampler, chains, normal_points<Real>(chains, dim, 5, first_chain)); }
  Phase phase(bool adapting) const {
    return {adapting ? 0 : warmup, adapting ? warmup : sampling, warmup, adapting, 6, 1, first_chain};
  }
  Whole<Real> empty() const { return {{chains, dim, warmup}, {chains, dim, sampling}}; }
  Whole<Real> run() {
    Whole<Real> out = empty();
    start();
    run_phase(context, *target, *sampler, chains, scope, phase(true), &out.warm);
    run_phase(context, *target, *sampler, chains, scope, phase(false), &out.kept);
    return out;
  }
};

template <class Real>
void expect_same(const Recorded<Real>& got, const Recorded<Real>& want) {
  EXPECT_TRUE(exact(got.draws, want.draws)) << "draws";
  EXPECT_TRUE(exact(got.lp, want.lp)) << "lp";
  EXPECT_TRUE(exact(got.acceptance_rate, want.acceptance_rate)) << "acceptance_rate";
  EXPECT_TRUE(exact(got.stats, want.stats)) << "stats";
}
template <class Real>
void expect_same(const Whole<Real>& got, const Whole<Real>& want) {
  expect_same(got.warm, want.warm);
  expect_same(got.kept, want.kept);
}

template <class Real>
void batches(const std::string& name, Index n) {
  const Whole<Real> all = Crew<Real>(name, 7, n, Scope::chain, 1).run();
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 3}, {3, 4}, {6, 1}}) {
    const Whole<Real> some = Crew<Real>(name, count, n, Scope::chain, 1, static_cast<std::uint32_t>(first)).run();
    const auto part = [&, first = first, count = count](const Recorded<Real>& r) {
      const auto from = r.draws.begin() + first * r.iterations * n;
      return std::vector<Real>(from, from + count * r.iterations * n);
    };
    EXPECT_TRUE(exact(some.warm.draws, part(all.warm))) << "chains from " << first;
    EXPECT_TRUE(exact(some.kept.draws, part(all.kept))) << "chains from " << first;
  }
}

template <class Real>
void threads(const std::string& name, Index n) {
  for (const Scope scope : {Scope::chain, Scope::pooled})
    expect_same(Crew<Real>(name, 9, n, scope, 3).run(), Crew<Real>(name, 9, n, scope, 1).run());
}

/// Interrupted in the middle of warm-up and of sampling; each time a fresh sampler takes over from the bytes.
template <class Real>
void interruptions(const std::string& name, Index n) {
  for (const Scope scope : {Scope::chain, Scope::pooled}) {
    const Whole<Real> want = Crew<Real>(name, 4, n, scope, 1).run();
    Whole<Real> got = Crew<Real>(name, 4, n, scope, 1).empty();
    std::vector<char> bytes;
    const std::pair<bool, std::int64_t> stops[] = {
        {true, 13}, {true, warmup}, {false, warmup + 4}, {false, warmup + sampling}};
    for (const auto& [adapting, until] : stops) {
      Crew<Real> s(name, 4, n, scope, 1);
      if (bytes.empty())
        s.start();
      else
        s.sampler->load(bytes);
      run_phase(s.context, *s.target, *s.sampler, s.chains, scope, s.phase(adapting), adapting ? &got.warm : &got.kept,
                until);
      bytes = s.sampler->save();
    }
    expect_same(got, want);
  }
}

class EverySamplerBits : public ::testing::TestWithParam<std::string> {};

TEST_P(EverySamplerBits, SameUnderAnyBatchSplit) {
  for (const Index n : chain_sizes) {
    SCOPED_TRACE(n);
    batches<float>(GetParam(), n);
    batches<double>(GetParam(), n);
  }
}
TEST_P(EverySamplerBits, SameOnAnyNumberOfThreads) {
  for (const Index n : chain_sizes) {
    SCOPED_TRACE(n);
    threads<float>(GetParam(), n);
    threads<double>(GetParam(), n);
  }
}
TEST_P(EverySamplerBits, SameAfterAnInterruption) {
  for (const Index n : chain_sizes) {
    SCOPED_TRACE(n);
    interruptions<float>(GetParam(), n);
    interruptions<double>(GetParam(), n);
  }
}
TEST_P(EverySamplerBits, OtherChainsGetOtherDraws) {
  const Whole<double> a = Crew<double>(GetParam(), 2, 2, Scope::chain, 1).run();
  const Whole<double> b = Crew<double>(GetParam(), 2, 2, Scope::chain, 1, 100).run();
  EXPECT_FALSE(exact(a.kept.draws, b.kept.draws));
  EXPECT_NE(a.kept.draw(0, 5)[0], a.kept.draw(1, 5)[0]);
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySamplerBits, ::testing::ValuesIn(sampler_names()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace kilochain::testing_support
