// ArviZ opens our files and sees our draws. Skipped aloud where the interpreter (KILOCHAIN_PYTHON, else python3) has no
// ArviZ.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "host/draws/draws_file.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t kChains = 4, kDraws = 200, kDim = 3;
constexpr int kNoArviz = 77;

/// Output and exit status of the script on a file.
std::pair<std::string, int> arviz_check(const std::string& path) {
  const char* chosen = std::getenv("KILOCHAIN_PYTHON");
  const std::string command = std::string(chosen == nullptr || *chosen == 0 ? "python3" : chosen) +
                              " '" KILOCHAIN_SOURCE_DIR "/tests/cli/arviz_check.py' '" + path + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = ::pclose(pipe);
  return {text, WEXITSTATUS(status)};
}

/// A stationary sequence with a known mean over the file; not random, the same on every machine up to rounding.
double value(std::int64_t chain, std::int64_t draw, std::int64_t i) {
  return static_cast<double>(i) + std::sin(1e4 * std::sin(static_cast<double>(1 + i + 7 * draw + 1009 * chain)));
}

using Names = std::vector<std::string>;
const Names features = {"intercept", "age", "income"};

void write_file(const std::string& path, std::int64_t num_draws, const Names& names) {
  DrawsHeader header;
  header.target = "gaussian";
  header.sampler = "mala";
  header.num_chains = kChains;
  header.num_samples = kDraws;
  header.seed = 1;
  header.variable = "w";
  header.names = names;
  header.config = {{"step_size", 0.5}, {"adapt", {{"scope", "chain"}}}};
  header.stats = {"energy"};
  header.save_warmup_stats = true;
  header.draws_per_append = 50;
  std::vector<double> draws(kChains * kDraws * kDim), lp(kChains * kDraws, -1.5);
  std::vector<float> rate(lp.size(), 0.5f), energy(lp.size(), 2.0f);
  std::vector<std::uint8_t> diverging(lp.size(), 0);
  diverging[0] = 1;
  for (std::int64_t c = 0; c < kChains; ++c) {
    for (std::int64_t t = 0; t < kDraws; ++t) {
      for (std::int64_t i = 0; i < kDim; ++i) {
        draws[static_cast<std::size_t>((c * kDraws + t) * kDim + i)] = value(c, t, i);
      }
    }
  }
  Window<double> window{{draws.data(), kChains, kDraws, kDim},
                        {lp.data(), kChains, kDraws},
                        {rate.data(), kChains, kDraws},
                        {diverging.data(), kChains, kDraws},
                        {energy.data(), 1, kChains, kDraws}};
  DrawsWriter writer(path, header);
  window.count = 20;
  writer.append_warmup_stats(window);
  window.count = num_draws;
  window.divergences = {{0, 0, {0.5, 1.5, 2.5}}};
  writer.append(window);
  writer.add_constant_data("data", {{"row", 2}, {"column", 2}}, {1, 2, 3, 4});
  writer.add_attributes({{"sampling_time", 2.0}, {"quarantined", nlohmann::json::array()}});
  writer.finish();
}

void expect_arviz_sees(std::int64_t num_draws, const Names& names = features, Names labels = {}) {
  if (labels.empty())
    for (const std::string& name : names) labels.push_back("w[" + name + "]");
  const std::string path =
      (std::filesystem::temp_directory_path() / ("kilochain_arviz_" + std::to_string(::getpid()) + ".nc")).string();
  write_file(path, num_draws, names);
  const auto [text, status] = arviz_check(path);
  std::filesystem::remove(path);
  if (status == kNoArviz || status == 127) {
    std::printf("SKIPPED: no ArviZ in the interpreter of KILOCHAIN_PYTHON (or python3)\n");
    GTEST_SKIP() << "no ArviZ";
  }
  ASSERT_EQ(status, 0) << text;
  const auto seen = nlohmann::json::parse(text);
  EXPECT_EQ(seen.at("groups"), (nlohmann::json{"posterior", "sample_stats", "constant_data", "warmup_sample_stats"}))
      << text;
  EXPECT_EQ(seen.at("dims").at("posterior"),
            (nlohmann::json{{"chain", kChains}, {"draw", num_draws}, {"w_dim", kDim}}));
  EXPECT_EQ(seen.at("dims").at("warmup_sample_stats").at("draw"), 20);
  EXPECT_EQ(seen.at("variables").at("sample_stats").at("diverging"), "bool");
  EXPECT_EQ(seen.at("variables").at("sample_stats").at("lp"), "float64");
  EXPECT_EQ(seen.at("variables").at("sample_stats").at("divergence_point"), "float64");
  EXPECT_EQ(seen.at("dims").at("sample_stats").at("divergence"), 1);
  EXPECT_EQ(seen.at("variables").at("sample_stats").at("energy"), "float32");
  const auto& attributes = seen.at("attributes");
  EXPECT_EQ(attributes.at("inference_library"), "kilochain");
  EXPECT_EQ(attributes.at("adapt.scope"), "chain");
  EXPECT_EQ(attributes.at("sampling_time"), 2.0);
  for (std::int64_t i = 0; i < kDim; ++i) {
    double sum = 0;
    for (std::int64_t c = 0; c < kChains; ++c) {
      for (std::int64_t t = 0; t < num_draws; ++t) sum += value(c, t, i);
    }
    const double n = static_cast<double>(kChains * num_draws);
    // Two summation orders of n terms of size at most 3: 3 n eps each.
    EXPECT_NEAR(seen.at("summary").at(labels.at(i)).at("mean").get<double>(), sum / n, 6 * n * 2.3e-16);
    EXPECT_GT(seen.at("summary").at(labels.at(i)).at("ess_bulk").get<double>(), 100);
  }
}

TEST(DrawsArviz, WholeRun) { expect_arviz_sees(kDraws); }

/// A name that has the variable already is told once.
TEST(DrawsArviz, LabelsAreIndicesOrNames) {
  const Names indexed = {"w[0]", "w[1]", "w[2]"}, named = {"w[a, x]", "w[a, bias]", "w[b, x]"};
  expect_arviz_sees(kDraws, indexed, indexed);
  expect_arviz_sees(kDraws, named, named);
  expect_arviz_sees(kDraws, {"v", "w[1]", "w[2]"});
}

TEST(DrawsArviz, InterruptedRun) { expect_arviz_sees(150); }

}  // namespace
}  // namespace kilochain
