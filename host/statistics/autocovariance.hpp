// Autocovariances averaged over many rows, computed only as far as they are asked for.
// Row of n values x: c_k = (1/n) sum_{i < n-k} (x_i - mean)(x_{i+k} - mean), every row about its own mean; then the
// mean over rows. Lags come in growing batches of direct sums (one multiply-add per value and lag); past the lag where
// that would cost more, one Fourier transform for every two rows gives all lags at once. Indicators (0 or 1) are kept
// as bits: a lag is a shift, an AND and a population count, exact.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace kilochain {

/// Writes row `row` into out[length].
using RowLoader = std::function<void(std::int64_t row, double* out)>;

/// What Geyer's sequences need of a set of rows.
class Autocovariance {
 public:
  virtual ~Autocovariance() = default;
  /// Mean over rows of c_lag, 0 <= lag < length().
  double operator()(std::int64_t lag);
  std::int64_t rows() const { return rows_; }
  std::int64_t length() const { return length_; }
  /// Variance of the row means, divisor rows - 1; 0 for one row.
  double variance_of_means() const;
  /// Mean over rows of the variance within, divisor length - 1.
  double variance_within();

 protected:
  Autocovariance(std::int64_t rows, std::int64_t length) : rows_(rows), length_(length), means_(rows) {}
  /// Appends at least one more lag to covariances_ (mean over rows).
  virtual void extend() = 0;

  std::int64_t rows_, length_;
  std::vector<double> means_, covariances_;
};

/// Of real numbers.
class RealAutocovariance : public Autocovariance {
 public:
  RealAutocovariance(std::int64_t rows, std::int64_t length, RowLoader load);

 private:
  void extend() override;
  void extend_directly(std::int64_t count);
  void transform();

  RowLoader load_;
};

/// Of indicators x <= threshold, given as bits: row r is words [r * words_per_row(length), ...), bit i is draw i.
class BitAutocovariance : public Autocovariance {
 public:
  BitAutocovariance(std::int64_t rows, std::int64_t length, std::vector<std::uint64_t> bits);
  /// 64 bits each, and one word of zeros so that a shifted row may be read past its end.
  static std::int64_t words_per_row(std::int64_t length) { return (length + 63) / 64 + 1; }
  /// All indicators equal: nothing varies.
  bool constant() const { return ones_ == 0 || ones_ == rows_ * length_; }

 private:
  void extend() override;

  std::vector<std::uint64_t> bits_;
  std::int64_t ones_ = 0;
};

}  // namespace kilochain
