// Rounds on several threads: the bits of one thread, whoever fails, and whenever it is stopped. The preset `threads`
// runs these under the thread sanitizer, in dimensions where no OpenMP region is entered (its library is not
// instrumented).
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "host/chains/thread_team.hpp"
#include "tests/support/chains.hpp"

namespace kilochain {
namespace {

using testing_support::normal_points;

constexpr Index chains = 13;
constexpr std::int64_t iterations = 20;

/// A target of tiles of four chains, which may throw at its k-th evaluation.
template <class Real>
class Tiled final : public Target<Real> {
 public:
  Tiled(Target<Real>& inner, std::int64_t throw_at) : inner_(inner), left_(throw_at) { this->info_ = inner.info(); }
  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if (--left_ == 0) throw Error(ExitStatus::data, "thrown by the test", "evaluation", "Nothing");
    inner_.evaluate(exchange, first, last);
  }
  Index tile(Index, int) const override { return 4; }

 private:
  Target<Real>& inner_;
  std::atomic<std::int64_t> left_;
};

template <class Real>
struct Outcome {
  std::vector<Real> x;
  bool reached = false;
};

/// least_shared_seconds = 0: share even iterations that are not worth it.
template <class Real>
Outcome<Real> run(const std::string& sampler, Scope scope, int threads, std::int64_t throw_at = 0,
                  const std::atomic<bool>* stop = nullptr) {
  const std::atomic<bool> never{false};
  const Context context = cpu_context(threads);
  const auto inner = make_target<Real>(context, "gaussian", {{"preset", "gp51_gaussian"}});
  const Index dim = inner->info().dim;
  Tiled<Real> target(*inner, 0);
  const auto made = make_chains<Real>(context, sampler, {}, chains, inner->info(), scope);
  Rounds<Real>(context, target, *made, chains).start(normal_points<Real>(chains, dim, 3));
  Tiled<Real> failing(*inner, throw_at);
  Segment<Real> segment;
  segment.seed = 5;
  segment.until = segment.schedule.num_warmup = iterations;
  segment.schedule.adapting = true;
  segment.scope = scope;
  Outcome<Real> out;
  out.reached = Rounds<Real>(context, failing, *made, chains, 0.0).run(segment, stop ? *stop : never);
  out.x = made->positions();
  return out;
}

template <class Real>
void expect_same_bits() {
  for (const char* sampler : {"gad_mala_fast", "nuts", "adaptive_metropolis"})
    for (const Scope scope : {Scope::chain, Scope::pooled}) {
      const auto alone = run<Real>(sampler, scope, 1);
      EXPECT_TRUE(alone.reached);
      for (const int threads : {2, 5}) {
        const auto together = run<Real>(sampler, scope, threads);
        EXPECT_TRUE(together.reached);
        EXPECT_EQ(alone.x, together.x) << sampler << ", " << name_of(scope) << ", " << threads << " threads";
      }
    }
}
TEST(RoundsOnThreads, HaveTheBitsOfOneThreadInDouble) { expect_same_bits<double>(); }
TEST(RoundsOnThreads, HaveTheBitsOfOneThreadInFloat) { expect_same_bits<float>(); }

TEST(RoundsOnThreads, AFailureInAnyThreadEndsAllAndIsThrown) {
  for (const Scope scope : {Scope::chain, Scope::pooled})
    for (const std::int64_t at : {1, 2, 9, 50, 51})
      EXPECT_THROW(run<double>("gad_mala_fast", scope, 3, at), Error) << name_of(scope) << ", evaluation " << at;
}

TEST(RoundsOnThreads, StoppedOnesSaySo) {
  const std::atomic<bool> stop{true};
  EXPECT_FALSE(run<double>("gad_mala_fast", Scope::pooled, 3, 0, &stop).reached);
}

TEST(ThreadTeam, EveryMemberSeesWhatWasWrittenBeforeTheMeeting) {
  for (const int threads : {1, 2, 7}) {
    std::vector<int> written(static_cast<std::size_t>(threads), 0);
    std::atomic<int> wrong{0};
    in_team(threads, [&](const TeamMember& member) {
      for (int round = 1; round <= 200; ++round) {
        if (round % 50 == member.rank) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // others sleep too
        written[static_cast<std::size_t>(member.rank)] = round;
        member.meet();
        for (const int seen : written) wrong += seen != round;
        member.meet();
      }
    });
    EXPECT_EQ(wrong, 0) << threads << " threads";
  }
}

}  // namespace
}  // namespace kilochain
