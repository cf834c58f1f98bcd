// Runs of several threads of one process, with files of their own: each is what it is alone.
#include <gtest/gtest.h>
#include <omp.h>

#include <thread>

#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

Options options(int seed, const std::string& file) {
  Options o;
  o.target = "gaussian";
  o.target_settings = {{"preset", "gauss2d_corr"}};
  o.sampler = seed % 2 == 0 ? "nuts" : "gad_mala_fast";
  o.adapt_scope = Scope::chain;
  o.num_chains = 3, o.num_warmup = 30, o.num_samples = 50, o.threads = 1, o.device = "cpu";
  o.seed = seed, o.keep_draws = true, o.output = file;
  return o;
}

TEST(RunsAtOnce, AreWhatTheyAreAlone) {
  const testing_support::ScratchFiles files;
  constexpr int threads = 3, runs = 8;
  const auto path = [&](int k) { return files.path(std::to_string(k) + ".nc"); };
  testing::internal::CaptureStderr();
  {
    std::vector<std::jthread> team;
    for (int thread = 0; thread < threads; ++thread)
      team.emplace_back([&, thread] {
        omp_set_num_threads(1);  // the thread sanitizer does not see where OpenMP's own threads meet
        for (int k = thread; k < threads * runs; k += threads) {
          testing_support::run_quietly(options(k, path(k)));
          read_result(path(k));
        }
      });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  omp_set_num_threads(1);
  for (int k = 0; k < threads * runs; ++k)
    EXPECT_EQ(read_result(path(k)).draws, testing_support::run_quietly(options(k, "")).draws) << k;
}

}  // namespace
}  // namespace kilochain
