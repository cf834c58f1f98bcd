// Bytes of a file of draws that changed on the disk: what is read is the same, or the file is refused.
#include <sys/wait.h>

#include <cstring>

#include "host/run/run.hpp"
#include "tests/draws/draws_support.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using namespace draws_support;
using testing_support::ScratchFiles;

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;  // a crash is a report and status 1, no signal
#else
constexpr bool sanitized = false;
#endif

std::string written_file(const ScratchFiles& files) {
  const std::string path = files.path("draws.nc");
  DrawsHeader header = make_header(3, 100, 2, Precision::double_precision);
  header.inputs = std::vector{Input("data.csv", "0123456789abcdef")};
  DrawsWriter writer(path, header);
  write_run<double>(writer, header, 100);
  EXPECT_TRUE(writer.save_state(std::vector<char>(3000, 's')));
  writer.add_attributes({{"interrupted", 0}, {"sampling_time", 1.5}});
  writer.finish();
  return files.read("draws.nc");
}

/// Everything that commands make of a file.
std::string all_of(const std::string& path) {
  const RunSummary s = summarise_file(path);
  const DrawsReader reader(path);
  std::string out = reader.header().config.dump();
  const auto add = [&](const auto& values) {
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  };
  for (const ParameterSummary& p : s.parameters) out += p.name + std::string(reinterpret_cast<const char*>(&p.mean), 8);
  add(reader.lp()), add(reader.stat("energy")), add(reader.num_diverging()), add(reader.state());
  return out;
}

TEST(DamagedDraws, AreRefusedOrTheSame) {
  const ScratchFiles files;
  const std::string whole = written_file(files), path = files.path("damaged.nc");
  // Children alone read: one that is forked after OpenMP has threads may wait for them for ever.
  const auto status_of_child = [&](auto&& work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int raw = 0;
    waitpid(child, &raw, 0);
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 1000 + WTERMSIG(raw);
  };
  ASSERT_EQ(status_of_child([&] {
              files.write("before", all_of(files.path("draws.nc")));
              return 0;
            }),
            0);
  const std::string before = files.read("before");
  int refused = 0, crashed = 0;
  for (std::size_t k = 0; k < 150; ++k) {
    std::string damaged = whole;
    const std::size_t at = k < 50 ? k * 41 : k * 2654435761u % whole.size();  // where HDF5's tables begin, and anywhere
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << k % 8));
    files.write("damaged.nc", damaged);
    const int status = status_of_child([&] {
      try {
        return all_of(path) == before ? 0 : 99;
      } catch (const Error& error) {
        const std::string what = error.what();
        if (what.find("NetCDF: ") != what.npos || what.find("json.exception") != what.npos)
          return 96;  // libraries' words
        return what.find(path) == 0 ? static_cast<int>(error.status()) : 98;
      } catch (...) {
        return 97;
      }
    });
    if (status > 1000 || (sanitized && status == 1)) {
      std::printf("byte %zu of %zu: HDF5 crashed (%d)\n", at, whole.size(), status);
      ++crashed;
      continue;
    }
    EXPECT_TRUE(status == 0 || status == 3) << "byte " << at << " of " << whole.size() << ": " << status;
    refused += status == 3;
  }
  // HDF5 1.10 follows addresses in its oldest tables unchecked, and frees what a refused table of links left unset.
  // Sanitizers fill memory with 0xbe, so that this is found at once; elsewhere it comes as zeros (netcdf::open).
  EXPECT_LE(crashed, sanitized ? 3 : 1);
  EXPECT_GT(refused, 40);  // the others are room that nobody reads
}

}  // namespace
}  // namespace kilochain
