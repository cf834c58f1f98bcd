// The emulated device finds what it says it finds: one kernel for each fault, and a right one beside them.
#include "tests/emulated_device/faulty.hpp"
#include "tests/emulated_device/fixture.hpp"

namespace kilochain {
namespace {

class EmulatedFaults : public EmulatedDevice {
 protected:
  /// The fault that the kernel is found out for, in whatever order its threads run.
  void expect(Faulty which, const std::string& words) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      emulated::set_seed(seed);
      emulated::forget_faults();
      EXPECT_THROW(run_faulty(device(), which), Error) << words << ", seed " << seed;
      const auto faults = emulated::faults();
      ASSERT_FALSE(faults.empty()) << words << ", seed " << seed;
      EXPECT_NE(faults[0].find(words), std::string::npos) << faults[0];
      EXPECT_NE(faults[0].find("faulty_kernel"), std::string::npos) << faults[0];
    }
    emulated::forget_faults();
  }
};

TEST_F(EmulatedFaults, ARightKernelRunsInEveryOrder) {
  std::vector<int> first;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    emulated::set_seed(seed);
    const auto out = run_faulty(device(), Faulty::none);
    for (int i = 0; i < 192; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], 63) << "thread " << i;
    const auto sums = run_sums(device());
    for (int i = 0; i < 192; ++i) ASSERT_EQ(sums[static_cast<std::size_t>(i)], 10000 * 496 + 2016) << "thread " << i;
    EXPECT_EQ(sums[192], 3 * 2016);
  }
  EXPECT_TRUE(emulated::faults().empty());
}
TEST_F(EmulatedFaults, RacesAreFound) {
  expect(Faulty::race_in_warp, "race");
  expect(Faulty::race_after_shuffle, "race");
  expect(Faulty::race_in_block, "race");
  expect(Faulty::race_of_blocks, "race");
  expect(Faulty::race_with_readers, "race");
  expect(Faulty::race_of_bytes, "race");
  expect(Faulty::race_after_atomic, "race");
}
TEST_F(EmulatedFaults, AccessesStayInTheKernelsMemory) {
  expect(Faulty::past_the_end, "which has");
  expect(Faulty::freed, "was freed");
  expect(Faulty::host_memory, "host memory");
  expect(Faulty::others_stack, "another thread's stack");
  expect(Faulty::unwritten_shared, "nobody wrote");
  expect(Faulty::misaligned, "no multiple");
}
TEST_F(EmulatedFaults, SynchronisationsAreReachedByAll) {
  expect(Faulty::exited_lane, "thread 5 has ended");
  expect(Faulty::divergent_barrier, "__syncthreads");
  expect(Faulty::left_barrier, "thread 3 has ended");
}
TEST_F(EmulatedFaults, APromiseThatDoesNotHoldTraps) { expect(Faulty::broken_promise, "__trap"); }

TEST_F(EmulatedFaults, LaunchesThatCudaRefusesAreRefused) {
  EXPECT_NO_THROW(run_bounded(device(), 64, 3));
  EXPECT_THROW(run_bounded(device(), 96, 1), Error);      // a launch bound of 64
  EXPECT_THROW(run_bounded(device(), 32, 65536), Error);  // rows of blocks
  EXPECT_THROW(run_with(device(), Many{}), Error);        // 4096 bytes of arguments
  EXPECT_NO_THROW(run_together(device(), device().multiprocessors));
  EXPECT_THROW(run_together(device(), device().multiprocessors + 1), Error);  // they may not fit
}

// No memory left, and the call that says so: both name the row of `kilochain estimate`, and what to do.
TEST_F(EmulatedFaults, OutOfMemoryNamesTheRowOfTheEstimate) {
  for (const auto memory : {Memory::working, Memory::pinned}) try {
      device();
      if (memory == Memory::pinned) emulated::fail_call(1);
      const Buffer<char> data(device(), memory == Memory::working ? std::size_t(1) << 36 : 10, "state of the chains",
                              memory);
      ADD_FAILURE() << "there is no room for 64 GiB, and the next call fails";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), ExitStatus::device);
      const std::string text = e.what();
      EXPECT_NE(text.find("state of the chains cannot have"), std::string::npos) << text;
      EXPECT_NE(text.find("--chain-batch-size"), std::string::npos) << text;
    }
}

using EmulatedFaultsDeathTest = EmulatedFaults;
TEST_F(EmulatedFaultsDeathTest, TheHostCannotTouchDeviceMemory) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Buffer<int> data(device(), 100);
        data.data()[3] = 1;
      },
      "host code touches device memory: byte 12 of allocation .*, which has");
}

}  // namespace
}  // namespace kilochain
