// Draws on disk: what is written comes back bit for bit, with its attributes, statistics and divergences.
#include <fstream>

#include "base/version.hpp"
#include "host/draws/netcdf.hpp"
#include "tests/draws/draws_support.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain {
namespace {

using namespace draws_support;

template <class Real>
class DrawsFileOf : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(DrawsFileOf, Reals);

TYPED_TEST(DrawsFileOf, RoundTripIsExact) {
  constexpr Precision real = precision_of<TypeParam>;
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
  const DrawsHeader header = make_header(3, 45, 2, Precision::double_precision);
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
  int id = -1;
  ASSERT_EQ(netcdf::open(file.path, NC_NOWRITE, &id), NC_NOERR);
  const int group = netcdf::find_group(id, "constant_data");
  std::vector<double> covariance(4);
  EXPECT_EQ(nc_get_var_double(group, netcdf::find_variable(group, "covariance"), covariance.data()), NC_NOERR);
  EXPECT_EQ(covariance, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(nc_close(id), NC_NOERR);
  const DrawsReader reader(file.path);
  const DrawsHeader& back = reader.header();
  EXPECT_EQ(back.target, header.target);
  EXPECT_EQ(back.sampler, header.sampler);
  EXPECT_EQ(back.num_chains, 3);
  EXPECT_EQ(back.num_warmup, 50);
  EXPECT_EQ(back.num_samples, 45);
  EXPECT_EQ(back.thin, 2);
  EXPECT_EQ(back.seed, header.seed);
  EXPECT_EQ(back.real, Precision::double_precision);
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
  const auto divergences = reader.divergences();
  ASSERT_EQ(divergences.size(), 7u);  // draws 0, 7, ..., 42
  for (std::int64_t k = 0; k < 7; ++k) {
    const Divergence& d = divergences[static_cast<std::size_t>(k)];
    EXPECT_EQ(d.chain, 0);
    EXPECT_EQ(d.draw, 7 * k);
    EXPECT_EQ(d.point, divergence_point(7 * k, std::ssize(header.names)));
  }
  const auto counts = reader.num_diverging();
  const auto flags = reader.stat("diverging");
  for (std::int64_t k = 0; k < 3 * 45; ++k) EXPECT_EQ(flags.at(static_cast<std::size_t>(k)), diverges(k / 45, k % 45));
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
    DrawsWriter writer(file.path, make_header(10, 5, 1, Precision::single_precision));
    writer.add_attributes({{"quarantined", list}});
    writer.finish();
    EXPECT_EQ(DrawsReader(file.path).quarantined(), list);
  }
}

TEST(DrawsFile, WarmupStatisticsHaveTheirOwnGroup) {
  const TemporaryFile file;
  DrawsHeader header = make_header(3, 45, 2, Precision::double_precision);
  header.save_warmup_stats = true;
  DrawsWriter writer(file.path, header);
  Buffers<double> buffers(header, 10);
  Window window = buffers.fill(0, 10);
  window.draws = {};
  writer.append_warmup_stats(window);
  write_run<double>(writer, header, 45);
  writer.finish();
  const DrawsReader reader(file.path);
  EXPECT_TRUE(reader.header().save_warmup_stats);
  EXPECT_EQ(wrong_numbers<double>(reader, 2), 0);
}

TEST(DrawsFile, MomentsOnlyHoldsTheSummary) {
  const TemporaryFile file;
  DrawsHeader header = make_header(4096, 20000, 3, Precision::single_precision);
  header.kept = KeptDraws::moments;
  DrawsWriter writer(file.path, header);
  std::vector<ParameterSummary> table;
  double value = 0;  // another one in every place
  for (const std::string& name : header.names) {
    table.push_back({name});
    for (const SummaryColumn& column : summary_columns) table.back().*column.figure = ++value;
  }
  table[2].sd = std::nan("");
  std::vector<double> rates(4096, 0.25);
  rates[17] = std::nan("");  // quarantined
  writer.write_summary(table, rates);
  writer.finish();
  const DrawsReader reader(file.path);
  EXPECT_FALSE(reader.has_draws());
  ASSERT_TRUE(reader.has_summary());
  const auto back = reader.read_summary();
  ASSERT_EQ(back.size(), table.size());
  for (std::size_t k = 0; k < back.size(); ++k) {
    EXPECT_EQ(back[k].name, table[k].name);
    for (const SummaryColumn& column : summary_columns) {
      if (k == 2 && std::string(column.name) == "sd")
        EXPECT_TRUE(std::isnan(back[k].sd));
      else
        EXPECT_EQ(back[k].*column.figure, table[k].*column.figure) << column.name << " of " << back[k].name;
    }
  }
  EXPECT_TRUE(testing_support::exact(reader.mean_acceptance_rate(), rates));
  EXPECT_LT(std::filesystem::file_size(file.path), 200000u);
  std::vector<double> out;
  expect_error([&] { reader.read_parameters(0, 1, out); }, ExitStatus::data, "no draws");
  expect_error([&] { reader.lp(); }, ExitStatus::data, "moments only");
}

/// A run that was stopped in its warm-up leaves such a file.
TEST(DrawsFile, WithoutDrawsHoldsNothingAndSaysSo) {
  for (const KeptDraws kept : {KeptDraws::all, KeptDraws::moments}) {
    const TemporaryFile file;
    DrawsHeader header = make_header(3, 45, 20, Precision::single_precision);
    header.kept = kept;
    DrawsWriter(file.path, header).add_attributes({{"interrupted", 1}});
    const DrawsReader reader(file.path);
    EXPECT_EQ(reader.has_draws(), kept == KeptDraws::all);
    EXPECT_EQ(reader.draws_written(), 0);
    EXPECT_EQ(reader.attributes().at("interrupted"), 1);
    EXPECT_TRUE(reader.divergences().empty());
    EXPECT_TRUE(reader.quarantined().empty());
    EXPECT_FALSE(reader.has_summary());
    expect_error([&] { reader.read_summary(); }, ExitStatus::data, "no summary");
    const std::vector<double> rates = reader.mean_acceptance_rate();
    EXPECT_TRUE(std::all_of(rates.begin(), rates.end(), [](double rate) { return std::isnan(rate); }));
    if (kept == KeptDraws::moments) continue;
    EXPECT_EQ(reader.parameters_within(1 << 20), 20);
    std::vector<double> out = {1};
    reader.read_parameters(3, 17, out);
    EXPECT_TRUE(out.empty());
    EXPECT_TRUE(reader.lp().empty());
    EXPECT_TRUE(reader.stat("energy").empty());
    EXPECT_EQ(reader.num_diverging(), (std::vector<std::int64_t>{0, 0, 0}));
  }
}

/// Files of moments that were written before acceptance rates were: the rest is there.
TEST(DrawsFile, MomentsWithoutAcceptanceRatesAreRead) {
  const TemporaryFile file;
  DrawsHeader header = make_header(3, 45, 1, Precision::double_precision);
  header.kept = KeptDraws::moments;
  DrawsWriter writer(file.path, header);
  writer.write_summary({{header.names[0]}}, {0.5, 0.5, 0.5});
  writer.finish();
  int id = -1, group = -1;
  ASSERT_EQ(nc_open(file.path.c_str(), NC_WRITE, &id), NC_NOERR);
  ASSERT_EQ(nc_inq_grp_ncid(id, "summary", &group), NC_NOERR);
  for (const auto& [name, other] : {std::pair("acceptance_rate", "something_else"), std::pair("rhat", "another")}) {
    int variable = -1;
    ASSERT_EQ(nc_inq_varid(group, name, &variable), NC_NOERR);
    ASSERT_EQ(nc_rename_var(group, variable, other), NC_NOERR);
  }
  ASSERT_EQ(nc_close(id), NC_NOERR);
  const DrawsReader reader(file.path);
  EXPECT_TRUE(reader.mean_acceptance_rate().empty());
  EXPECT_EQ(reader.read_summary().at(0).name, header.names[0]);
  EXPECT_TRUE(std::isnan(reader.read_summary().at(0).rhat));
}

/// The version is spelt once for programs, in CMakeLists.txt; the file and the list of changes follow it.
TEST(DrawsFile, NamesTheVersionThatTheChangesNameFirst) {
  const TemporaryFile file;
  DrawsWriter(file.path, make_header(1, 4, 1, Precision::double_precision)).finish();
  EXPECT_EQ(DrawsReader(file.path).attributes().at("inference_library_version"), version());
  std::ifstream changes(KILOCHAIN_SOURCE_DIR "/CHANGELOG.md");
  std::string line;
  while (std::getline(changes, line) && !line.starts_with("## ")) continue;
  EXPECT_TRUE(line.starts_with(std::string("## ") + version())) << line << " is not about " << version();
}

TEST(DrawsFile, GroupsOfParametersFitTheBudget) {
  const TemporaryFile file;
  const DrawsHeader header = make_header(4, 10, 25, Precision::single_precision);
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
