// Draws on disk when things go wrong: a run that is interrupted or killed, or a full disk, leaves readable draws; every
// bad path and file is refused.
#include <netcdf.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "tests/draws/draws_support.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using namespace draws_support;

/// Runs `body` in a child process and returns its exit status (or -signal).
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// The copy of a file that is being written, which nobody has locked.
std::string copied(const std::string& from, const std::string& to) {
  std::filesystem::copy_file(from, to);
  return to;
}

TEST(DrawsFile, InterruptedRunHasTheDrawsItWrote) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(5, 1000, 6, Precision::single_precision);
  DrawsWriter writer(file.path, header);
  write_run<float>(writer, header, 23);
  EXPECT_EQ(writer.draws_written(), 23);
  writer.finish();
  const DrawsReader reader(file.path);
  EXPECT_EQ(reader.draws_written(), 23);
  EXPECT_TRUE(reader.state().empty());
  EXPECT_EQ(wrong_numbers<float>(reader, 3), 0);
}

/// The state of a run is there whole, the one before until then; and another writer goes on behind the first draws.
TEST(DrawsFile, GoesOnBehindItsFirstDraws) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(5, 1000, 6, Precision::single_precision);
  const std::vector<char> large(200000, 'l'), small(3, 's');
  {
    DrawsWriter writer(file.path, header);
    write_run<float>(writer, header, 23);
    for (const auto* state : {&small, &large, &small}) EXPECT_TRUE(writer.save_state(*state));
    writer.finish();
  }
  EXPECT_EQ(DrawsReader(file.path).state(), small);
  expect_error([&] { DrawsWriter writer(file.path, 24); }, ExitStatus::usage,
               file.path +
                   ": the file has fewer draws than the state of its chains says (23 of 24). Was the file changed "
                   "by another program?");
  {
    DrawsWriter writer(file.path, 10);
    EXPECT_EQ(writer.draws_written(), 10);
    Buffers<float> window(header, 7);
    for (std::int64_t first = 10; first < 31; first += 7) {
      writer.append(window.fill(first, 7));
      EXPECT_TRUE(writer.save_state(large));
    }
    writer.finish();
  }
  const DrawsReader reader(file.path);
  EXPECT_EQ(reader.draws_written(), 31);
  EXPECT_EQ(reader.state(), large);
  EXPECT_EQ(wrong_numbers<float>(reader, 3), 0);
}

/// The data in the place of the output is one slip of the pen away.
TEST(DrawsFile, OverwritesNothingButDraws) {
  const DrawsHeader header = make_header(2, 10, 3, Precision::double_precision);
  for (const char* text : {"a,b,y\n1,2,0\n3,4,1\n", "x"}) {
    const TemporaryFile file;
    std::ofstream(file.path) << text;
    expect_error([&] { DrawsWriter writer(file.path, header); }, ExitStatus::usage,
                 file.path +
                     ": the draws cannot be written there (the file is there already and holds something else "
                     "than draws). Choose another --output?");
    std::ifstream in(file.path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
  }
  const TemporaryFile file;
  int other = -1;
  ASSERT_EQ(nc_create(file.path.c_str(), NC_NETCDF4, &other), NC_NOERR);
  nc_close(other);
  expect_error(
      [&] { DrawsWriter writer(file.path, header); }, ExitStatus::usage,
      file.path + ": the draws cannot be written there (the file is there already and another program made it)");
  std::ofstream(file.path) << "";
  for (const bool overwrite : {false, true}) {  // over an empty file, and over draws
    DrawsWriter writer(file.path, header, overwrite);
    write_run<double>(writer, header, 10);
    writer.finish();
  }
  expect_error([&] { DrawsWriter writer(file.path, header); }, ExitStatus::usage,
               file.path +
                   ": a file of draws is there already (10 draws of each chain). Go on with it by `kilochain "
                   "resume " +
                   file.path + "`, or replace it with --overwrite?");
  EXPECT_EQ(DrawsReader(file.path).draws_written(), 10);
  { DrawsWriter(file.path, header, true).finish(); }
  { DrawsWriter(file.path, header).finish(); }  // without draws
  EXPECT_EQ(DrawsReader(file.path).draws_written(), 0);
}

/// It has its name once it is whole, and nothing else is left; a link stays one, also where it leads to no file yet.
TEST(DrawsFile, IsMadeUnderAnotherName) {
  const testing_support::ScratchFiles files;
  const DrawsHeader header = make_header(2, 10, 3, Precision::double_precision);
  const std::string link = files.path("link.nc"), draws = files.path("draws.nc"), folder = files.path(".");
  const auto names = [&] {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  std::filesystem::create_symlink("draws.nc", link);
  DrawsWriter writer(link, header);
  EXPECT_EQ(DrawsReader(copied(draws, files.path("copy.nc"))).draws_written(), 0);
  write_run<double>(writer, header, 10);
  writer.finish();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(DrawsReader(draws).draws_written(), 10);
  EXPECT_EQ(names(), 3);
  std::ofstream(files.path("text.nc")) << "not draws";
  EXPECT_THROW(DrawsWriter(files.path("text.nc"), header), Error);
  EXPECT_THROW(DrawsWriter(draws, header), Error);
  EXPECT_EQ(names(), 4);
}

/// A file may not grow: what is in it stays as it is, and one that is new is not made.
TEST(DrawsFile, ALimitBelowTheFileLeavesItAlone) {
  const testing_support::ScratchFiles files;
  const std::string path = files.path("draws.nc");
  const DrawsHeader header = make_header(20, 1000, 6, Precision::double_precision);
  {
    DrawsWriter writer(path, header);
    write_run<double>(writer, header, 100);
    writer.finish();
  }
  const std::string before = files.read("draws.nc");
  for (const rlim_t bytes : {rlim_t(0), rlim_t(4096), rlim_t(before.size() - 1), rlim_t(before.size() + 1000)}) {
    const int status = in_child([&] {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{bytes, bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      const auto refused = [&](const std::function<void()>& body) {
        try {
          body();
          return false;
        } catch (const Error& error) {
          return error.status() == ExitStatus::output &&
                 std::string(error.what()).find("limit on the size of a file") != std::string::npos;
        }
      };
      if (!refused([&] { DrawsWriter(path, 100); })) return 1;
      return bytes <= 4096 && !refused([&] { DrawsWriter(files.path("new.nc"), header); }) ? 2 : 0;
    });
    EXPECT_EQ(status, 0) << bytes;
    EXPECT_TRUE(files.read("draws.nc") == before);
    EXPECT_FALSE(std::filesystem::exists(files.path("new.nc")));
  }
}

TEST(DrawsFile, KilledProcessLeavesItsDraws) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(20, 100000, 6, Precision::double_precision);
  int reports[2];
  ASSERT_EQ(::pipe(reports), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      DrawsWriter writer(file.path, header);
      Buffers<double> buffers(header, 10);
      for (std::int64_t t = 0; t < 100000; t += 10) {
        writer.append(buffers.fill(t, 10));
        if (::write(reports[1], &t, sizeof t) != sizeof t) break;
      }
    } catch (...) {
    }
    ::_exit(1);
  }
  ::close(reports[1]);
  std::int64_t reported = -1;
  while (reported < 300 && ::read(reports[0], &reported, sizeof reported) == sizeof reported) {
  }
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(reports[0]);
  ASSERT_TRUE(WIFSIGNALED(status));
  const DrawsReader reader(file.path);
  EXPECT_GE(reader.draws_written(), reported + 10);
  EXPECT_EQ(reader.draws_written() % 10, 0);
  EXPECT_EQ(wrong_numbers<double>(reader, 6), 0);
}

// A limit on the size of files stands for the full disk: every system has it, and the error takes the same way.
TEST(DrawsFile, FullDiskKeepsEarlierDraws) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(20, 100000, 30, Precision::double_precision);
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4u << 20, 4u << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    DrawsWriter writer(file.path, header);
    try {
      write_run<double>(writer, header, 100000);
    } catch (const Error& error) {
      const std::string safe = std::to_string(writer.draws_written()) + " draws of each chain are safely in the file";
      if (error.status() != ExitStatus::output) return 1;
      if (std::string(error.what()).find(safe) == std::string::npos) return 2;
      writer.add_attributes({{"sampling_time", 3.0}});
      writer.finish();
      return 42;
    }
    return 3;
  });
  ASSERT_EQ(status, 42);
  const DrawsReader reader(file.path);
  EXPECT_GT(reader.draws_written(), 100);  // 4 MiB less the margin hold about 700
  EXPECT_LT(reader.draws_written(), 1000);
  EXPECT_EQ(wrong_numbers<double>(reader, 30), 0);
  EXPECT_EQ(reader.attributes().at("sampling_time"), 3.0);
}

TEST(DrawsFile, UnwritablePathsAreRefusedBeforeSampling) {
  const DrawsHeader header = make_header(2, 5, 1, Precision::single_precision);
  expect_error([&] { DrawsWriter("/no/such/directory/draws.nc", header); }, ExitStatus::usage, "No such file");
  expect_error([&] { DrawsWriter(std::filesystem::temp_directory_path().string(), header); }, ExitStatus::usage,
               "Is a directory");
  expect_error([&] { DrawsWriter("/dev/null", header); }, ExitStatus::usage, "not a regular file");
  const TemporaryFile file;
  DrawsHeader wrong = header;
  wrong.num_chains = 0;
  expect_error([&] { DrawsWriter(file.path, wrong); }, ExitStatus::usage, "num_chains 0");
  wrong = make_header(2, 5, 4, Precision::single_precision);
  wrong.names[3] = wrong.names[1];
  expect_error([&] { DrawsWriter(file.path, wrong); }, ExitStatus::usage, "coordinates 1 and 3");
  EXPECT_FALSE(std::filesystem::exists(file.path));
}

TEST(DrawsFile, DrawsOutOfOrderAreRefused) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(2, 50, 1, Precision::single_precision);
  DrawsWriter writer(file.path, header);
  Buffers<float> buffers(header, 10);
  writer.append(buffers.fill(0, 10));
  expect_error([&] { writer.append(buffers.fill(20, 10)); }, ExitStatus::output, "the file has 10");
  writer.append(buffers.fill(10, 10));
}

TEST(DrawsFile, ReaderRefusesOtherFiles) {
  const TemporaryFile file;
  expect_error([&] { DrawsReader{file.path}; }, ExitStatus::data, "no such file");
  expect_error([&] { DrawsReader{std::filesystem::temp_directory_path().string()}; }, ExitStatus::data,
               "not a regular");
  std::ofstream(file.path) << "";
  expect_error([&] { DrawsReader{file.path}; }, ExitStatus::data, file.path);
  std::ofstream(file.path) << "x1,x2\n1,2\n";
  expect_error([&] { DrawsReader{file.path}; }, ExitStatus::data, file.path);
}

TEST(DrawsFile, ReaderRefusesATruncatedFile) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(20, 45, 6, Precision::double_precision);
  {
    DrawsWriter writer(file.path, header);
    write_run<double>(writer, header, 45);
  }
  std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) / 2);
  expect_error([&] { DrawsReader{file.path}; }, ExitStatus::data,
               "cannot be read (damaged, cut short, or no NetCDF 4, NetCDF status -101). Was the file made by");
  expect_error([&] { DrawsWriter(file.path, header); }, ExitStatus::usage,
               "a file of draws is there already (it cannot be read). Replace it with --overwrite?");
}

}  // namespace
}  // namespace kilochain
