// What ProgressStatistic adds and makes of it, one body for the CPU and a device (kernels/device/team.hpp): for each chain
// and parameter that is followed, sums of x and x^2 in at most 32 blocks of 1, 2, 4, ... draws.
#pragma once
#include <cmath>
#include <limits>

#include "kernels/device/team.hpp"
#include "kernels/device/view.hpp"

namespace kilochain {

inline constexpr int kProgressParameters = 8, kProgressBlocks = 32, kProgressChains = 256;  // at most

struct ProgressSums {
  double x = 0, square = 0;  ///< of x - shift and its square
};
struct ProgressChain {
  Count number;
  bool excluded = false;
  ProgressSums blocks[kProgressBlocks][kProgressParameters];
};
/// How far the blocks of every chain are filled.
struct ProgressClock {
  int complete = 0;
  Count block_draws = 1, filled = 0;  ///< of the block after the complete ones
};

/// The clock after `count` more draws; piece(clock, first, draws) is called for those of each piece that lies in one block, join()
/// where neighbouring blocks are joined.
template <class Piece, class Join>
KC_HD ProgressClock pass(ProgressClock at, Count count, const Piece& piece, const Join& join) {
  for (Count done = 0; done < count;) {
    if (at.complete == kProgressBlocks) {
      join();
      at.complete = kProgressBlocks / 2;
      at.block_draws *= 2;
    }
    const Count room = at.block_draws - at.filled, now = count - done < room ? count - done : room;
    piece(at, done, now);
    done += now;
    at.filled += now;
    if (at.filled == at.block_draws) ++at.complete, at.filled = 0;
  }
  return at;
}

/// Adds x[0], x[stride], ..., `count` draws, to parameter k of a chain whose blocks stand at `at`.
template <class Real>
KC_HD void add_to_progress(ProgressChain& chain, int k, const ProgressClock& at, const Real* x, Count stride,
                           Count count, double shift) {
  pass(
      at, count,
      [&](const ProgressClock& now, Count first, Count draws) {
        ProgressSums& block = chain.blocks[now.complete][k];
        ProgressSums sums = now.filled == 0 ? ProgressSums() : block;
        for (Count t = first; t < first + draws; ++t) {
          const double value = x[t * stride] - shift;
          sums.x += value;
          sums.square += value * value;
        }
        block = sums;
      },
      [&] {
        for (int b = 0; b < kProgressBlocks / 2; ++b) {
          const ProgressSums left = chain.blocks[2 * b][k], right = chain.blocks[2 * b + 1][k];
          chain.blocks[b][k] = {left.x + right.x, left.square + right.square};
        }
      });
}

/// Of one parameter; NaN while there is too little to tell.
struct ProgressFigures {
  double rhat, ess_of_draw;  ///< effective draws of a draw
};

namespace progress {

struct Variances {
  double length, within, between;
};

/// Rows are `groups` groups of neighbouring blocks of each chain, the first ones.
template <class Team, class ChainAt>
KC_HD Variances of_groups(const Team& team, Index num_chains, const ChainAt& chain_at, int k, Count block_draws,
                          int blocks_of_group, int groups) {
  const Index count = num_chains * groups;
  const double length = static_cast<double>(blocks_of_group * block_draws), rows = count;
  const auto group = [&](Index i, bool squares) {
    const ProgressChain& chain = chain_at(i / groups);
    double sum = 0;
    for (int b = 0; b < blocks_of_group; ++b) {
      const ProgressSums& block = chain.blocks[i % groups * blocks_of_group + b][k];
      sum += squares ? block.square : block.x;
    }
    return sum;
  };
  const double mean = team.template sum<double>(count, [&](Index i) { return group(i, false) / length; }) / rows;
  const double square = team.template sum<double>(count, [&](Index i) { return group(i, true); }) / (rows * length);
  const double apart = team.template sum<double>(count, [&](Index i) {
    const double off = group(i, false) / length - mean;
    return off * off;
  });
  const double within = square - mean * mean - apart / rows;
  return {length, (within > 0 ? within : 0) * length / (length - 1), apart / (rows - 1)};
}

}  // namespace progress

/// Of parameter k, from the num_chains chains that count: chain_at(0), chain_at(1), ...
template <class Team, class ChainAt>
KC_HD ProgressFigures progress_figures(const Team& team, Index num_chains, const ChainAt& chain_at, int k,
                                       const ProgressClock& at) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr int fewest_batches = 64, fewest_draws = 4;
  const int half = at.complete / 2, used = 2 * half;
  if (num_chains == 0 || used * at.block_draws < fewest_draws) return {nan, nan};
  const int batches_of_chain = (fewest_batches + num_chains - 1) / num_chains;
  const int group = used > batches_of_chain ? used / batches_of_chain : 1;
  const auto halves = progress::of_groups(team, num_chains, chain_at, k, at.block_draws, half, 2);
  const auto batches = progress::of_groups(team, num_chains, chain_at, k, at.block_draws, group, used / group);
  const double n = halves.length, variance = (n - 1) / n * halves.within + halves.between;
  return {std::sqrt((n * halves.between / halves.within + n - 1) / n), variance / (batches.length * batches.between)};
}

}  // namespace kilochain
