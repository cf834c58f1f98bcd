// How the draws of a run are cut into at most 8 blocks as they come, so that sums of a block can later go to one half
// of the draws or the other (split R-hat), whatever number of draws comes in the end.
// An edge at half of the expected draws stays until they are all there; of other edges those that cannot be near the
// middle of the draws any more go first, so that the block which the middle cuts is short.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace kilochain {

inline constexpr int kBlocks = 8;
using BlockPlaces = std::array<int, kBlocks>;  ///< where each block goes when some are joined

/// Shares of the blocks in the two halves of the draws. A block that the middle cuts goes to both by length, as if it
/// were even; for draws that forget faster than a block is long this makes the halves of a chain too alike, on average
/// by the factor that `stretch` undoes.
struct Halves {
  std::int64_t length = 0;  ///< draws of a half
  std::array<std::array<double, kBlocks>, 2> share{};
  double stretch = 1;

  /// Means of the two halves from the sums of the blocks.
  template <class Sum>
  void append_means(const Sum& sum, std::vector<double>& means) const {
    double first = 0, second = 0;
    for (int k = 0; k < kBlocks; ++k) {
      first += share[0][k] * sum(k);
      second += share[1][k] * sum(k);
    }
    const double middle = 0.5 * (first + second), apart = 0.5 * stretch * (first - second);
    means.push_back((middle + apart) / length);
    means.push_back((middle - apart) / length);
  }
};

class Blocks {
 public:
  Blocks() = default;
  /// Blocks of `draws` draws at first; `expected`: draws in all, 0 when not known.
  Blocks(std::int64_t draws, std::int64_t expected) : draws_(draws), expected_(expected) {}

  int last() const { return count_ - 1; }  ///< the open one; -1 at first
  std::int64_t end() const;                ///< where the open one ends
  bool full() const { return count_ == kBlocks; }
  /// Opens a block at draw `now`; not while full.
  void open(std::int64_t now);
  /// Makes room at draw `now`: each block's new place, at most the old one. Sums of blocks of one place are added.
  BlockPlaces join(std::int64_t now);
  /// Of the draws `start` to `now` - 1.
  Halves halves(std::int64_t start, std::int64_t now) const;

 private:
  /// Block k holds draws begin_[k] to begin_[k + 1], the last one to the present draw.
  std::array<std::int64_t, kBlocks + 1> begin_{};
  int count_ = 0;
  std::int64_t draws_ = 1, expected_ = 0;
};

}  // namespace kilochain
