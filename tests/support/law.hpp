// Does a sampler leave the law of its target unchanged? Many chains start at exact draws and run with adaptation off;
// the mean over the run of each of several functions of x must equal its expectation. Chains are independent, so the
// mean over chains has a known standard error whatever the correlation along a chain; the expectation comes from exact
// draws, with its own.
#pragma once
#include <algorithm>
#include <cmath>

#include "tests/support/chains.hpp"

namespace kilochain::testing_support {

/// Functions whose expectations are compared: moments, products of neighbours, and indicators at quantiles of the exact
/// law.
class LawFunctions {
 public:
  LawFunctions(const TargetInfo& info, int reference_draws) : dim_(info.dim) {
    std::vector<std::vector<double>> draws;
    for (int k = 0; k < reference_draws; ++k) draws.push_back(exact_draw(info, 4711, static_cast<std::uint32_t>(k)));
    coordinates_ = {0};
    if (dim_ > 1) coordinates_.push_back(1);
    if (dim_ > 2) coordinates_.push_back(dim_ - 1);
    for (const Index i : coordinates_) {
      std::vector<double> column;
      for (const auto& d : draws) column.push_back(d[static_cast<std::size_t>(i)]);
      std::sort(column.begin(), column.end());
      for (const double p : {0.05, 0.25, 0.5, 0.75, 0.95})
        quantiles_.push_back(column[static_cast<std::size_t>(p * reference_draws)]);
    }
    mean_.assign(size(), 0.0), error_.assign(size(), 0.0);
    std::vector<double> f(size());
    for (const auto& d : draws) {
      evaluate(d.data(), f.data());
      for (std::size_t k = 0; k < size(); ++k) mean_[k] += f[k], error_[k] += f[k] * f[k];
    }
    for (std::size_t k = 0; k < size(); ++k) {
      mean_[k] /= reference_draws;
      error_[k] = std::sqrt((error_[k] / reference_draws - mean_[k] * mean_[k]) / reference_draws);
    }
  }
  std::size_t size() const { return coordinates_.size() * 8; }
  template <class T>
  void evaluate(const T* x, double* f) const {
    const double* q = quantiles_.data();
    for (std::size_t c = 0; c < coordinates_.size(); ++c) {
      const Index i = coordinates_[c];
      const double v = x[i], next = x[(i + 1) % dim_];
      *f++ = v;
      *f++ = v * v;
      *f++ = v * next;
      for (int k = 0; k < 5; ++k) *f++ = v < *q++;
    }
  }
  double mean(std::size_t k) const { return mean_[k]; }
  double error(std::size_t k) const { return error_[k]; }

 private:
  Index dim_;
  std::vector<Index> coordinates_;
  std::vector<double> quantiles_, mean_, error_;
};

/// The largest |z| over the functions. Under an unchanged law P(max > 5) is below 24 x 6e-7 x 2 (tails of Student's t)
/// = 3e-5.
template <class Real>
double law_deviation(const Recorded<Real>& r, const LawFunctions& functions) {
  std::vector<double> sum(functions.size()), square(functions.size()), f(functions.size()), along(functions.size());
  for (Index c = 0; c < r.chains; ++c) {
    std::fill(along.begin(), along.end(), 0.0);
    for (std::int64_t t = 0; t < r.iterations; ++t) {
      functions.evaluate(r.draw(c, t), f.data());
      for (std::size_t k = 0; k < f.size(); ++k) along[k] += f[k] / static_cast<double>(r.iterations);
    }
    for (std::size_t k = 0; k < f.size(); ++k) sum[k] += along[k], square[k] += along[k] * along[k];
  }
  double worst = 0;
  for (std::size_t k = 0; k < f.size(); ++k) {
    const double mean = sum[k] / r.chains, variance = (square[k] / r.chains - mean * mean) / (r.chains - 1);
    worst = std::max(
        worst, std::abs(mean - functions.mean(k)) / std::sqrt(variance + functions.error(k) * functions.error(k)));
  }
  return worst;
}

/// Adapts the sampler to the target, pooled over its chains, from exact draws.
template <class Real>
void warm_up(const Context& context, Target<Real>& target, Chains<Real>& sampler, Index chains,
             std::int64_t iterations) {
  start_at(context, target, sampler, chains, exact_points<Real>(target.info(), chains, 1));
  run_phase(context, target, sampler, chains, Scope::pooled, Phase{0, iterations, iterations, true, 2});
}

/// Starts again from exact draws, as adapted as the sampler is, and measures as above.
template <class Real>
double law_deviation(const Context& context, Target<Real>& target, Chains<Real>& sampler, Index chains,
                     const LawFunctions& functions, std::int64_t iterations) {
  start_at(context, target, sampler, chains, exact_points<Real>(target.info(), chains, 3));
  Recorded<Real> out(chains, target.info().dim, iterations);
  run_phase(context, target, sampler, chains, Scope::pooled, Phase{0, iterations, 0, false, 4}, &out);
  double moves = 0;
  for (Index c = 0; c < chains; ++c)
    for (std::int64_t t = 1; t < iterations; ++t) moves += out.draw(c, t)[0] != out.draw(c, t - 1)[0];
  if (moves < 0.02 * static_cast<double>(chains * iterations))
    return std::numeric_limits<double>::infinity();  // standing still proves nothing
  for (const auto& c : sampler.controls())
    if (c.status != ChainStatus::running) return std::numeric_limits<double>::infinity();
  return law_deviation(out, functions);
}

}  // namespace kilochain::testing_support
