// A process that is killed at any write of a short run leaves a file with every draw that was appended before; a writer
// goes on from there, and the numbers are those of a run that was never killed. The calls of the system that write are
// replaced here, so that a child can end before the one of its choice.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "tests/draws/killed_support.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain::draws_support {
std::int64_t writes_left = -1;
}
namespace {
using kilochain::draws_support::writes_left;
void one_write() {
  if (writes_left-- == 0) _exit(77);
}
}  // namespace

extern "C" {
__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void* from, size_t count, off64_t at) {
  one_write();
  return syscall(SYS_pwrite64, fd, from, count, at);
}
__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void* from, size_t count, off_t at) {
  return pwrite64(fd, from, count, at);
}
__attribute__((visibility("default"))) int ftruncate64(int fd, off64_t size) noexcept {
  one_write();
  return static_cast<int>(syscall(SYS_ftruncate, fd, size));
}
__attribute__((visibility("default"))) int ftruncate(int fd, off_t size) noexcept { return ftruncate64(fd, size); }
__attribute__((visibility("default"))) int unlink(const char* path) noexcept {
  one_write();
  return static_cast<int>(syscall(SYS_unlink, path));
}
}

namespace kilochain {
namespace {

using namespace draws_support;

/// Writes what write_run does, and all else that a run has; `told`: draws that are safe.
void whole_run(const std::string& path, const DrawsHeader& header, std::int64_t* told) {
  DrawsWriter writer(path, header);
  Buffers<double> buffers(header, 8);
  for (std::int64_t t = 0; t < header.num_samples; t += 7) {
    Window<double> window = buffers.fill(t, std::min<std::int64_t>(7, header.num_samples - t));
    if (diverges(0, t)) window.divergences.push_back({0, t, divergence_point(t, std::ssize(header.names))});
    writer.append(window);
    *told = writer.draws_written();
    if (t % 3 == 0) writer.save_state(std::vector<char>(2000 + 31 * t, 's'));
  }
  writer.add_attributes({{"interrupted", 0}, {"sampling_time", 1.5}});
  writer.finish();
}

TEST(KilledDraws, AtEveryWriteLoseNothingThatWasAppended) {
  const testing_support::ScratchFiles files;
  const std::string path = files.path("draws.nc");
  DrawsHeader header = make_header(2, 49, 2, Precision::double_precision);
  header.draws_per_append = 2;  // many chunks, so that HDF5 splits nodes of its index
  auto* const told = static_cast<std::int64_t*>(
      mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::int64_t kills = 0, made = 0;
  for (int status = 77; status == 77; ++kills) {
    std::filesystem::remove(path);
    *told = 0;
    status = in_child({.write = kills}, [&] { whole_run(path, header, told); });
    ASSERT_TRUE(status == 77 || status == 0) << "write " << kills << ": " << status;
    if (!std::filesystem::exists(path)) continue;  // not made yet
    std::int64_t draws = 0;
    {
      const DrawsReader reader(path);
      draws = reader.draws_written();
      ASSERT_GE(draws, *told) << "write " << kills;
      ASSERT_EQ(wrong_numbers<double>(reader, 2), 0) << "write " << kills;
      const auto state = reader.state();
      ASSERT_EQ(std::count(state.begin(), state.end(), 's'), std::ssize(state));
      made = draws;
    }
    ASSERT_FALSE(std::filesystem::exists(path + ".journal"));
    if (kills % 5 != 0 || draws == header.num_samples) continue;
    {
      DrawsWriter writer(path, draws);
      Buffers<double> buffers(header, 80);
      writer.append(buffers.fill(draws, header.num_samples - draws));
      writer.finish();
    }
    const DrawsReader reader(path);
    ASSERT_EQ(reader.draws_written(), header.num_samples);
    ASSERT_EQ(wrong_numbers<double>(reader, 2), 0) << "write " << kills;
  }
  std::printf("%lld writes\n", static_cast<long long>(kills));
  EXPECT_GT(kills, 200);
  EXPECT_EQ(made, header.num_samples);
}

}  // namespace
}  // namespace kilochain
