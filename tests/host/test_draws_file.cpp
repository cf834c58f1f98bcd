// Draws on disk: what is written comes back bit for bit, whole or interrupted; every bad path and file is refused.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "host/io/draws_file.hpp"
#include "kernels/device/error.hpp"

namespace kilochain {
namespace {

/// A path of this test alone, removed at its end.
struct TemporaryFile {
  TemporaryFile() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path = (std::filesystem::temp_directory_path() /
            ("kilochain_" + std::to_string(::getpid()) + "_" + std::string(test->name()) + ".nc"))
               .string();
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string path;
};

DrawsHeader make_header(std::int64_t num_chains, std::int64_t num_samples, std::int64_t dim, const std::string& real) {
  DrawsHeader header;
  header.target = "gaussian";
  header.sampler = "gad_mala_fast";
  header.num_chains = num_chains;
  header.num_warmup = 50;
  header.num_samples = num_samples;
  header.thin = 2;
  header.seed = 18446744073709551615u;  // beyond int64
  header.real = real;
  header.variable = "w";
  for (std::int64_t i = 0; i < dim; ++i) header.names.push_back("w[" + std::to_string(i) + "]");
  header.config = {{"step_size", 0.25}, {"adapt", {{"scope", "pooled"}, {"on", true}}}, {"list", {1, 2, 3}}};
  header.stats = {"step_size", "energy"};
  header.draws_per_append = 10;
  return header;
}

/// Every number of a run, as a function of its place.
double draw_value(std::int64_t chain, std::int64_t draw, std::int64_t i) {
  return std::sin(static_cast<double>(1 + chain + 1000 * draw + 1000000 * i));
}
double lp_value(std::int64_t chain, std::int64_t draw) { return -draw_value(chain, draw, 77); }
float stat_value(std::int64_t stat, std::int64_t chain, std::int64_t draw) {
  return static_cast<float>(draw_value(chain, draw, 100 + stat));
}
bool diverges(std::int64_t chain, std::int64_t draw) { return (chain + draw) % 7 == 0; }

std::vector<double> divergence_point(std::int64_t draw, std::int64_t dim) {
  std::vector<double> point;
  for (std::int64_t i = 0; i < dim; ++i) point.push_back(draw_value(0, draw, 500 + i));
  return point;
}

template <class Real>
struct Buffers {
  Buffers(const DrawsHeader& header, std::int64_t capacity)
      : header(header),
        capacity(capacity),
        dim(std::ssize(header.names)),
        draws(static_cast<std::size_t>(header.num_chains * capacity * dim)),
        lp(static_cast<std::size_t>(header.num_chains * capacity)),
        acceptance_rate(lp.size()),
        stats(lp.size() * header.stats.size()),
        diverging(lp.size()) {}

  Window fill(std::int64_t first, std::int64_t count) {
    for (std::int64_t c = 0; c < header.num_chains; ++c) {
      for (std::int64_t t = 0; t < count; ++t) {
        const auto at = static_cast<std::size_t>(c * capacity + t);
        for (std::int64_t i = 0; i < dim; ++i) {
          draws[at * static_cast<std::size_t>(dim) + static_cast<std::size_t>(i)] =
              static_cast<Real>(draw_value(c, first + t, i));
        }
        lp[at] = lp_value(c, first + t);
        acceptance_rate[at] = stat_value(2, c, first + t);
        diverging[at] = diverges(c, first + t);
        for (std::size_t s = 0; s < header.stats.size(); ++s) {
          stats[s * lp.size() + at] = stat_value(static_cast<std::int64_t>(s), c, first + t);
        }
      }
    }
    return {draws.data(), lp.data(), acceptance_rate.data(), diverging.data(), stats.data(), capacity};
  }

  const DrawsHeader& header;
  std::int64_t capacity, dim;
  std::vector<Real> draws;
  std::vector<double> lp;
  std::vector<float> acceptance_rate, stats;
  std::vector<std::uint8_t> diverging;
};

/// Windows of 7 draws, which fit neither the chunks (10) nor the run (45).
template <class Real>
void write_run(DrawsWriter& writer, const DrawsHeader& header, std::int64_t num_draws) {
  Buffers<Real> buffers(header, 8);
  for (std::int64_t t = 0; t < num_draws; t += 7) {
    const std::int64_t count = std::min<std::int64_t>(7, num_draws - t);
    std::vector<Divergence> divergences;  // of the first chain alone: a window need not keep all
    for (std::int64_t k = t; k < t + count; ++k)
      if (diverges(0, k)) divergences.push_back({0, k, divergence_point(k, std::ssize(header.names))});
    writer.append(t, count, buffers.fill(t, count), divergences);
  }
}

/// Counts the numbers of a file that are not those of write_run.
template <class Real>
std::int64_t wrong_numbers(const DrawsReader& reader, std::int64_t group) {
  const DrawsHeader& header = reader.header();
  const std::int64_t num_draws = reader.draws_written(), dim = std::ssize(header.names);
  std::int64_t wrong = 0;
  std::vector<double> block;
  for (std::int64_t first = 0; first < dim; first += group) {
    const std::int64_t count = std::min(group, dim - first);
    reader.read_parameters(first, count, block);
    std::size_t at = 0;
    for (std::int64_t i = first; i < first + count; ++i) {
      for (std::int64_t c = 0; c < header.num_chains; ++c) {
        for (std::int64_t t = 0; t < num_draws; ++t) {
          wrong += block.at(at++) != static_cast<double>(static_cast<Real>(draw_value(c, t, i)));
        }
      }
    }
    wrong += at != block.size();
  }
  const auto lp = reader.lp();
  const auto rate = reader.stat("acceptance_rate"), energy = reader.stat("energy");
  for (std::int64_t c = 0; c < header.num_chains; ++c) {
    for (std::int64_t t = 0; t < num_draws; ++t) {
      const auto at = static_cast<std::size_t>(c * num_draws + t);
      wrong += lp.at(at) != lp_value(c, t);
      wrong += rate.at(at) != stat_value(2, c, t);
      wrong += energy.at(at) != stat_value(1, c, t);
    }
  }
  return wrong;
}

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

void expect_error(const std::function<void()>& body, ExitStatus status, const std::string& text) {
  try {
    body();
    ADD_FAILURE() << "no error, expected one with: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.status()), static_cast<int>(status)) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

template <class Real>
class DrawsFileOf : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DrawsFileOf, Reals);

TYPED_TEST(DrawsFileOf, RoundTripIsExact) {
  const std::string real = std::is_same_v<TypeParam, float> ? "float" : "double";
  for (const std::int64_t num_chains : {1, 3, 33}) {
    for (const std::int64_t dim : {1, 5, 37}) {
      const TemporaryFile file;
      const DrawsHeader header = make_header(num_chains, 45, dim, real);
      DrawsWriter writer(file.path, header);
      write_run<TypeParam>(writer, header, 45);
      writer.finish();
      const DrawsReader reader(file.path);
      EXPECT_EQ(reader.draws_written(), 45);
      for (const std::int64_t group : {std::int64_t{1}, std::int64_t{4}, dim}) {
        EXPECT_EQ(wrong_numbers<TypeParam>(reader, group), 0) << num_chains << " chains, dimension " << dim;
      }
    }
  }
}

TEST(DrawsFile, HeaderAttributesAndStatisticsComeBack) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(3, 45, 2, "double");
  {
    DrawsWriter writer(file.path, header);
    write_run<double>(writer, header, 45);
    writer.add_constant_data("mean", {{"parameter", 2}}, {0.5, -1});
    writer.add_constant_data("covariance", {{"parameter", 2}, {"column", 2}}, {1, 2, 3, 4});
    std::vector<std::int64_t> many(3000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(3 * i);
    writer.add_attributes({{"sampling_time", 1.5}, {"quarantined", many}, {"seconds", {{"warmup", 0.5}}}});
    writer.add_attributes({{"sampling_time", 2.5}});  // replaces
    writer.finish();
  }
  const DrawsReader reader(file.path);
  const DrawsHeader& back = reader.header();
  EXPECT_EQ(back.target, header.target);
  EXPECT_EQ(back.sampler, header.sampler);
  EXPECT_EQ(back.num_chains, 3);
  EXPECT_EQ(back.num_warmup, 50);
  EXPECT_EQ(back.num_samples, 45);
  EXPECT_EQ(back.thin, 2);
  EXPECT_EQ(back.seed, header.seed);
  EXPECT_EQ(back.real, "double");
  EXPECT_EQ(back.variable, "w");
  EXPECT_EQ(back.names, header.names);
  EXPECT_EQ(back.config, header.config);
  EXPECT_EQ(back.stats, header.stats);
  EXPECT_FALSE(back.save_warmup_stats);
  EXPECT_EQ(reader.attributes().at("adapt.scope"), "pooled");
  EXPECT_EQ(reader.attributes().at("sampling_time"), 2.5);
  EXPECT_EQ(reader.attributes().at("seconds.warmup"), 0.5);
  EXPECT_EQ(reader.attributes().at("inference_library"), "kilochain");
  EXPECT_EQ(reader.quarantined().size(), 3000u);
  EXPECT_EQ(reader.quarantined().back(), 8997);
  EXPECT_EQ(reader.constant_data("covariance"), (std::vector<double>{1, 2, 3, 4}));
  const auto divergences = reader.divergences();
  ASSERT_EQ(divergences.size(), 7u);  // draws 0, 7, ..., 42
  for (std::int64_t k = 0; k < 7; ++k) {
    const Divergence& d = divergences[static_cast<std::size_t>(k)];
    EXPECT_EQ(d.chain, 0);
    EXPECT_EQ(d.draw, 7 * k);
    EXPECT_EQ(d.point, divergence_point(7 * k, std::ssize(header.names)));
  }
  const auto counts = reader.num_diverging();
  const auto means = reader.mean_acceptance_rate();
  for (std::int64_t c = 0; c < 3; ++c) {
    std::int64_t count = 0;
    double sum = 0;
    for (std::int64_t t = 0; t < 45; ++t) count += diverges(c, t), sum += static_cast<double>(stat_value(2, c, t));
    EXPECT_EQ(counts.at(static_cast<std::size_t>(c)), count);
    EXPECT_EQ(means.at(static_cast<std::size_t>(c)), sum / 45);
  }
  expect_error([&] { reader.stat("no_such"); }, ExitStatus::data, "no statistic no_such");
}

TEST(DrawsFile, QuarantinedIsAListWhateverItsLength) {
  for (const std::vector<std::int64_t>& list : {std::vector<std::int64_t>{}, {4}, {4, 9}}) {
    const TemporaryFile file;
    DrawsWriter writer(file.path, make_header(10, 5, 1, "float"));
    writer.add_attributes({{"quarantined", list}});
    writer.finish();
    EXPECT_EQ(DrawsReader(file.path).quarantined(), list);
  }
}

TEST(DrawsFile, InterruptedRunHasTheDrawsItWrote) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(5, 1000, 6, "float");
  DrawsWriter writer(file.path, header);
  write_run<float>(writer, header, 23);
  EXPECT_EQ(writer.draws_written(), 23);
  writer.finish();
  const DrawsReader reader(file.path);
  EXPECT_EQ(reader.draws_written(), 23);
  EXPECT_EQ(wrong_numbers<float>(reader, 3), 0);
}

TEST(DrawsFile, WarmupStatisticsHaveTheirOwnGroup) {
  const TemporaryFile file;
  DrawsHeader header = make_header(3, 45, 2, "double");
  header.save_warmup_stats = true;
  DrawsWriter writer(file.path, header);
  Buffers<double> buffers(header, 10);
  Window window = buffers.fill(0, 10);
  window.draws = nullptr;
  writer.append_warmup_stats(0, 10, window);
  write_run<double>(writer, header, 45);
  writer.finish();
  const DrawsReader reader(file.path);
  EXPECT_TRUE(reader.has_warmup_stats());
  EXPECT_TRUE(reader.header().save_warmup_stats);
  EXPECT_EQ(wrong_numbers<double>(reader, 2), 0);
}

TEST(DrawsFile, MomentsOnlyHoldsTheSummary) {
  const TemporaryFile file;
  DrawsHeader header = make_header(4096, 20000, 3, "float");
  header.kept = KeptDraws::moments;
  DrawsWriter writer(file.path, header);
  const DrawsReader::Summary table{header.names, {{"mean", {1, 2, 3}}, {"sd", {4, 5, std::nan("")}}}};
  writer.write_summary(table.names, table.columns);
  writer.finish();
  const DrawsReader reader(file.path);
  EXPECT_FALSE(reader.has_draws());
  ASSERT_TRUE(reader.has_summary());
  const auto back = reader.read_summary();
  EXPECT_EQ(back.names, header.names);
  ASSERT_EQ(back.columns.size(), 2u);
  EXPECT_EQ(back.columns[0], table.columns[0]);
  EXPECT_EQ(back.columns[1].first, "sd");
  EXPECT_TRUE(std::isnan(back.columns[1].second.at(2)));
  EXPECT_LT(std::filesystem::file_size(file.path), 200000u);
  std::vector<double> out;
  expect_error([&] { reader.read_parameters(0, 1, out); }, ExitStatus::data, "no draws");
  expect_error([&] { reader.lp(); }, ExitStatus::data, "moments only");
}

TEST(DrawsFile, KilledProcessLeavesItsDraws) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(20, 100000, 6, "double");
  int reports[2];
  ASSERT_EQ(::pipe(reports), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      DrawsWriter writer(file.path, header);
      Buffers<double> buffers(header, 10);
      for (std::int64_t t = 0; t < 100000; t += 10) {
        writer.append(t, 10, buffers.fill(t, 10));
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
  const DrawsHeader header = make_header(20, 100000, 30, "double");
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
  const DrawsHeader header = make_header(2, 5, 1, "float");
  expect_error([&] { DrawsWriter("/no/such/directory/draws.nc", header); }, ExitStatus::usage, "No such file");
  expect_error([&] { DrawsWriter(std::filesystem::temp_directory_path().string(), header); }, ExitStatus::usage,
               "Is a directory");
  expect_error([&] { DrawsWriter("/dev/null", header); }, ExitStatus::usage, "not a regular file");
  const TemporaryFile file;
  DrawsHeader wrong = header;
  wrong.real = "half";
  expect_error([&] { DrawsWriter(file.path, wrong); }, ExitStatus::usage, "half");
  wrong = header;
  wrong.num_chains = 0;
  expect_error([&] { DrawsWriter(file.path, wrong); }, ExitStatus::usage, "num_chains 0");
  wrong = make_header(2, 5, 4, "float");
  wrong.names[3] = wrong.names[1];
  expect_error([&] { DrawsWriter(file.path, wrong); }, ExitStatus::usage, "coordinates 1 and 3");
  EXPECT_FALSE(std::filesystem::exists(file.path));
}

TEST(DrawsFile, DrawsOutOfOrderAreRefused) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(2, 50, 1, "float");
  DrawsWriter writer(file.path, header);
  Buffers<float> buffers(header, 10);
  writer.append(0, 10, buffers.fill(0, 10));
  expect_error([&] { writer.append(20, 10, buffers.fill(20, 10)); }, ExitStatus::output, "the file has 10");
  writer.append(10, 10, buffers.fill(10, 10));
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
  const DrawsHeader header = make_header(20, 45, 6, "double");
  {
    DrawsWriter writer(file.path, header);
    write_run<double>(writer, header, 45);
  }
  std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) / 2);
  expect_error([&] { DrawsReader{file.path}; }, ExitStatus::data, "cannot be read");
}

TEST(DrawsFile, GroupsOfParametersFitTheBudget) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(4, 10, 25, "float");
  DrawsWriter writer(file.path, header);
  write_run<float>(writer, header, 10);
  writer.finish();
  const DrawsReader reader(file.path);
  const std::int64_t of_one = 4 * 10 * 8;
  EXPECT_EQ(reader.parameters_within(of_one * 1000), 25);
  EXPECT_EQ(reader.parameters_within(of_one - 1), 1);
  for (std::int64_t fitting = 1; fitting < 25; ++fitting) {
    EXPECT_LE(reader.parameters_within(of_one * fitting), fitting);
    EXPECT_GE(2 * reader.parameters_within(of_one * fitting), fitting);
  }
}

}  // namespace
}  // namespace kilochain
