// A board for couplings of one magnitude (J or -J) and one field: v_i takes few values, so spins of one side and one
// value are a class (the n-fold way: Bortz, Kalos, Lebowitz 1975), whose members are a list, or bits in a small model.
//   choose: a class by count times weight, then a member: O(classes), from bits also a count for each 64 spins
//   flip: i and each neighbour move from one class to another: O(degree); set_law: a weight for each class
// Class of a spin: side * classes + q, where q counts the neighbours' sum: k S = (q << shift) - degree. Energies are
// integers: bonds = sum over edges of sign(J) S S, and up. Nothing is ever rounded but the weights.
#pragma once
#include <limits>

#include "kernels/discrete/board.hpp"

namespace kilochain::discrete {

/// The model. Site: std::uint16_t or std::uint32_t, whose top bit marks a negative coupling.
template <class Site>
struct ClassGraph {
  static constexpr int most = 32;  ///< classes of a side
  static constexpr Site negative = static_cast<Site>(Site(1) << (std::numeric_limits<Site>::digits - 1));
  const Site* neighbour;            ///< (n, degree)
  const std::uint8_t* degrees;      ///< (n); nullptr where all are `degree`
  Index n, degree, classes, shift;  ///< shift 1: all degrees are even, or all odd
  double coupling, field, offset;   ///< magnitude of J; h of every spin; E of J = h = 0

  KC_INLINE Index degree_of(Index i) const { return degrees ? degrees[i] : degree; }
  /// v of class (side, q).
  KC_INLINE double value(int side, Index q) const {
    return coupling * static_cast<double>((q << shift) - degree) + (side ? field : -field);
  }
  KC_INLINE double energy(std::int64_t bonds, std::int64_t up) const {
    return offset - coupling * static_cast<double>(bonds) - field * static_cast<double>(2 * up - n);
  }
  /// Sum of sign(J) S_j over the neighbours.
  KC_INLINE Index sum(const std::int8_t* spins, Index i) const {
    Index k = 0;
    const Site* row = neighbour + static_cast<std::size_t>(i) * static_cast<std::size_t>(degree);
    for (Index j = 0; j < degree_of(i); ++j) {
      const Index s = spins[row[j] & static_cast<Site>(~negative)];
      k += row[j] & negative ? -s : s;
    }
    return k;
  }
  /// v of spin i, and the energy of spins of which `up` are up.
  KC_INLINE double value(const std::int8_t* spins, Index i) const {
    return coupling * static_cast<double>(sum(spins, i) * spins[i]) + field * spins[i];
  }
  double energy_of(const std::int8_t* spins, std::int64_t up) const {
    return energy(cpu.sum<std::int32_t>(n, [&](Index i) { return sum(spins, i) * spins[i]; }) / 2, up);
  }
};

/// Members of each class as a list of their numbers, and where each spin stands in its own.
template <class SiteType>
class MemberLists {
 public:
  using Site = SiteType;
  KC_INLINE MemberLists(Index n, Index classes, Cut& cut)
      : n_(n),
        where_(cut.take<Site>(static_cast<std::size_t>(n))),
        lists_(cut.take<Site>(static_cast<std::size_t>(classes) * static_cast<std::size_t>(n))) {}
  static KC_INLINE bool kept_for(Index n, Index flips) { return n <= 16 * flips; }

  KC_INLINE void clear(Index) {}
  KC_INLINE Index member(Index c, Index k) const { return list(c)[k]; }
  /// before: members so far.
  KC_INLINE void push(Index s, Index c, std::int32_t before) {
    list(c)[before] = static_cast<Site>(s);
    where_[s] = static_cast<Site>(before);
  }
  /// after: members that are left.
  KC_INLINE void remove(Index s, Index c, std::int32_t after) {
    Site* from = list(c);
    const Site at = where_[s], last = from[after];
    from[at] = last;
    where_[last] = at;
  }
  void take(const MemberLists& from, Index classes, const std::int32_t* count) {
    cpu.for_each(n_, [to = where_, of = from.where_](Index i) { to[i] = of[i]; });
    for (Index c = 0; c < classes; ++c)
      cpu.for_each(count[c], [to = list(c), of = from.list(c)](Index i) { to[i] = of[i]; });
  }

 private:
  KC_INLINE Site* list(Index c) const { return lists_ + static_cast<std::size_t>(c) * static_cast<std::size_t>(n_); }
  Index n_;
  Site *where_, *lists_;
};

/// Members of each class as a bit for each spin of a small model: a tenth of the memory, and nothing to follow.
class MemberBits {
 public:
  using Site = std::uint16_t;
  static constexpr Index most = 2048;  ///< spins: beyond, a list is followed quicker than so many words are counted

  KC_INLINE MemberBits(Index n, Index classes, Cut& cut)
      : words_((n + 63) / 64), bits_(cut.take<std::uint64_t>(static_cast<std::size_t>(classes * words_))) {}
  static KC_INLINE bool kept_for(Index, Index) { return true; }

  KC_INLINE void clear(Index classes) {
    for (Index w = 0; w < classes * words_; ++w) bits_[w] = 0;
  }
  /// Member k of class c, in the order of the spins.
  KC_INLINE Index member(Index c, Index k) const {
    const std::uint64_t* of = bits_ + c * words_;
    Index sum = 0, before = 0, word = 0;
    for (Index w = 0; w + 1 < words_; ++w) {  // no exit: it could not be foretold
      sum += ones(of[w]);
      const bool past = k >= sum;
      before = past ? sum : before;
      word += past;
    }
    return 64 * word + select(of[word], k - before);
  }
  KC_INLINE void push(Index s, Index c, std::int32_t) { turn(s, c); }
  KC_INLINE void remove(Index s, Index c, std::int32_t) { turn(s, c); }
  void take(const MemberBits& from, Index classes, const std::int32_t*) {
    cpu.for_each(classes * words_, [to = bits_, of = from.bits_](Index w) { to[w] = of[w]; });
  }

 private:
  KC_INLINE void turn(Index s, Index c) { bits_[c * words_ + s / 64] ^= std::uint64_t(1) << (s & 63); }
  Index words_;
  std::uint64_t* bits_;
};

template <class Members>
class ClassBoard {
  using Site = typename Members::Site;

 public:
  using Model = ClassGraph<Site>;
  using Kept = ClassBoard;
  static constexpr int most = Model::most;

  KC_INLINE ClassBoard(const Model& model, char* memory) : ClassBoard(model, Cut(memory)) {}
  static KC_INLINE std::size_t bytes(const Model& model) { return ClassBoard(model, nullptr).bytes_; }

  void assign(const std::int8_t* spins) {
    *head_ = Head{};
    members_.clear(2 * model_.classes);
    for (Index i = 0; i < model_.n; ++i) {
      const int side = spins[i] > 0;
      const Index k = model_.sum(spins, i) * spins[i];
      head_->bonds += k;
      head_->up += side;
      const Index c = side * model_.classes + ((k + model_.degree) >> model_.shift);
      members_.push(i, c, head_->count[c]++);
      class_[i] = static_cast<std::uint8_t>(c);
    }
    head_->bonds /= 2;
    write_law();
  }
  void refresh() {}
  /// Whether it is cheaper to take all from another board, where a walk is not accepted, than so many flips back.
  static KC_INLINE bool kept_for(const Model& model, Index flips) { return Members::kept_for(model.n, flips); }
  /// All that another board of the model has; nobody reads this one any more.
  void take(const ClassBoard& from) {
    *head_ = *from.head_;
    // By value: bytes may alias anything, a board's own pointers too.
    cpu.for_each(model_.n, [to = class_, of = from.class_](Index i) { to[i] = of[i]; });
    members_.take(from.members_, 2 * model_.classes, from.head_->count);
  }

  KC_INLINE const Model& model() const { return model_; }
  KC_INLINE Index size() const { return model_.n; }
  KC_INLINE double energy() const { return model_.energy(head_->bonds, head_->up); }
  KC_INLINE std::int64_t up() const { return head_->up; }
  KC_INLINE std::int8_t spin(Index i) const { return class_[i] >= model_.classes ? 1 : -1; }
  KC_INLINE double value(Index i) const { return model_.value(class_[i] / model_.classes, class_[i] % model_.classes); }
  KC_INLINE double weight(Index i) const { return head_->weight[class_[i]]; }

  void set_law(const Law& law) {
    if (head_->law == law) return;
    head_->law = law;
    write_law();
  }
  /// Sum of the weights of a side (0: down, 1: up).
  KC_INLINE double total(int side) const {
    const std::int32_t* count = head_->count + side * model_.classes;
    const double* weight = head_->weight + side * model_.classes;
    double sum = 0;
    for (Index q = 0; q < model_.classes; ++q) {
      sum += static_cast<double>(count[q]) * weight[q];
      sums_[side][q] = sum;
    }
    return sum;
  }
  /// The spin at fraction u of the side's total, which was asked for since the last flip.
  KC_INLINE Index choose(int side, double total, double u) const {
    const Index first = side * model_.classes;
    const std::int32_t* count = head_->count + first;
    const double at = u * total;
    double before = 0;
    Index q = 0;
    for (Index c = 0; c + 1 < model_.classes; ++c) {  // no exit: it could not be foretold
      const double sum = sums_[side][c];
      const bool past = at >= sum;
      before = past ? sum : before;
      q += past;
    }
    const bool none = count[q] == 0;  // rounding at the end of the last class that has members
    while (count[q] == 0) q = q > 0 ? q - 1 : model_.classes - 1;
    const auto member = static_cast<Index>((at - before) * head_->inverse[first + q]);
    return members_.member(first + q, none || member >= count[q] ? count[q] - 1 : member < 0 ? 0 : member);
  }

  KC_INLINE void flip(Index i) {
    // Copies: what is written below, bytes at that, could be this board's own pointers for all that a compiler knows.
    const Model m = model_;
    Head& head = *head_;
    std::uint8_t* const class_of = class_;
    Members members = members_;
    const auto move = [&](Index s, Index from, Index to) {
      members.remove(s, from, --head.count[from]);
      members.push(s, to, head.count[to]++);
      class_of[s] = static_cast<std::uint8_t>(to);
    };
    const Index c = class_of[i];
    const bool goes_up = c < m.classes;
    const Index q = goes_up ? c : c - m.classes;
    head.bonds -= 2 * ((q << m.shift) - m.degree);
    head.up += goes_up ? 1 : -1;
    move(i, c, (goes_up ? 2 * m.classes : m.classes) - 1 - q);
    const Site* row = m.neighbour + static_cast<std::size_t>(i) * static_cast<std::size_t>(m.degree);
    const Index degree = m.degree_of(i), step = 2 >> m.shift;
    for (Index j = 0; j < degree; ++j) {
      const Index s = row[j] & static_cast<Site>(~Model::negative), from = class_of[s];
      const bool more = ((from >= m.classes) == goes_up) != ((row[j] & Model::negative) != 0);
      move(s, from, from + (more ? step : -step));
    }
  }

 private:
  struct Head {
    std::int64_t bonds = 0, up = 0;
    Law law{};
    std::int32_t count[2 * most] = {};
    double weight[2 * most] = {}, inverse[2 * most] = {};
  };
  mutable double sums_[2][most];  ///< of a side's first classes, left by total for choose

  KC_INLINE ClassBoard(const Model& model, Cut cut)
      : model_(model),
        head_(cut.take<Head>(1)),
        class_(cut.take<std::uint8_t>(static_cast<std::size_t>(model.n))),
        members_(model.n, 2 * model.classes, cut),
        bytes_(cut.used()) {}
  void write_law() {
    cpu.for_each(2 * model_.classes, [&](Index c) {
      const int side = c >= model_.classes;
      const Index q = c - side * model_.classes;
      const double w = head_->law(model_.value(side, q));
      head_->weight[c] = w;
      head_->inverse[c] = 1 / w;
    });
  }

  Model model_;
  Head* head_;
  std::uint8_t* class_;
  Members members_;
  std::size_t bytes_;
};

}  // namespace kilochain::discrete
