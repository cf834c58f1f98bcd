// Matrix products on tensor cores, as the emulated device rounds for them: floats are the sums of their parts, log
// densities and gradients are right to the bits that each way keeps, and what a way cannot do is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/registry/registry.hpp"
#include "kernels/device/short_floats.hpp"
#include "tests/emulated_device/emulated.hpp"
#include "tests/gpu/logistic_table.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::ScratchFiles;

TEST(ShortFloats, AreRoundedToTheNearest) {
  EXPECT_EQ(to_float(to_bfloat16(1.0F + 1.0F / 256)), 1.0F);  // a tie goes to the even one
  EXPECT_EQ(to_float(to_bfloat16(1.0F + 3.0F / 256)), 1.0F + 4.0F / 256);
  EXPECT_EQ(to_float(to_bfloat16(-1.00391F)), -1.0F - 1.0F / 128);  // just past a tie
  EXPECT_EQ(to_tf32(1.0F + 1.0F / 2048), 1.0F);
  EXPECT_EQ(to_tf32(1.0F + 3.0F / 2048), 1.0F + 4.0F / 2048);
  for (int byte = 0; byte <= 256; ++byte) EXPECT_EQ(to_float(to_bfloat16(static_cast<float>(byte))), byte);
}
TEST(ShortFloats, ThreeBf16PartsAreTheFloatAndTwoOfTf32NearlySo) {
  std::mt19937 bits(4);
  std::normal_distribution<float> normal;
  for (int k = 0; k < 100000; ++k) {
    const float v = normal(bits) * std::exp(10 * normal(bits));
    Bfloat16 three[3];
    float two[2];
    split(v, three), split(v, two);
    ASSERT_EQ(to_float(three[0]) + (to_float(three[1]) + to_float(three[2])), v);
    ASSERT_NEAR(two[0] + two[1], v, std::ldexp(std::abs(v), -22));
  }
}

struct Answers {
  std::vector<double> lp, gradient, product;
};
template <class Real>
Answers answers(const Context& context, const std::string& model, SettingTexts settings, double size) {
  auto target = make_target<Real>(context, model, settings);
  constexpr std::size_t chains = 9;
  const std::size_t dim = static_cast<std::size_t>(target->info().dim), row = padded(dim);
  std::mt19937_64 bits(2);
  std::normal_distribution<double> normal;
  std::vector<Real> point(chains * row), direction(chains * row);
  std::vector<Needs> needs;
  for (std::size_t c = 0; c < chains; ++c) {
    needs.push_back(c % 3 == 2 ? Needs::hessian_vector : Needs::gradient);
    for (std::size_t j = 0; j < dim; ++j) {  // floats, so that both precisions ask at the same points
      point[c * row + j] = static_cast<Real>(static_cast<float>(size * normal(bits)));
      direction[c * row + j] = static_cast<Real>(static_cast<float>(normal(bits)));
    }
  }
  Buffer<Real> p(context, chains * row), d(context, chains * row), g(context, chains * row), h(context, chains * row);
  Buffer<double> lp(context, chains), accepted(context, chains);
  Buffer<Needs> n(context, chains);
  p.upload(point.data()), d.upload(direction.data()), n.upload(needs.data());
  target->evaluate({p.data(), d.data(), g.data(), h.data(), lp.data(), accepted.data(), n.data(), row}, 0, chains);
  synchronize(context);
  const auto gradients = g.host(), products = h.host();
  return {lp.host(), {gradients.begin(), gradients.end()}, {products.begin(), products.end()}};
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), size += a[i] * a[i];
  return std::sqrt(difference / size);
}

// Rounding, relative to the vectors' sizes: sums of 130 or 34 terms in float, 30 eps.
constexpr const char* models[] = {"logistic_regression", "softmax_regression"};

TEST(EmulatedProducts, KeepTheBitsThatTheyPromise) {
  emulated::forget_faults();
  const Context device = cuda_context(0), host = cpu_context(1);
  const ScratchFiles files;
  const double eps = 1.2e-7;
  for (const std::string model : models)
    for (const bool counts : {true, false}) {
      SettingTexts settings = {
          {"data", write_logistic_table(files.path(model + (counts ? "_counts.csv" : "_numbers.csv")), 130, 33, counts,
                                        model == models[0] ? 2 : 3)},
          {"standardise", "false"}};
      const double size = counts ? 0.003 : 0.2;
      const Answers exact = answers<double>(host, model, settings, size);
      for (const char* mode : {"float32", "bf16x3"}) {
        settings["matmul"] = mode;
        const Answers found = answers<float>(device, model, settings, size);
        SCOPED_TRACE(model + ", " + mode + (counts ? ", counts" : ", numbers"));
        EXPECT_LE(distance(exact.gradient, found.gradient), 30 * eps);
        EXPECT_LE(distance(exact.product, found.product), 30 * eps);
        EXPECT_LE(distance(exact.lp, found.lp), 30 * eps);
      }
    }
  EXPECT_TRUE(emulated::faults().empty());
}

// Of data that no block has room for: on tensor cores where X is of bytes, the device new enough and the run in float.
TEST(EmulatedProducts, TheWayIsChosenByTheData) {
  const Context device = cuda_context(0);
  Context old = device;
  old.capability = 80;
  const ScratchFiles files;
  for (const bool counts : {false, true}) {
    const SettingTexts settings = {{"data", write_logistic_table(files.path("table.csv"), 2000, 33, counts)},
                                   {"standardise", "false"}};
    for (const std::string model : models) {
      const auto way = [&](auto zero, const Context& context) {
        return make_target<decltype(zero)>(context, model, settings)->evaluation();
      };
      const std::string in_float = "(cuBLAS, float32)";
      EXPECT_NE(way(0.0F, device).find(counts ? "(cuBLAS, bf16x3)" : in_float), std::string::npos) << model;
      EXPECT_NE(way(0.0F, old).find(in_float), std::string::npos) << model;
      EXPECT_NE(way(0.0, device).find(in_float), std::string::npos) << model;
    }
  }
}

TEST(EmulatedProducts, WhatCannotBeDoneIsRefused) {
  const Context device = cuda_context(0), host = cpu_context(1);
  const ScratchFiles files;
  for (const std::string model : models) {
    SettingTexts settings = {{"data", write_logistic_table(files.path(model + ".csv"), 130, 33, true)},
                             {"matmul", "bf16x3"}};
    const auto refusal = [&](auto zero, const Context& context) -> std::string {
      try {
        make_target<decltype(zero)>(context, model, settings);
      } catch (const Error& e) {
        return e.what();
      }
      return "";
    };
    EXPECT_NE(refusal(0.0F, host).find("this run is on the CPU"), std::string::npos) << model;
    EXPECT_NE(refusal(0.0, device).find("--real float"), std::string::npos) << model;
    Context old = device;
    old.capability = 75;
    EXPECT_NE(refusal(0.0F, old).find("has compute capability 7.5, and tensor cores multiply bf16 from 8.0 on"),
              std::string::npos)
        << model;
    EXPECT_EQ(refusal(0.0F, device), "") << model;
  }
}

}  // namespace
}  // namespace kilochain
