#include "targets/data/synthetic.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numbers>
#include <random>
#include <system_error>

#include "base/error.hpp"

namespace kilochain {
namespace {

constexpr double correlation = 0.5, predictor_deviation = 2.0, intercept = -0.5, nonzero_fraction = 0.25;

// The words of mt19937_64 are fixed by the C++ standard, its distributions are not: so these are ours.
class Source {
 public:
  explicit Source(std::uint64_t seed) : words_(seed) {}
  double uniform() { return static_cast<double>(words_() >> 11) * 0x1p-53; }  ///< in [0, 1)
  double normal() {                                                           // Box-Muller, both of each pair used
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log1p(-uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  std::mt19937_64 words_;
  double spare_ = 0;
  bool has_spare_ = false;
};

std::vector<double> draw_weights(Source* source, std::size_t features) {
  std::vector<double> weights(features + 1, 0.0);
  for (std::size_t j = 0; j < features; ++j) {
    const bool nonzero = source->uniform() < nonzero_fraction || j == 0;
    const double value = source->normal();
    if (nonzero) weights[j] = value;
  }
  // Var(w.x) = sum_jk w_j w_k correlation^|j-k|; `carried` holds sum_{k<j} w_k correlation^(j-k).
  double variance = 0, carried = 0;
  for (std::size_t j = 0; j < features; ++j) {
    variance += weights[j] * (weights[j] + 2 * carried);
    carried = correlation * (carried + weights[j]);
  }
  const double scale = predictor_deviation / std::sqrt(variance);
  for (double& weight : weights) weight *= scale;
  weights[features] = intercept;
  return weights;
}

// A text file that notices when the disk is full, and leaves no half of itself behind.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb"), std::fclose) {
    if (!file_) fail();
  }
  void write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
  }
  void close() {
    if (std::fclose(file_.release()) != 0) fail();
  }

 private:
  [[noreturn]] void fail() {
    const std::string reason = std::strerror(errno);
    const bool opened = file_ != nullptr;
    file_.reset();
    std::error_code ignored;
    if (opened && std::filesystem::is_regular_file(path_, ignored)) std::filesystem::remove(path_, ignored);
    throw Error(ExitStatus::output, path_ + ": the file cannot be written", reason, "Choose another path?");
  }
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

void append_number(std::string* text, double value) {
  char digits[32];
  text->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace

std::vector<double> write_synthetic_logistic(const std::string& path, std::size_t rows, std::size_t features,
                                             std::uint64_t seed) {
  require(rows >= 2 && rows <= 1'000'000'000, ExitStatus::usage, "the number of rows is out of range",
          fmt::format("got {}, allowed 2 to 1000000000", rows), "Choose another number?");
  require(features >= 1 && features <= 100'000, ExitStatus::usage, "the number of features is out of range",
          fmt::format("got {}, allowed 1 to 100000", features), "Choose another number?");
  Output output(path);
  Source source(seed);
  const std::vector<double> weights = draw_weights(&source, features);

  std::string line;
  for (std::size_t j = 1; j <= features; ++j) line += fmt::format("x{},", j);
  output.write(line + "y\n");
  const double innovation = std::sqrt(1 - correlation * correlation);
  for (std::size_t i = 0; i < rows; ++i) {
    line.clear();
    double x = source.normal(), predictor = intercept;
    for (std::size_t j = 0; j < features; ++j) {
      if (j > 0) x = correlation * x + innovation * source.normal();
      // Six decimals: the last bits of log and cos differ between mathematical libraries. The model uses what is
      // written; + 0.0 turns -0 into 0.
      const double written = std::round(x * 1e6) / 1e6 + 0.0;
      predictor += weights[j] * written;
      append_number(&line, written);
      line += ',';
    }
    line += source.uniform() * (1 + std::exp(-predictor)) < 1 ? "1\n" : "0\n";
    output.write(line);
  }
  output.close();
  return weights;
}

}  // namespace kilochain
