// What stands out in files whose chains are made so: stuck, slow, elsewhere, divergent, quarantined; by number,
// and nothing else. The page of such a file, and how large a page becomes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "host/draws/draws_file.hpp"
#include "host/report/advice.hpp"
#include "host/report/page.hpp"
#include "host/statistics/chain_figures.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
using Numbers = std::vector<std::int64_t>;

/// Independent normal draws of all chains, which a test spoils before they are written.
struct MadeFile {
  MadeFile(std::int64_t chains, std::int64_t num_draws, std::int64_t dim)
      : chains(chains), num_draws(num_draws), dim(dim) {
    std::mt19937_64 bits(20261123);
    std::normal_distribution<float> normal;
    x.resize(chains * num_draws * dim);
    for (float& value : x) value = normal(bits);
    lp.resize(chains * num_draws);
    acceptance.assign(lp.size(), 0.8f);
    energy.resize(lp.size());
    deepest.assign(lp.size(), 0.0f);
    diverging.assign(lp.size(), 0);
    for (std::size_t i = 0; i < lp.size(); ++i) {
      for (std::int64_t p = 0; p < dim; ++p) lp[i] -= 0.5 * x[i * dim + p] * x[i * dim + p];
      energy[i] = static_cast<float>(-lp[i]) + normal(bits);
    }
  }
  std::size_t at(std::int64_t chain, std::int64_t draw) const { return chain * num_draws + draw; }
  /// x_t = rho x_{t-1} + noise, of the same law.
  template <class T>
  void slow_down(std::vector<T>& values, std::int64_t chain, double rho) {
    double mean = 0;
    for (std::int64_t t = 0; t < num_draws; ++t) mean += double{values[at(chain, t)]} / num_draws;
    for (std::int64_t t = 1; t < num_draws; ++t) {
      const double before = values[at(chain, t - 1)] - mean, noise = values[at(chain, t)] - mean;
      values[at(chain, t)] = static_cast<T>(mean + rho * before + std::sqrt(1 - rho * rho) * noise);
    }
  }
  void write(const std::string& path, const Numbers& quarantined = {}, KeptDraws kept = KeptDraws::all) {
    DrawsHeader h;
    h.target = "gaussian", h.sampler = "nuts", h.num_chains = chains, h.num_samples = num_draws,
    h.real = Precision::single_precision;
    for (std::int64_t p = 0; p < dim; ++p) h.names.push_back(fmt::format("x[{}]", p));
    h.config = {{"target", "gaussian"}, {"sampler", "nuts"}, {"data", "it's <data>.csv"}};
    h.stats = {"energy", "reached_max_treedepth"}, h.draws_per_append = num_draws, h.kept = kept;
    DrawsWriter writer(path, h);
    std::vector<float> stats = energy;
    stats.insert(stats.end(), deepest.begin(), deepest.end());
    Window<float> window{{x.data(), chains, num_draws, dim},
                         {lp.data(), chains, num_draws},
                         {acceptance.data(), chains, num_draws},
                         {diverging.data(), chains, num_draws},
                         {stats.data(), 2, chains, num_draws}};
    window.first = 0, window.count = num_draws;
    for (std::int64_t c = 0; c < chains; ++c)
      if (diverging[at(c, 0)]) window.divergences.push_back({c, 0, std::vector<double>(dim, 0.25)});
    if (kept == KeptDraws::all) writer.append(window);
    if (kept == KeptDraws::moments)
      writer.write_summary(std::vector<ParameterSummary>(dim, {"x", 0, 1, 0.01, -1, 0, 1, 900, 900, 1.001}),
                           std::vector<double>(acceptance.begin(), acceptance.begin() + chains));
    writer.add_attributes({{"quarantined", quarantined}, {"interrupted", 0}});
    writer.finish();
  }
  std::int64_t chains, num_draws, dim;
  std::vector<float> x, acceptance, energy, deepest;
  std::vector<double> lp;
  std::vector<std::uint8_t> diverging;
};

/// One chain of each kind among 40.
MadeFile spoiled_file() {
  MadeFile file(40, 400, 3);
  for (std::int64_t t = 0; t < file.num_draws; ++t) {
    file.acceptance[file.at(3, t)] = 0;
    for (std::int64_t p = 0; p < 3; ++p) file.x[file.at(3, t) * 3 + p] = file.x[file.at(3, 0) * 3 + p];
    file.lp[file.at(3, t)] = file.lp[file.at(3, 0)];
    for (const std::int64_t c : {11, 12}) file.x[file.at(c, t) * 3 + 1] += 5, file.lp[file.at(c, t)] -= 20;
    if (t < 25) file.diverging[file.at(5, t)] = 1;
    if (t < 3) file.diverging[file.at(30, t)] = 1;
    file.deepest[file.at(6, t)] = t % 3 == 0;
    for (std::int64_t p = 0; p < 3 && t > 100; ++p) file.x[file.at(9, t) * 3 + p] = NAN;
  }
  file.slow_down(file.lp, 7, 0.97);
  file.slow_down(file.energy, 4, 0.95);
  return file;
}

Numbers chains_of(const Diagnosis& d, const std::string& kind) {
  for (const Finding& f : d.findings)
    if (f.kind == kind) return f.chains;
  return {-1};
}

TEST(Diagnosis, NamesEachChainThatStandsOut) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  spoiled_file().write(path, {9});
  const Diagnosis d = diagnose(path);
  EXPECT_EQ(chains_of(d, "quarantined"), Numbers{9});
  EXPECT_EQ(chains_of(d, "stuck"), Numbers{3});
  EXPECT_EQ(chains_of(d, "slow"), Numbers{7});
  EXPECT_EQ(chains_of(d, "divergent"), (Numbers{5, 30})) << "the most divergent first";
  EXPECT_EQ(chains_of(d, "low energy"), Numbers{4});
  EXPECT_EQ(chains_of(d, "deep"), Numbers{6});
  EXPECT_EQ(chains_of(d, "clusters"), (Numbers{11, 12, 3}));
  EXPECT_EQ(chains_of(d, "apart"), Numbers{-1}) << "those in other places are named once";
  EXPECT_TRUE(d.chains[11].out > 6 && d.chains[10].out > 6);
  EXPECT_EQ(d.chains.size(), 39u);
  ASSERT_EQ(d.clusters.size(), 3u);  // the chain that stands still is in a place of its own
  EXPECT_EQ(d.clusters[0].chains.size(), 36u);
  EXPECT_EQ(d.clusters[1].chains, (Numbers{11, 12}));
  EXPECT_EQ(d.clusters[2].chains, Numbers{3});
  EXPECT_EQ(d.run.parameters[d.worst[0]].name, "x[1]");
  EXPECT_NEAR(d.clusters[1].means[0], 5, 0.2);
  EXPECT_EQ(d.findings[0].kind, "quarantined");
  for (const Finding& f : d.findings) EXPECT_TRUE(f.advice.ends_with(".")) << f.advice;
  EXPECT_TRUE(next_step(d).verdict.starts_with("Not converged: 1 of 39 chains accepted nothing; R-hat of x[1]"))
      << next_step(d).verdict;
}

TEST(Diagnosis, LowerLogDensitiesHaveNotArrivedAndEqualOnesAreModes) {
  ScratchFiles files;
  for (const bool lower : {false, true}) {
    MadeFile file(16, 100, 1);
    for (std::int64_t c = 0; c < 6; ++c)
      for (std::int64_t t = 0; t < 100; ++t) file.x[file.at(c, t)] += 8, file.lp[file.at(c, t)] -= lower ? 30 : 0;
    const std::string path = files.path(lower ? "lower.nc" : "alike.nc");
    file.write(path);
    const Diagnosis d = diagnose(path);
    EXPECT_EQ(chains_of(d, "clusters"), (Numbers{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(next_step(d).advice.find("have not arrived") != std::string::npos, lower) << next_step(d).advice;
    EXPECT_EQ(next_step(d).advice.find("modes") != std::string::npos, !lower) << next_step(d).advice;
  }
}

/// A continuum of places, without gaps: no clusters, but chains that are apart.
TEST(Diagnosis, ChainsApartWithoutAGap) {
  ScratchFiles files;
  MadeFile file(200, 400, 1);
  for (std::int64_t c = 0; c < 20; ++c)
    for (std::int64_t t = 0; t < 400; ++t) file.x[file.at(c, t)] += 0.1 * (c + 1);
  file.write(files.path("draws.nc"));
  const Diagnosis d = diagnose(files.path("draws.nc"));
  EXPECT_EQ(d.clusters.size(), 1u);
  const Numbers apart = chains_of(d, "apart");
  ASSERT_GT(apart.size(), 10u);
  EXPECT_EQ(apart[0], 19);
  for (const std::int64_t c : apart) EXPECT_LT(c, 20);
}

TEST(Diagnosis, ChainsThatAgreeStandInPeace) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  for (const auto& [chains, draws] : {std::pair{2, 300}, {4, 90}, {33, 257}, {3000, 60}}) {
    MadeFile file(chains, draws, 2);
    for (int c = 0; c < chains; ++c) file.slow_down(file.lp, c, 0.8), file.slow_down(file.energy, c, 0.3);
    file.write(path);
    std::filesystem::rename(path, files.path("now.nc"));
    const Diagnosis d = diagnose(files.path("now.nc"));
    EXPECT_TRUE(d.findings.empty()) << chains << ": " << d.findings[0].kind << " " << chains_text(d.findings[0].chains);
    EXPECT_EQ(d.clusters.size(), 1u);
  }
}

TEST(Diagnosis, ChainsThatAreLeftOutDoNotCount) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  spoiled_file().write(path, {9});
  const Diagnosis d = diagnose(path, {3, 4, 5, 6, 7, 9, 11, 12, 30});
  EXPECT_TRUE(d.findings.empty()) << d.findings[0].kind;
  EXPECT_EQ(d.run.num_chains, 31);
  EXPECT_EQ(d.run.quarantined, 0);
  EXPECT_EQ(d.chains[3].number, 8);
  expect_error([&] { diagnose(path, {40}); }, ExitStatus::usage, path,
               ": no such chain to leave out (chain 40 of 40). Chains are numbered from 0.");
  MadeFile(8, 10, 1).write(files.path("moments.nc"), {}, KeptDraws::moments);
  const Diagnosis moments = diagnose(files.path("moments.nc"));
  EXPECT_EQ(moments.missing.size(), 1u);
  EXPECT_TRUE(moments.clusters.empty());
  EXPECT_THROW(diagnose(files.path("moments.nc"), {1}), Error);
}

nlohmann::json figures_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"figures\">";
  const auto from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(Page, HasTheFarthestChainsOnTop) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  spoiled_file().write(path, {9});
  const Diagnosis d = diagnose(path);
  const auto f = figures_of(page_of(path, d));
  ASSERT_EQ(f["looked"].size(), 3u);
  EXPECT_EQ(f["looked"][0]["name"], "log density");
  const auto& heat = f["looked"][1]["heat"];
  EXPECT_EQ(f["looked"][1]["name"], "x[1]");
  EXPECT_EQ(heat["levels"].get<std::string>().size(), heat["chains"].size() * heat["blocks"].get<std::size_t>());
  EXPECT_EQ(heat["chains"].size(), 39u);
  std::set<int> first(heat["chains"].begin(), heat["chains"].begin() + 3);
  EXPECT_EQ(first, (std::set<int>{3, 11, 12}));
  const auto& ecdf = f["looked"][1]["ecdf"];
  EXPECT_EQ(ecdf["bands"].size(), 7u);
  EXPECT_LT(ecdf["farthest"][0]["y"][19].get<double>(), -0.4)
      << "half of all draws are below rank 1/2, and none of chain 11 or 12";
  const auto& growth = f["looked"][1]["growth"];
  EXPECT_EQ(growth["draws"].back(), 400);
  EXPECT_EQ(growth["rhat"].back(), f["table"][0][9]) << "at the end the figures are the summary's";
  EXPECT_EQ(f["pairs"].size(), 3u);
  EXPECT_EQ(f["pairs"][0]["divergences"].size(), 2u);
  EXPECT_EQ(f["run"]["command"], "kilochain sample --target gaussian --sampler nuts --data 'it'\\''s <data>.csv'");
}

TEST(Page, StaysSmall) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  MadeFile(10000, 16, 100).write(path);
  const std::string page = page_of(path, diagnose(path));
  std::printf("page of 10 000 chains and 100 parameters: %zu bytes\n", page.size());
  EXPECT_LT(page.size(), 2'000'000u);
  EXPECT_EQ(figures_of(page)["looked"][0]["heat"]["chains"].size(), 400u);
}

TEST(ChainFigures, AgainstTheirDefinitions) {
  const double x[] = {0, 1, 2, 3, 10, 11, 12, 13};
  const Series two{x, 2, 4};
  EXPECT_EQ(block_means(two, 2), (std::vector<double>{0.5, 2.5, 10.5, 12.5}));
  EXPECT_EQ(block_means({x, 2, 4}, 3), (std::vector<double>{1, 2, 3, 11, 12, 13}));
  EXPECT_EQ(rank_ecdf_differences(two, 1), (std::vector<double>{0.5, -0.5}));
  EXPECT_DOUBLE_EQ(steps_over_variance(x, 4), 3 / 5.0);
  EXPECT_TRUE(std::isnan(steps_over_variance(x, 3)));
  EXPECT_EQ(groups_of({{5, 0, 0.1, 5.1}, 0, 0.1}), (std::vector<int>{1, 0, 0, 1}));
  EXPECT_TRUE(places_of({x, 4, 2}).at.empty());
  EXPECT_EQ(chains_text({5, 3, 4, 9, 17, 18}), "3-5, 9, 17, 18");
  EXPECT_EQ(chains_text({1, 3, 5, 7}, 2), "1, 3 and 2 more");
}

}  // namespace
}  // namespace kilochain
