// Multi-spin coding (Creutz, Jacobs, Rebbi 1979) for Metropolis on a free 2-D lattice of even sizes, one J and no
// field: a colour of the checkerboard is an array of bits, 64 spins to a word, and its neighbours are shifts of the
// other colour's: half a row up and down, itself, and one to the left or right as rows are odd or even.
// Why beside classes (ClassSpins): a sweep takes a thirtieth of the time (256x256 against 255x256, one core).
// Bit a of colour s: row a / half, column 2 (a % half) + ((row + s) & 1). Each array has half a row more at both ends.
// Acceptance is compared with p bit by bit, most significant first, for 512 spins at once; after eight bits one spin in
// 256 that asked is undecided, and takes the other 48 of its 56 from half a block of its own. A tie takes the first bit
// alone. Eight words, a group, are asked at a time, which vectorise.
#pragma once
#include "kernels/discrete/sweep_board.hpp"

namespace kilochain::discrete {

class PackedLattice {
 public:
  using Bits = std::uint64_t;
  static constexpr Index group = 8, planes = 4, batches = 2;

  struct Model {
    const Bits *odd, *first, *last, *valid;  ///< (groups * 8): bits of odd rows, first and last columns, of spins
    Index rows, columns, groups;
    double coupling;  ///< its sign is that of J
    double offset;
    KC_INLINE Index half() const { return columns / 2; }
    KC_INLINE Index bits() const { return rows * half(); }
    KC_INLINE Index halo() const { return (half() + 63) / 64; }
    KC_INLINE Index words() const { return groups * group + 2 * halo() + 2; }
  };

  KC_INLINE PackedLattice(const Model& model, char* memory) : model_(model) { cut(Cut(memory)); }
  static KC_INLINE std::size_t bytes(const Model& model) { return PackedLattice(model, nullptr).bytes_; }

  void assign(const std::int8_t* spins) {
    for (Index w = 0; w < 2 * model_.words(); ++w) colours_[w] = 0;
    for (Index i = 0; i < size(); ++i) {
      const Site at = site(i);
      if (spins[i] > 0) colour(at.colour)[at.bit >> 6] |= Bits(1) << (at.bit & 63);
    }
    spread(0), spread(1);
    // Energy and count as a sweep leaves them: from the second colour.
    const double agree = cpu.sum<double>(model_.groups, [&](Index k) {
      Bits a[4][group];
      agreements(1, k * group, a);
      double count = 0;
      for (Index w = 0; w < group; ++w)
        for (const auto& of : a) count += ones(of[w] & model_.valid[k * group + w]);
      return count;
    });
    recount(agree);
  }
  void refresh() {}

  KC_INLINE Index size() const { return model_.rows * model_.columns; }
  KC_INLINE double energy() const { return head_->energy; }
  KC_INLINE std::int64_t up() const { return head_->up; }
  KC_INLINE std::int8_t spin(Index i) const {
    const Site at = site(i);
    return colour(at.colour)[at.bit >> 6] >> (at.bit & 63) & 1 ? 1 : -1;
  }

  double sweep(const Rng& rng, const FlipRule& rule) {
    const double j = model_.coupling < 0 ? -model_.coupling : model_.coupling;
    const Bits three = as_bits(rule(2 * j)), four = as_bits(rule(4 * j));
    const Bits level = rule(-2 * j) < 1 ? ~Bits(0) : 0;  // beta J is 0, or as good as: every flip is a tie
    double agree = 0, flips = 0;
    for (int s = 0; s < 2; ++s) {
      const double tally =
          cpu.sum<double>(model_.groups, [&](Index k) { return update(s, k * group, rng, three, four, level); });
      spread(s);
      agree = static_cast<double>(static_cast<std::int64_t>(tally) >> tally_shift);
      flips += tally - agree * static_cast<double>(std::int64_t(1) << tally_shift);
    }
    recount(agree);
    return flips / size();
  }

 private:
  struct Head {
    double energy = 0;
    std::int64_t up = 0;
  };
  struct Site {
    int colour;
    Index bit;  ///< of the array, its halo counted
  };
  static constexpr int tally_shift = 26;  ///< agreements above, flips below: both exact in a double

  KC_INLINE void cut(Cut cut) {
    head_ = cut.take<Head>(1);
    colours_ = cut.take<Bits>(2 * static_cast<std::size_t>(model_.words()));
    bytes_ = cut.used();
  }
  KC_INLINE Bits* colour(int s) const { return colours_ + s * model_.words(); }
  KC_INLINE Site site(Index i) const {
    const Index row = i / model_.columns, column = i % model_.columns;
    return {(row + column) & 1, 64 * model_.halo() + row * model_.half() + column / 2};
  }
  static KC_INLINE Bits as_bits(double p) {
    const double scaled = p * 0x1p56;
    return scaled >= 0x1p56 ? (Bits(1) << 56) - 1 : static_cast<Bits>(scaled);
  }
  /// 64 bits from any bit on.
  static KC_INLINE Bits at(const Bits* words, Index bit) {
    const Index w = bit >> 6, s = bit & 63;
    return words[w] >> s | words[w + 1] << 1 << (63 - s);
  }
  /// Words of 64 bits from any bit on: one shift for all of them.
  struct Shifted {
    const Bits* words;
    Index shift;
    KC_INLINE Shifted(const Bits* of, Index bit) : words(of + (bit >> 6)), shift(bit & 63) {}
    KC_INLINE Bits operator[](Index w) const { return words[w] >> shift | words[w + 1] << 1 << (63 - shift); }
  };
  /// The half rows at both ends, from the other end.
  KC_INLINE void spread(int s) const {
    Bits* const b = colour(s);
    const Index halo = model_.halo(), n = model_.bits();
    for (Index w = 0; w < halo; ++w) b[w] = at(b, n + 64 * w);
    for (Index w = 0; w < halo; ++w) {
      const Index to = 64 * (halo + w) + n, k = to >> 6, shift = to & 63;
      const Bits from = b[halo + w];
      b[k] = (b[k] & ~(~Bits(0) << shift)) | from << shift;
      b[k + 1] = (b[k + 1] & (~Bits(0) << shift)) | from >> 1 >> (63 - shift);
    }
  }
  /// Bits of a group of words of colour s, from word k on, that agree with each of their four neighbours (disagree,
  /// where J is negative).
  KC_INLINE void agreements(int s, Index k, Bits (&a)[4][group]) const {
    const Bits *own = colour(s) + model_.halo() + k, *other = colour(1 - s);
    const Bits odd_colour = s ? ~Bits(0) : 0, same = model_.coupling < 0 ? 0 : ~Bits(0);
    const Index half = model_.half(), begin = 64 * (model_.halo() + k);
    const Bits *odd = model_.odd + k, *first = model_.first + k, *last = model_.last + k;
    const Shifted up(other, begin - half), down(other, begin + half), before(other, begin - 1), after(other, begin + 1);
    const Shifted round_left(other, begin + half - 1), round_right(other, begin - half + 1);
    const Bits* level = other + model_.halo() + k;
#pragma GCC ivdep
    for (Index w = 0; w < group; ++w) {
      const Bits x = own[w] ^ same, right_side = odd[w] ^ odd_colour;
      const Bits left = (before[w] & ~first[w]) | (round_left[w] & first[w]);
      const Bits right = (after[w] & ~last[w]) | (round_right[w] & last[w]);
      a[0][w] = x ^ level[w];
      a[1][w] = x ^ up[w];
      a[2][w] = x ^ down[w];
      a[3][w] = x ^ ((left & ~right_side) | (right & right_side));
    }
  }
  /// Asks a group of words from word k on; returns agreements after it and flips.
  double update(int s, Index k, const Rng& rng, Bits three, Bits four, Bits level) const {
    Bits a[4][group], is_three[group], is_four[group], flip[group], open[group];
    agreements(s, k, a);
    const Bits* valid = model_.valid + k;
    Bits any = 0;
    for (Index w = 0; w < group; ++w) {
      const Bits one = a[0][w] ^ a[1][w], both = a[0][w] & a[1][w];
      const Bits other_one = a[2][w] ^ a[3][w], other_both = a[2][w] & a[3][w];
      const Bits two = (one & other_one) | ((both ^ other_both) & ~(one | other_one));
      is_three[w] = (one ^ other_one) & (both | other_both) & ~level;
      is_four[w] = both & other_both & ~level;
      open[w] = (is_three[w] | is_four[w] | two | level) & valid[w];
      flip[w] = valid[w] & ~open[w];
      any |= open[w];
    }
    // A group has sixteen blocks of four planes at a time: block w: upper halves of word w, block w + 8: lower ones.
    const auto counter = static_cast<std::uint32_t>((s * model_.groups + k / group) * batches) * 16 +
                         static_cast<std::uint32_t>(k % group);
    for (Index batch = 0; any != 0 && batch < batches; ++batch) {
      std::uint32_t drawn[planes][2 * group];  // each block's words, side by side
#pragma GCC ivdep
      for (int l = 0; l < 2 * group; ++l) {
        const Words words = rng.words(Purpose::proposal, counter + static_cast<std::uint32_t>(batch * 16 + l));
        for (int p = 0; p < planes; ++p) drawn[p][l] = words.v[p];
      }
      any = 0;
      for (Index p = 0; p < planes; ++p) {
        const int bit = 55 - static_cast<int>(batch * planes + p);
        const Bits t3 = three >> bit & 1 ? ~Bits(0) : 0, t4 = four >> bit & 1 ? ~Bits(0) : 0;
        for (Index w = 0; w < group; ++w) {
          const Bits random = static_cast<Bits>(drawn[p][w]) << 32 | drawn[p][w + group];
          const Bits no_tie = p == 0 ? is_three[w] | is_four[w] : ~Bits(0);  // ties are none after the first bit
          const Bits threshold = (is_three[w] & t3) | (is_four[w] & t4) | ~no_tie;
          flip[w] |= open[w] & ~random & threshold;
          open[w] &= ~(random ^ threshold) & no_tie;
        }
      }
      for (Index w = 0; w < group; ++w) any |= open[w];
    }
    constexpr int decided = planes * batches;
    for (Index w = 0; any != 0 && w < group; ++w) {
      Numbers<Bits> drawn(rng, Purpose::accept);
      for (auto t = static_cast<std::uint32_t>((s * model_.groups * group + k + w) * 64); open[w] != 0; ++t) {
        const Bits bit = open[w] & (Bits(0) - open[w]), p = is_three[w] & bit ? three : four;
        if (drawn(t) >> (8 + decided) < p << (8 + decided) >> (8 + decided)) flip[w] |= bit;
        open[w] ^= bit;
      }
    }
    Bits* own = colour(s) + model_.halo() + k;
    std::int64_t agree = 0, flips = 0;
    for (Index w = 0; w < group; ++w) {
      own[w] ^= flip[w];
      flips += ones(flip[w]);
      if (s == 0) continue;  // bonds are counted once, from the second colour
      for (const auto& of : a) agree += ones((of[w] ^ flip[w]) & valid[w]);
    }
    return static_cast<double>((agree << tally_shift) + flips);
  }
  /// agree: bonds that lower the energy; all bonds are counted from the second colour.
  void recount(double agree) {
    const double up = cpu.sum<double>(model_.groups * group, [&](Index w) {
      const Index at = model_.halo() + w;
      return static_cast<double>(ones(colour(0)[at] & model_.valid[w]) + ones(colour(1)[at] & model_.valid[w]));
    });
    const double j = model_.coupling < 0 ? -model_.coupling : model_.coupling;
    head_->energy = model_.offset - j * (2 * agree - 4.0 * model_.bits());
    head_->up = static_cast<std::int64_t>(up);
  }

  Model model_;
  Head* head_ = nullptr;
  Bits* colours_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kilochain::discrete
