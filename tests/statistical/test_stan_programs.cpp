// Stan programs of posteriordb: each compiles and has a value; against the same posteriors written as models here, log
// densities up to a constant, and gradients. Compiled once; without Stan or without the suite that is said and skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "examples/posteriors/arma.hpp"
#include "examples/posteriors/eight_schools.hpp"
#include "examples/posteriors/kidiq.hpp"
#include "examples/posteriors/low_dim_gauss_mix.hpp"
#include "examples/posteriors/mesquite.hpp"
#include "examples/posteriors/sblrc.hpp"
#include "kernels/random/draw.hpp"
#include "targets/stan/compile.hpp"
#include "targets/stan/stan_model.hpp"
#include "targets/stan/stan_names.hpp"
#include "tests/models/evaluated.hpp"

namespace kilochain {
namespace {

const std::string suite = KILOCHAIN_SOURCE_DIR "/../shared/posteriordb";

std::string why_not(const std::string& folder) {
  if (!std::ifstream(folder + "/model.stan")) return folder + " is not there";
  try {
    stan::find_tools();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
#define SKIP_WITHOUT_STAN(folder)                              \
  if (const std::string why = why_not(folder); !why.empty()) { \
    std::printf("SKIPPED: %s\n", why.c_str());                 \
    GTEST_SKIP() << why;                                       \
  }

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

StanModel program_of(const std::string& folder) {
  const std::string data = folder + "/data.json";
  return {SharedObject(stan::compiled(folder + "/model.stan")), text_of(data), data};
}

/// Independent normals times `sd`: the same in every run.
std::vector<double> point(std::uint32_t number, Index dim, double sd) {
  std::vector<double> x(padded(static_cast<std::size_t>(dim)) + 32);
  normals(HostTeam{}, Rng{1, number, 0}, Purpose::start, Row(x.data(), x.size()), dim);
  x.resize(static_cast<std::size_t>(dim));
  for (double& value : x) value *= sd;
  return x;
}

template <class Model>
void compare(const std::string& name) {
  const std::string folder = suite + "/" + name;
  SKIP_WITHOUT_STAN(folder);
  const StanModel program = program_of(folder);
  testing_support::Evaluated<Model, double> model({folder + "/data.json"});
  const std::size_t n = static_cast<std::size_t>(program.dim());
  ASSERT_EQ(model.info.dim, program.dim());
  double constant = 0;
  for (std::uint32_t number = 0; number < 100; ++number) {
    const std::vector<double> x = point(number, program.dim(), 1);
    std::vector<double> gradient(n), ours;
    double lp = 0;
    std::string why;
    ASSERT_TRUE(program.evaluate(x.data(), &lp, gradient.data(), why)) << why;
    double value = 0;  // without a tape
    ASSERT_TRUE(program.evaluate(x.data(), &value, nullptr, why)) << why;
    ASSERT_NEAR(value, lp, 1e-10 * std::max(1.0, std::abs(lp))) << "point " << number;
    const double mine = model.at(x, Needs::gradient, &ours);
    if (number == 0) constant = mine - lp;
    // Sums of thousands of terms that reach millions: relative to the largest.
    ASSERT_NEAR(mine - lp, constant, 1e-10 * std::max({1.0, std::abs(lp), std::abs(constant)})) << "point " << number;
    double largest = 1;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(ours[i], gradient[i], 1e-8 * largest) << "point " << number;
  }
}

TEST(StanPrograms, EightSchools) { compare<EightSchools>("eight_schools-eight_schools_noncentered"); }
TEST(StanPrograms, Arma) { compare<Arma>("arma-arma11"); }
TEST(StanPrograms, Kidiq) { compare<Kidiq>("kidiq-kidscore_momiq"); }
TEST(StanPrograms, LowDimGaussMix) { compare<LowDimGaussMix>("low_dim_gauss_mix-low_dim_gauss_mix"); }
TEST(StanPrograms, Mesquite) { compare<Mesquite>("mesquite-logmesquite"); }
TEST(StanPrograms, Sblrc) { compare<Sblrc>("sblrc-blr"); }

/// A folder with a program without data.
std::string folder_of(const std::string& name, const std::string& program) {
  const std::string folder = testing::TempDir() + "kilochain_" + name;
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/model.stan") << program;
  std::ofstream(folder + "/data.json") << "{}";
  return folder;
}

TEST(StanPrograms, HaveTheSameGradientsInAllThreads) {  // wherever their tapes lie, to a thread's 16 bytes
  SKIP_WITHOUT_STAN(suite + "/arma-arma11");
  const StanModel program = program_of(folder_of("threads",
                                                 "parameters { real a; vector[33] b; }\n"
                                                 "model {\n"
                                                 "  b ~ std_normal();\n"
                                                 "  vector[33] c = exp(a) * b;\n"
                                                 "  target += -dot_self(c) - 0.1 * sum(square(c)) - a ^ 2;\n"
                                                 "}\n"));
  constexpr std::uint32_t points = 200;
  const auto n = static_cast<std::size_t>(program.dim());
  std::vector<double> first;
  for (std::size_t k = 0; k < 8; ++k) {
    std::vector<double> found(points * (n + 1));
    std::thread([&] {
      std::vector<std::unique_ptr<char[]>> moved;  // tapes of the threads begin in all places
      for (std::size_t j = 0; j < k; ++j) moved.push_back(std::make_unique<char[]>(16 * (2 * j + 1) + 8));
      std::string why;
      for (std::uint32_t number = 0; number < points; ++number) {
        double* const out = &found[number * (n + 1)];
        ASSERT_TRUE(program.evaluate(point(number, program.dim(), 0.5).data(), out, out + 1, why)) << why;
      }
    }).join();
    if (k == 0) first = found;
    EXPECT_TRUE(found == first) << "thread " << k;
  }
}

TEST(StanPrograms, ThatBranchHaveOneDensity) {  // of its two normals Stan leaves out what differs
  SKIP_WITHOUT_STAN(suite + "/arma-arma11");
  const StanModel program = program_of(folder_of("branches",
                                                 "parameters { real x; }\n"
                                                 "model { if (x > 3) x ~ normal(0, 1e6); else x ~ normal(0, 1); }\n"));
  for (const double x : {-1.0, 2.0, 4.0}) {
    double lp, gradient, value;
    std::string why;
    ASSERT_TRUE(program.evaluate(&x, &lp, &gradient, why) && program.evaluate(&x, &value, nullptr, why)) << why;
    EXPECT_DOUBLE_EQ(value, lp) << "x = " << x;
  }
}

class EveryStanProgram : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryStanProgram, CompilesAndHasAValueAndItsNames) {
  const std::string folder = suite + "/" + GetParam();
  SKIP_WITHOUT_STAN(folder);
  const StanModel program = program_of(folder);
  std::vector<double> gradient(static_cast<std::size_t>(program.dim()));
  double lp = NAN;
  std::string why;
  const auto finite = [](double v) { return std::isfinite(v); };
  for (std::uint32_t number = 0; number < 200 && !std::isfinite(lp); ++number) {  // far ones, and closer and closer
    const auto x = point(number, program.dim(), number % 2 == 0 ? 1 : 1.0 / (1 + number));
    if (!program.evaluate(x.data(), &lp, gradient.data(), why)) lp = NAN;
  }
  EXPECT_TRUE(finite(lp)) << why;
  EXPECT_TRUE(std::all_of(gradient.begin(), gradient.end(), finite));
  const auto names = stan_names(program.names(true, true)).names;
  if (std::filesystem::exists(folder + "/reference.json")) {
    for (const std::string name : nlohmann::json::parse(text_of(folder + "/reference.json"))["parameters"])
      EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

std::vector<std::string> posteriors() {
  std::vector<std::string> names;
  if (std::filesystem::exists(suite))
    for (const auto& entry : std::filesystem::directory_iterator(suite))
      if (entry.is_directory()) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryStanProgram);
INSTANTIATE_TEST_SUITE_P(Posteriordb, EveryStanProgram, ::testing::ValuesIn(posteriors()), [](const auto& test) {
  std::string name = test.param;
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
});

}  // namespace
}  // namespace kilochain
