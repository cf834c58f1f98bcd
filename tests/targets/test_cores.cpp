#include <gtest/gtest.h>
#include <sched.h>

#include "base/cores.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::ScratchFiles;

TEST(Cores, QuotasOfControlGroups) {
  const ScratchFiles files;
  const auto put = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(files.path(name)).parent_path());
    files.write(name, text);
  };
  const std::string root = files.path(".");
  EXPECT_EQ(quota_of("0::/job/step\n", root), 0);
  put("job/cpu.max", "250000 100000\n");
  put("job/step/cpu.max", "max 100000\n");
  EXPECT_EQ(quota_of("0::/job/step\n", root), 3) << "of the group that it is in, rounded up";
  put("job/step/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota_of("0::/job/step\n", root), 1);
  EXPECT_EQ(quota_of("0::/\n", root), 0);
  put("cpu/slurm/cpu.cfs_quota_us", "400000\n");
  put("cpu/slurm/cpu.cfs_period_us", "100000\n");
  put("cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota_of("5:memory:/slurm\n4:cpu,cpuacct:/slurm\n0::/\n", root), 4);
  EXPECT_EQ(quota_of("4:cpuset:/slurm\n", root), 0);
}

TEST(Cores, TheAffinityMaskCounts) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int k = 0; CPU_COUNT(&one) == 0; ++k)
    if (CPU_ISSET(k, &before)) CPU_SET(k, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace kilochain
