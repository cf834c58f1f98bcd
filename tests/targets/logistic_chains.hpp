// A logistic or softmax regression under test, with the points and answers of several chains.
#pragma once
#include <cmath>

#include "host/registry/registry.hpp"
#include "kernels/fields.hpp"
#include "targets/data/synthetic.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain::testing_support {

template <class Real>
struct LogisticChains {
  LogisticChains(SettingTexts texts, const std::string& evaluator, Index num_chains,
                 const std::string& name = "logistic_regression")
      : target((texts["evaluator"] = evaluator, make_target<Real>(context, name, texts))),
        n(target->info().dim),
        chains(num_chains),
        row(padded(n)),
        point(context, row * chains),
        direction(context, row * chains),
        gradient(context, row * chains),
        product(context, row * chains),
        lp(context, chains),
        accepted(context, chains),
        needs(context, chains) {
    ask(Needs::gradient);
  }
  void ask(Needs what) { std::fill_n(needs.data(), chains, what); }
  /// Chain c at a point of its own, the same in every precision up to rounding.
  void scatter(double scale) {
    for (Index c = 0; c < chains; ++c)
      for (Index j = 0; j < n; ++j) {
        at(point, c)[j] = Real(scale * std::sin(1.0 + 0.71 * c + 1.37 * j));
        at(direction, c)[j] = Real(std::cos(2.0 + 0.53 * c + 0.91 * j));
      }
  }
  Exchange<Real> exchange() {
    return {point.data(), direction.data(), gradient.data(), product.data(),
            lp.data(),    accepted.data(),  needs.data(),    row};
  }
  void evaluate() { target->evaluate(exchange(), 0, chains); }
  void evaluate(Index first, Index last) { target->evaluate(exchange(), first, last); }
  Real* at(Buffer<Real>& b, Index c) { return b.data() + row * c; }
  std::vector<Real> copy(Buffer<Real>& b, Index c) { return {at(b, c), at(b, c) + n}; }

  Context context = cpu_context(1);
  std::unique_ptr<Target<Real>> target;
  Index n, chains;
  std::size_t row;
  Buffer<Real> point, direction, gradient, product;
  Buffer<double> lp, accepted;
  Buffer<Needs> needs;
};

inline const char* const logistic_evaluators[] = {"team", "blocked", "sparse"};

/// A generated table of `rows` observations and `columns` features (no bias, not standardised).
inline SettingTexts generated_logistic(const ScratchFiles& files, std::size_t rows, std::size_t columns) {
  const std::string path = files.path("d" + std::to_string(rows) + "x" + std::to_string(columns) + ".csv");
  write_synthetic_logistic(path, rows, columns, 7);
  return {{"data", path}, {"standardise", "no"}, {"bias", "no"}};
}

/// A table that is mostly zeros, as images and indicators are: observations of three kinds, in turn, each with
/// non-zeros among a third of the features only, a fifth of them; the second feature is always 0, the last never. The
/// numbers are multiples of a quarter, or of no unit: (0.25 k)^2 - 3.
inline SettingTexts sparse_logistic(const ScratchFiles& files, std::size_t rows, std::size_t columns, bool multiples) {
  std::string text;
  for (std::size_t j = 0; j < columns; ++j) text += "x" + std::to_string(j) + ",";
  text += "y\n";
  std::uint32_t state = 12345;
  const auto word = [&] { return (state = state * 1664525u + 1013904223u) >> 16; };
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const bool last = j + 1 == columns, full = (j * 3 / columns == i % 3 && word() % 5 == 0 && j != 1) || last;
      const double value = 0.25 * (1 + word() % 7);
      text += full ? std::to_string(multiples ? value : value * value - 3) + "," : "0,";
    }
    text += i < 2 ? std::to_string(i) + "\n" : std::to_string(word() % 2) + "\n";
  }
  return {{"data", files.write((multiples ? "levels" : "sparse") + std::to_string(rows) + "x" +
                                   std::to_string(columns) + ".csv",
                               text)},
          {"standardise", "no"},
          {"bias", "no"}};
}
/// The two kinds: stored as numbers and as bytes.
inline SettingTexts sparse_numbers(const ScratchFiles& files, std::size_t rows, std::size_t columns) {
  return sparse_logistic(files, rows, columns, false);
}
inline SettingTexts sparse_levels(const ScratchFiles& files, std::size_t rows, std::size_t columns) {
  return sparse_logistic(files, rows, columns, true);
}

}  // namespace kilochain::testing_support
