#include "host/statistics/autocovariance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <unsupported/Eigen/FFT>
#include <utility>

namespace kilochain {
namespace {

constexpr std::int64_t kFirstBatch = 8;  // lags; most well-mixed chains need no more
constexpr std::int64_t kTile = 8;        // lags in flight: one load of x_i for eight products

/// Direct lags that cost as much as one transform of all rows: so many per doubling of the length, measured at lengths
/// 250 to 2e5. A row's spectrum leaves the second-level cache at about 2e4, the third-level one at about 1e5.
double break_even_lags(std::int64_t length) {
  return (length < 20000 ? 12 : length < 100000 ? 30 : 80) * std::log2(2.0 * length);
}

/// sums[j] += sum_i x[i] * x[i + lag + j], j < 8; x must be zero (and readable) from n to n + 8.
void add_eight_lags(const double* x, std::int64_t n, std::int64_t lag, double* sums) {
  const double* y = x + lag;
  const std::int64_t count = n - lag;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = x[i];
    s0 += a * y[i];
    s1 += a * y[i + 1];
    s2 += a * y[i + 2];
    s3 += a * y[i + 3];
    s4 += a * y[i + 4];
    s5 += a * y[i + 5];
    s6 += a * y[i + 6];
    s7 += a * y[i + 7];
  }
  const double tile[kTile] = {s0, s1, s2, s3, s4, s5, s6, s7};
  for (int j = 0; j < kTile; ++j) sums[j] += tile[j];
}

double mean_of(const double* x, std::int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += x[i];
  return sum / n;
}

std::int64_t power_of_two_from(std::int64_t n) { return std::bit_ceil(static_cast<std::uint64_t>(n)); }

/// The smallest 2^a 3^b 5^c >= n with at most one 3 and one 5: lengths that transform fast.
std::int64_t fast_length(std::int64_t n) {
  std::int64_t best = power_of_two_from(n);
  for (const std::int64_t factor : {3, 5, 15}) {
    best = std::min(best, factor * power_of_two_from((n + factor - 1) / factor));
  }
  return best;
}

}  // namespace

double Autocovariance::operator()(std::int64_t lag) {
  while (lag >= std::ssize(covariances_)) extend();
  return covariances_[lag];
}

double Autocovariance::variance_of_means() const {
  if (rows_ < 2) return 0;
  const double centre = mean_of(means_.data(), rows_);
  double sum = 0;
  for (const double mean : means_) sum += (mean - centre) * (mean - centre);
  return sum / (rows_ - 1);
}

double Autocovariance::variance_within() { return (*this)(0) * length_ / (length_ - 1); }

RealAutocovariance::RealAutocovariance(std::int64_t rows, std::int64_t length, RowLoader load)
    : Autocovariance(rows, length), load_(std::move(load)) {
  extend_directly(kFirstBatch);
}

void RealAutocovariance::extend() {
  const std::int64_t done = std::ssize(covariances_);
  const double break_even = break_even_lags(length_);
  // Half of break-even is spent before changing over: never worse than 1.5 times the better way in hindsight.
  if (done >= break_even / 2 && length_ - done > break_even) {
    transform();
  } else {
    extend_directly(done);
  }
}

void RealAutocovariance::extend_directly(std::int64_t count) {
  const std::int64_t done = std::ssize(covariances_);
  count = std::min(count, length_ - done);
  std::vector<double> sums(count + kTile), row(length_ + 2 * kTile);
  for (std::int64_t r = 0; r < rows_; ++r) {
    load_(r, row.data());
    if (done == 0) means_[r] = mean_of(row.data(), length_);
    for (std::int64_t i = 0; i < length_; ++i) row[i] -= means_[r];
    for (std::int64_t k = 0; k < count; k += kTile) add_eight_lags(row.data(), length_, done + k, sums.data() + k);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    covariances_.push_back(sums[k] / length_ / rows_);
  }
}

void RealAutocovariance::transform() {
  // Two real rows as one complex row: in |Z|^2 the cross term is odd in frequency and leaves the real part of the
  // inverse alone. Spectra add up over rows, so there is one inverse transform in all.
  using Complex = std::complex<double>;
  const int padded = static_cast<int>(fast_length(2 * length_));  // as the transform takes it
  Eigen::FFT<double> fft;
  std::vector<Complex> signal(padded), spectrum(padded), power(padded);
  std::vector<double> first(length_), second(length_, 0.0);
  for (std::int64_t r = 0; r < rows_; r += 2) {
    const bool pair = r + 1 < rows_;
    load_(r, first.data());
    if (pair) load_(r + 1, second.data());
    const double first_mean = means_[r], second_mean = pair ? means_[r + 1] : 0;
    if (!pair) std::fill(second.begin(), second.end(), 0.0);
    for (std::int64_t i = 0; i < length_; ++i) signal[i] = {first[i] - first_mean, second[i] - second_mean};
    fft.fwd(spectrum.data(), signal.data(), padded);
    for (int i = 0; i < padded; ++i) power[i] += std::norm(spectrum[i]);
  }
  fft.inv(spectrum.data(), power.data(), padded);
  const std::int64_t done = std::ssize(covariances_);
  for (std::int64_t k = done; k < length_; ++k) {
    covariances_.push_back(spectrum[k].real() / length_ / rows_);
  }
}

BitAutocovariance::BitAutocovariance(std::int64_t rows, std::int64_t length, std::vector<std::uint64_t> bits)
    : Autocovariance(rows, length), bits_(std::move(bits)) {
  const std::int64_t words = words_per_row(length);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t ones = 0;
    for (std::int64_t w = 0; w < words; ++w) ones += std::popcount(bits_[r * words + w]);
    means_[r] = ones / static_cast<double>(length);
    ones_ += ones;
  }
}

void BitAutocovariance::extend() {
  const std::int64_t done = std::ssize(covariances_);
  const std::int64_t count = std::min(done == 0 ? kFirstBatch : done, length_ - done);
  const std::int64_t words = words_per_row(length_);
  std::vector<double> sums(count);
  for (std::int64_t r = 0; r < rows_; ++r) {
    const std::uint64_t* row = bits_.data() + r * words;
    const auto bit = [row](std::int64_t i) -> std::int64_t { return row[i / 64] >> (i % 64) & 1; };
    const double mean = means_[r];
    const std::int64_t total = std::llround(mean * length_);
    std::int64_t head = 0, tail = 0;  // ones among the first and the last `lag` draws
    for (std::int64_t i = 0; i < done; ++i) head += bit(i), tail += bit(length_ - 1 - i);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t lag = done + k, skip = lag / 64, last = words - 1 - skip;
      const int shift = lag % 64;
      std::int64_t both = 0;
      for (std::int64_t w = 0; w < last; ++w) {
        // Shifting by 64 is undefined, so the upper word moves in two steps.
        const std::uint64_t moved = row[w + skip] >> shift | row[w + skip + 1] << 1 << (63 - shift);
        both += std::popcount(row[w] & moved);
      }
      sums[k] += both - mean * (2 * total - head - tail) + (length_ - lag) * mean * mean;
      if (lag < length_) head += bit(lag), tail += bit(length_ - 1 - lag);
    }
  }
  for (const double sum : sums) {
    covariances_.push_back(sum / length_ / rows_);
  }
}

}  // namespace kilochain
