// A board of bits for periodic 2-D lattices of at most 64 x 60 spins, one J and one field: a row to a word of 64 bits.
// Beside the rows stand what each weighs, and groups of eight of them, for both sides. Why beside ClassBoard: walks on
// 60x60 and 32x32 take 0.7 to 0.9 times as long, one core. Every choice takes the same steps:
//   choose: a group, a row of it, a class of it (all columns at once, by adders of bits), a member: O(8 + 8 + 5)
//   flip: five spins change their class, so three rows and three groups their sums: tables, no loop
// Class of a spin: its side, and how many of its neighbours are up. Column c is bit c + 2 of its row; the last two
// columns stand before the first ones a second time, the first two after the last ones, rows likewise.
// Weights are whole numbers of 19 bits, at least 1. Spins are chosen by these numbers, totals add them
// up, and tilt is the logarithm of their ratio: only how they follow the law is rounded, and no ratio relies on that.
#pragma once
#include "kernels/discrete/board.hpp"

namespace kilochain::discrete {

/// The model.
struct RowLattice {
  Index rows, columns;  ///< 3 to 64, 3 to 60
  double coupling, field, offset;
  KC_INLINE Index n() const { return rows * columns; }
};

class RowBoard {
 public:
  using Bits = std::uint64_t;
  using Model = RowLattice;
  using Kept = RowBoard;
  static constexpr Index classes = 5, group = 8, most_rows = 64;
  static constexpr std::uint32_t most = (1u << 19) - 1;  ///< a weight; the sum of all stays below 2^31

  struct Site {
    Index row, column, near;  ///< neighbours that are up
  };

  KC_INLINE RowBoard(const Model& model, char* memory) : model_(model), word_(reinterpret_cast<Bits*>(memory)) {
    if (memory) sums_ = at(totals);
  }
  static KC_INLINE Index words(const Model& model) { return lattice + model.rows + 4; }
  static KC_INLINE std::size_t bytes(const Model& model) {
    return static_cast<std::size_t>(words(model)) * sizeof(Bits);
  }
  /// To take all from another board is always cheaper than a walk's flips back.
  static KC_INLINE bool kept_for(const Model&, Index) { return true; }
  void take(const RowBoard& from) {
    cpu.for_each(words(model_), [&](Index w) { at(w) = from.at(w); });
    sums_ = at(totals);
  }

  void assign(const std::int8_t* spins) {
    for (Index w = 0; w < words(model_); ++w) at(w) = 0;
    for (Index r = 0; r < model_.rows; ++r) {
      Bits all = 0;
      for (Index c = 0; c < model_.columns; ++c)
        if (spins[r * model_.columns + c] > 0) all ^= copies(c);
      put(r, all);
    }
    Index bonds = 0, up = 0;  // a spin's to the right and below
    for (Index r = 0; r < model_.rows; ++r) {
      const Bits own = row(r);
      up += ones(own & columns());
      bonds += 2 * model_.columns - 2 * (ones((own ^ own >> 1) & columns()) + ones((own ^ row(r + 1)) & columns()));
    }
    at(tally) = tallied(up, bonds);
    write_law(Law{});
  }
  void refresh() {}

  KC_INLINE const Model& model() const { return model_; }
  KC_INLINE Index size() const { return model_.n(); }
  KC_INLINE double energy() const {
    const auto bonds = static_cast<std::int32_t>(at(tally));
    return model_.offset - model_.coupling * bonds - model_.field * static_cast<double>(2 * up() - size());
  }
  KC_INLINE std::int64_t up() const { return static_cast<std::int64_t>((at(tally) + (Bits(1) << 31)) >> 32); }
  KC_INLINE int side(const Site& p) const { return static_cast<int>(row(p.row) >> (p.column + 2) & 1); }
  KC_INLINE Site site(Index i) const {
    const Index r = i / model_.columns, c = i % model_.columns;
    const auto up = [&](Index k, Index bit) { return static_cast<Index>(row(r + k) >> (c + bit) & 1); };
    return {r, c, up(-1, 2) + up(1, 2) + up(0, 1) + up(0, 3)};
  }
  KC_INLINE std::int8_t spin(Index i) const { return side(site(i)) ? 1 : -1; }
  KC_INLINE double value(Index i) const { return value_of(side(site(i)), site(i).near); }
  KC_INLINE double weight(Index i) const { return half(weights + site(i).near, side(site(i))); }

  void set_law(const Law& law) {
    if (at(kind) == static_cast<Bits>(law.kind) && real(rate) == law.rate) return;
    write_law(law);
  }
  /// A whole number below 2^31.
  KC_INLINE double total(int side) const { return half_of(sums_, side); }
  /// A spin of the side by its weight, from 64 random bits: their product with the total, whose whole part says row and
  /// class, the rest which of its members.
  KC_INLINE Site choose(int side, Bits random) const {
    const Bits total = half_of(sums_, side);
    const Bits product = (random >> 32) * total + ((random & low_half) * total >> 32);
    auto rest = static_cast<std::uint32_t>(product >> 32);
    Index r = group * find(groups, side, rest);
    r += find(rows + r, side, rest);
    const Near near = neighbours(r);
    const Bits mine = (side ? row(r) : ~row(r)) & columns();
    auto of = static_cast<std::uint32_t>(classes - 1);
    KC_UNROLL
    for (Index q = 0; q + 1 < classes; ++q) {
      rest -= static_cast<std::uint32_t>(ones(mine & near.are(q))) * half(weights + q, side);
      of -= rest >> 31;
    }
    const auto q = static_cast<Index>(of);
    const Bits members = mine & near.are(q);
    const Bits count = static_cast<Bits>(ones(members));
    return {r, select(members, static_cast<Index>((product & low_half) * count >> 32)) - 2, q};
  }
  /// log of w(-v) / w(v) of a spin of the side.
  KC_INLINE double tilt(int side, const Site& p) const { return side ? -real(tilts + p.near) : real(tilts + p.near); }
  /// A spin of the side.
  void flip(int side, const Site& p) { flip_one(side, p); }
  void flip(Index i) {
    const Site p = site(i);
    flip(side(p), p);
  }

 protected:
  /// Words before the rows. Sums and weights: of down spins below, of up spins above.
  static constexpr Index tally = 0, totals = 1, kind = 2, rate = 3, weights = 4, tilts = weights + classes,
                         steps = tilts + classes, groups = steps + 16, rows = groups + most_rows / group,
                         lattice = rows + most_rows;
  KC_INLINE Bits& at(Index word) const { return word_[word]; }

 private:
  static constexpr Bits low_half = 0xffffffff;
  /// How many neighbours of each column's spin are up, in three bits.
  struct Near {
    Bits one, two, four;
    KC_INLINE Bits are(Index q) const { return ~(one ^ bits(q)) & ~(two ^ bits(q >> 1)) & ~(four ^ bits(q >> 2)); }
    static KC_INLINE Bits bits(Index q) { return Bits(0) - static_cast<Bits>(q & 1); }
  };

  static KC_INLINE std::uint32_t half_of(Bits both, int side) { return static_cast<std::uint32_t>(both >> 32 * side); }
  KC_INLINE std::uint32_t half(Index word, int side) const { return half_of(at(word), side); }
  KC_INLINE double real(Index word) const { return math::from_bits(static_cast<std::int64_t>(at(word))); }
  KC_INLINE double value_of(int side, Index near) const {
    return model_.coupling * (side ? 2 * near - 4 : 4 - 2 * near) + (side ? model_.field : -model_.field);
  }
  static KC_INLINE Bits tallied(Index up, Index bonds) {
    return (static_cast<Bits>(up) << 32) + static_cast<Bits>(static_cast<std::int64_t>(bonds));
  }

  /// Row r, which may be two beyond the lattice.
  KC_INLINE Bits row(Index r) const { return at(lattice + 2 + r); }
  KC_INLINE void put(Index r, Bits all) {
    at(lattice + 2 + r) = all;
    if (r < 2) at(lattice + 2 + r + model_.rows) = all;
    if (r + 2 >= model_.rows) at(lattice + 2 + r - model_.rows) = all;
  }
  /// The bits of all columns, and those of one wherever it stands.
  KC_INLINE Bits columns() const { return ((Bits(1) << model_.columns) - 1) << 2; }
  KC_INLINE Bits copies(Index c) const {
    const Bits bit = Bits(4) << c;
    return bit | bit << model_.columns | bit >> model_.columns;
  }
  KC_INLINE Near neighbours(Index r) const {
    const Bits above = row(r - 1), below = row(r + 1), left = row(r) << 1, right = row(r) >> 1;
    const Bits three = above ^ below ^ left, carry = (above & below) | (above & left) | (below & left);
    return {three ^ right, carry ^ (three & right), carry & three & right};
  }

  /// Which of eight sums `rest` falls into; rest: how far.
  KC_INLINE Index find(Index first, int side, std::uint32_t& rest) const {
    std::uint32_t left = rest, found = group - 1;
    KC_UNROLL
    for (Index k = 0; k + 1 < group; ++k) {
      left -= half(first + k, side);
      rest = left < rest ? left : rest;
      found -= left >> 31;
    }
    return static_cast<Index>(found);
  }
  KC_INLINE void flip_one(int side, const Site& p) {
    const Index r = p.row, c = p.column, up = r > 0 ? r - 1 : model_.rows - 1, down = r + 1 < model_.rows ? r + 1 : 0;
    // Columns c - 2 to c + 2 at bits 0 to 4. A table's number: the neighbour at bit 2, its other neighbours at 0, 1, 3.
    const auto window = [&](Index k) { return static_cast<std::uint32_t>(row(r + k) >> c); };
    const std::uint32_t over = window(-1), own = window(0), under = window(1);
    const auto step = [&](std::uint32_t number) { return at(steps + static_cast<Index>(number)); };
    const Bits above = step((over & 14) | (window(-2) >> 2 & 1)), below = step((under & 14) | (window(2) >> 2 & 1)),
               before = step((own << 1 & 6) | (over >> 1 & 1) | (under << 2 & 8)),
               after = step((own >> 1 & 12) | (over >> 2 & 2) | (under >> 3 & 1)), weight = at(weights + p.near);
    // What changes when it goes up; all of it the other way when it goes down.
    const Bits level = (weight & ~low_half) - (weight & low_half) + before + after;
    const auto add = [&](Index word, Bits change) { return at(word) = side ? at(word) - change : at(word) + change; };
    put(r, row(r) ^ copies(c));
    add(rows + r, level), add(rows + up, above), add(rows + down, below);
    add(groups + r / group, level), add(groups + up / group, above), add(groups + down / group, below);
    add(tally, tallied(1, 4 * p.near - 8));
    sums_ = add(totals, level + above + below);
  }

  void write_law(const Law& law) {
    double largest = 0;
    for (Index c = 0; c < 2 * classes; ++c) {
      const double w = law(value_of(c >= classes, c % classes));
      largest = w > largest ? w : largest;
    }
    for (Index q = 0; q < classes; ++q) {
      Bits both = 0;
      for (int side = 0; side < 2; ++side) {
        const double w = law(value_of(side, q)) / largest * most;
        both |= static_cast<Bits>(w < 1 ? 1 : static_cast<std::uint32_t>(w)) << 32 * side;
      }
      at(weights + q) = both;
      const double ratio = static_cast<double>(half_of(both, 1)) / static_cast<double>(half_of(both, 0));
      at(tilts + q) = static_cast<Bits>(math::bits_of(math::log(ratio)));
    }
    for (Index number = 0; number < 16; ++number) {
      const int side = number >> 2 & 1;
      const Index others = (number & 1) + (number >> 1 & 1) + (number >> 3);
      const auto gained = static_cast<std::int64_t>(half(weights + others + 1, side)) -
                          static_cast<std::int64_t>(half(weights + others, side));
      at(steps + number) = static_cast<Bits>(gained) << 32 * side;
    }
    at(kind) = static_cast<Bits>(law.kind);
    at(rate) = static_cast<Bits>(math::bits_of(law.rate));
    sums_ = 0;
    for (Index g = 0; g < most_rows / group; ++g) at(groups + g) = 0;
    for (Index r = 0; r < model_.rows; ++r) {
      const Near near = neighbours(r);
      Bits sum = 0;
      for (Index q = 0; q < classes; ++q) {
        const Bits up = near.are(q) & row(r) & columns(), down = near.are(q) & ~row(r) & columns();
        sum += (static_cast<Bits>(ones(up)) * half(weights + q, 1) << 32) +
               static_cast<Bits>(ones(down)) * half(weights + q, 0);
      }
      at(rows + r) = sum, at(groups + r / group) += sum, sums_ += sum;
    }
    at(totals) = sums_;
  }

  Model model_;
  Bits* word_;
  Bits sums_ = 0;  ///< both totals, which memory holds too
};

/// Whether a board chooses from random bits, and is kept whole rather than flip by flip.
template <class Board>
inline constexpr bool in_rows = false;
template <>
inline constexpr bool in_rows<RowBoard> = true;

}  // namespace kilochain::discrete
