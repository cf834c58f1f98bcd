// A board of bits for periodic 2-D lattices of at most 64 x 62 spins, one J and one field: a row to a word of 64 bits, so
// that thousands of replicas lie in a device's shared memory, a thread for each (word w of replica r: w * Stride + r).
// Spins are chosen by trial: a random site is taken if it is of the side asked for and with probability w(v) / most, where
// lists of members would need forty times the memory. Class of a spin: side, and q, its neighbours that agree.
//   attempt: eight trials, 32 bits each: 12 for the site, 20 for the weight; total: counts by classes, whole numbers
// Column c is bit c + 1 of its row; the last column stands before the first, the first after the last, rows likewise.
// Weights are whole numbers of 20 bits, at least 1. They are what is chosen by, what totals are made of, and what tilt
// tells the ratio of: nothing is approximate but how they follow the law, and no ratio relies on that.
#pragma once
#include "kernels/discrete/board.hpp"

namespace kilochain::discrete {

template <int Stride>
class TrialBoard {
 public:
  using Bits = std::uint64_t;
  static constexpr Index classes = 5;
  static constexpr int trials = 8;              ///< of one attempt
  static constexpr Index most_words = 14 + 66;  ///< of a replica
  static constexpr std::uint32_t most = (1u << 20) - 1;

  struct Model {
    Index rows, columns;                  ///< 3 to 64, 3 to 62
    std::uint32_t row_mask, column_mask;  ///< of sites at random: a power of two less 1, rows - 1 or more
    double coupling, field, offset;
    KC_INLINE Index n() const { return rows * columns; }
    KC_INLINE Index words() const { return head + rows + 2; }
  };

  KC_INLINE TrialBoard(const Model& model, char* memory) : model_(model), word_(reinterpret_cast<Bits*>(memory)) {}
  static KC_INLINE std::size_t bytes(const Model& model) {
    return static_cast<std::size_t>(model.words()) * sizeof(Bits);
  }
  /// All of it to memory (words), and back: cheaper than to take back a walk's flips.
  template <class Team>
  KC_HD void keep(const Team& team, Bits* to) const {
    team.for_each(model_.words(), [&](Index w) { to[w] = at(w); });
    team.sync();
  }
  template <class Team>
  KC_HD void restore(const Team& team, const Bits* from) const {
    team.for_each(model_.words(), [&](Index w) { at(w) = from[w]; });
    team.sync();
  }

  template <class Team>
  KC_HD void assign(const Team& team, const std::int8_t* spins) {
    team.single([&] {
      for (Index w = 0; w < head; ++w) at(w) = 0;
      for (Index r = 0; r < model_.rows; ++r) {
        Bits row = 0;
        for (Index c = 0; c < model_.columns; ++c)
          if (spins[r * model_.columns + c] > 0) row = flipped(row, c);
        put(r, row);
      }
      for (Index r = 0; r < model_.rows; ++r)
        for (Index c = 0; c < model_.columns; ++c) {
          const Near near = about(r, c);
          at(side_of(near)) += one(agreeing(near));
        }
    });
    team.sync();
    write_law(team, Law{});
  }
  template <class Team>
  KC_HD void refresh(const Team&) {}

  KC_INLINE Index size() const { return model_.n(); }
  KC_INLINE double energy() const {
    Index twice = 0;  // the sum of v / J over spins, each edge twice
    for (Index q = 0; q < classes; ++q) twice += (count(0, q) + count(1, q)) * (2 * q - 4);
    return model_.offset - model_.coupling * (twice / 2) - model_.field * static_cast<double>(2 * up() - size());
  }
  KC_INLINE std::int64_t up() const {
    Index sum = 0;
    for (Index q = 0; q < classes; ++q) sum += count(1, q);
    return sum;
  }
  KC_INLINE std::int8_t spin(Index i) const { return side_of(about(i)) ? 1 : -1; }
  KC_INLINE double value(Index i) const {
    const Near near = about(i);
    return value_of(side_of(near), agreeing(near));
  }
  KC_INLINE double weight(Index i) const {
    const Near near = about(i);
    return whole(side_of(near), agreeing(near));
  }

  template <class Team>
  KC_HD void set_law(const Team& team, const Law& law) {
    if (at(kind) == static_cast<Bits>(law.kind) && rate() == law.rate) return;
    team.sync();
    write_law(team, law);
  }
  KC_INLINE double total(int side) const {
    std::uint32_t sum = 0;  // of fewer than 4096 weights below 2^20
    for (Index q = 0; q < classes; ++q) sum += static_cast<std::uint32_t>(count(side, q)) * whole(side, q);
    return sum;
  }
  /// The place (row + 64 column) of a spin of the side by its weight, or -1 where none of the trials took one.
  KC_INLINE Index attempt(int side, const Rng& rng, std::uint32_t number) const {
    std::uint32_t site = 4096;
    KC_UNROLL
    for (int block = trials / 4 - 1; block >= 0; --block) {
      const Words words = rng.words(Purpose::proposal, number * (trials / 4) + static_cast<std::uint32_t>(block));
      KC_UNROLL
      for (int k = 3; k >= 0; --k) {  // backwards: the first that is taken stays
        const std::uint32_t w = words.v[k];
        const auto r = static_cast<Index>(w & model_.row_mask), c = static_cast<Index>(w >> 6 & model_.column_mask);
        const Near near = about(r < model_.rows ? r : 0, c);
        const bool taken = r < model_.rows && c < model_.columns && side_of(near) == side;
        if (taken && w >> 12 < whole(side, agreeing(near))) site = static_cast<std::uint32_t>(r | c << 6);
      }
    }
    return site < 4096 ? static_cast<Index>(site) : -1;
  }
  /// log of w(-v) / w(v) of the spin at a place.
  KC_INLINE double tilt(Index place) const {
    const Near near = about(place & 63, place >> 6);
    const Index q = agreeing(near);
    return side_of(near) ? -real(tilts + 4 - q) : real(tilts + q);
  }
  template <class Team>
  KC_HD void flip(const Team& team, Index place) {
    team.sync();
    team.single([&] { flip_one(place & 63, place >> 6); });
    team.sync();
  }

 private:
  /// Words before the rows: counts of both sides (12 bits a class), the law, weights (down below, up above), tilts.
  static constexpr Index kind = 2, rates = 3, weights = 4, tilts = weights + classes, head = tilts + classes;
  static_assert(head + 66 == most_words);
  /// Three columns of three rows: the spin at bit 1 of `own`.
  struct Near {
    std::uint32_t above, own, below;
  };

  KC_INLINE Bits& at(Index word) const { return word_[static_cast<std::size_t>(word) * Stride]; }
  static KC_INLINE Bits one(Index q) { return Bits(1) << (12 * q); }
  KC_INLINE Index count(int side, Index q) const { return static_cast<Index>(at(side) >> (12 * q) & 4095); }
  KC_INLINE std::uint32_t whole(int side, Index q) const {
    return static_cast<std::uint32_t>(at(weights + q) >> (side ? 32 : 0));
  }
  KC_INLINE double real(Index word) const { return math::from_bits(static_cast<std::int64_t>(at(word))); }
  KC_INLINE double rate() const { return real(rates); }
  KC_INLINE double value_of(int side, Index q) const {
    return model_.coupling * static_cast<double>(2 * q - 4) + (side ? model_.field : -model_.field);
  }
  KC_INLINE Index before(Index k, Index n) const { return k > 0 ? k - 1 : n - 1; }
  KC_INLINE Index after(Index k, Index n) const { return k + 1 < n ? k + 1 : 0; }
  KC_INLINE Near about(Index r, Index c) const {
    const auto of = [&](Index word) { return static_cast<std::uint32_t>(at(head + word) >> c); };
    return {of(r), of(r + 1), of(r + 2)};
  }
  KC_INLINE Near about(Index i) const { return about(i / model_.columns, i % model_.columns); }
  static KC_INLINE int side_of(const Near& near) { return static_cast<int>(near.own >> 1 & 1); }
  /// Neighbours that are what the spin is.
  static KC_INLINE Index agreeing(const Near& near) {
    const auto up =
        static_cast<Index>((near.own & 1) + (near.own >> 2 & 1) + (near.above >> 1 & 1) + (near.below >> 1 & 1));
    return side_of(near) ? up : 4 - up;
  }
  /// A row with column c the other way, where it stands a second time too.
  KC_INLINE Bits flipped(Bits row, Index c) const {
    row ^= Bits(2) << c;
    if (c == 0) row ^= Bits(2) << model_.columns;
    return c + 1 == model_.columns ? row ^ 1 : row;
  }
  KC_INLINE void put(Index r, Bits row) {
    at(head + 1 + r) = row;
    if (r == 0) at(head + 1 + model_.rows) = row;
    if (r + 1 == model_.rows) at(head) = row;
  }
  /// The counts when a neighbour of this one flips: it agrees no more, or now it does.
  static KC_INLINE void move(const Near& near, int flipped_side, Bits (&counts)[2]) {
    const int side = side_of(near);
    const bool less = side == flipped_side;
    const Bits step = Bits(4095) << 12 * (agreeing(near) - less);  // from one class to the next
    const Bits change = less ? Bits(0) - step : step;
    counts[0] += side ? 0 : change;
    counts[1] += side ? change : 0;
  }
  KC_INLINE void flip_one(Index r, Index c) {
    const Near near = about(r, c);
    const int side = side_of(near);
    const Index q = agreeing(near);
    Bits counts[2] = {at(0), at(1)};
    counts[0] += side ? one(4 - q) : Bits(0) - one(q);
    counts[1] += side ? Bits(0) - one(q) : one(4 - q);
    move(about(r, before(c, model_.columns)), side, counts);
    move(about(r, after(c, model_.columns)), side, counts);
    move(about(before(r, model_.rows), c), side, counts);
    move(about(after(r, model_.rows), c), side, counts);
    at(0) = counts[0], at(1) = counts[1];
    put(r, flipped(at(head + 1 + r), c));
  }
  template <class Team>
  KC_HD void write_law(const Team& team, const Law& law) {
    team.single([&] {
      double largest = 0;
      for (Index c = 0; c < 2 * classes; ++c) {
        const double w = law(value_of(c >= classes, c % classes));
        largest = w > largest ? w : largest;
      }
      for (Index q = 0; q < classes; ++q) {
        Bits both = 0;
        for (int side = 0; side < 2; ++side) {
          const double w = law(value_of(side, q)) / largest * most;
          both |= static_cast<Bits>(w < 1 ? 1 : static_cast<std::uint32_t>(w)) << (side ? 32 : 0);
        }
        at(weights + q) = both;
      }
      for (Index q = 0; q < classes; ++q) {
        const double ratio = static_cast<double>(whole(1, 4 - q)) / static_cast<double>(whole(0, q));
        at(tilts + q) = static_cast<Bits>(math::bits_of(math::log(ratio)));
      }
      at(kind) = static_cast<Bits>(law.kind);
      at(rates) = static_cast<Bits>(math::bits_of(law.rate));
    });
    team.sync();
  }

  Model model_;
  Bits* word_;
};

/// Whether spins are chosen by attempts, which may fail.
template <class Board>
inline constexpr bool by_trial = false;
template <int Stride>
inline constexpr bool by_trial<TrialBoard<Stride>> = true;

}  // namespace kilochain::discrete
