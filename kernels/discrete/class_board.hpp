// A board for couplings of one magnitude (J or -J) and one field: v_i takes few values, so spins of one side and one
// value are a class with a list of members (the n-fold way: Bortz, Kalos, Lebowitz 1975).
//   choose: a class by count times weight, then a member: O(classes), whatever the size of the model
//   flip: i and each neighbour move from one list to another: O(degree); set_law: a weight for each class
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
};

template <class Site>
class ClassBoard {
 public:
  using Model = ClassGraph<Site>;
  using Kept = ClassBoard;
  static constexpr int most = Model::most;

  KC_INLINE ClassBoard(const Model& model, char* memory) : model_(model) { cut(Cut(memory)); }
  static KC_INLINE std::size_t bytes(const Model& model) { return ClassBoard(model, nullptr).bytes_; }

  template <class Team>
  KC_HD void assign(const Team& team, const std::int8_t* spins) {
    team.single([&] {
      *head_ = Head{};
      for (Index i = 0; i < model_.n; ++i) {
        const int side = spins[i] > 0;
        const Index k = model_.sum(spins, i) * spins[i];
        head_->bonds += k;
        head_->up += side;
        push(static_cast<Site>(i), side * model_.classes + ((k + model_.degree) >> model_.shift));
      }
      head_->bonds /= 2;
    });
    team.sync();
    write_law(team);
  }
  template <class Team>
  KC_HD void refresh(const Team&) {}
  /// Whether it is cheaper to take all from another board, where a walk is not accepted, than so many flips back.
  static KC_INLINE bool kept_for(const Model& model, Index flips) { return model.n <= 16 * flips; }
  /// All that another board of the model has; nobody reads this one any more.
  template <class Team>
  KC_HD void take(const Team& team, const ClassBoard& from) {
    team.single([&] { *head_ = *from.head_; });
    team.for_each(model_.n, [&](Index i) { class_[i] = from.class_[i], where_[i] = from.where_[i]; });
    for (Index c = 0; c < 2 * model_.classes; ++c)
      team.for_each(from.head_->count[c], [&](Index i) { list(c)[i] = from.list(c)[i]; });
    team.sync();
  }

  KC_INLINE const Model& model() const { return model_; }
  KC_INLINE Index size() const { return model_.n; }
  KC_INLINE double energy() const { return model_.energy(head_->bonds, head_->up); }
  KC_INLINE std::int64_t up() const { return head_->up; }
  KC_INLINE std::int8_t spin(Index i) const { return class_[i] >= model_.classes ? 1 : -1; }
  KC_INLINE double value(Index i) const { return model_.value(class_[i] / model_.classes, class_[i] % model_.classes); }
  KC_INLINE double weight(Index i) const { return head_->weight[class_[i]]; }

  template <class Team>
  KC_HD void set_law(const Team& team, const Law& law) {
    if (head_->law == law) return;
    team.sync();
    team.single([&] { head_->law = law; });
    team.sync();
    write_law(team);
  }
  /// Sum of the weights of a side (0: down, 1: up).
  KC_INLINE double total(int side) const {
    const std::int32_t* count = head_->count + side * model_.classes;
    const double* weight = head_->weight + side * model_.classes;
    double sum = 0;
    for (Index q = 0; q < model_.classes; ++q) {
      sum += static_cast<double>(count[q]) * weight[q];
      keep(side, q, sum);
    }
    return sum;
  }
  /// The spin at fraction u of the side's total, which was asked for since the last flip.
  KC_INLINE Index choose(int side, double total, double u) const {
    const Index first = side * model_.classes;
    const std::int32_t* count = head_->count + first;
    const double at = u * total;
    double before = 0, sum = 0;
    Index q = 0;
    for (Index c = 0; c + 1 < model_.classes; ++c) {  // no exit: it could not be foretold
      sum = kept(side, c, sum);
      const bool past = at >= sum;
      before = past ? sum : before;
      q += past;
    }
    const bool none = count[q] == 0;  // rounding at the end of the last class that has members
    while (count[q] == 0) q = q > 0 ? q - 1 : model_.classes - 1;
    const auto member = static_cast<Index>((at - before) * head_->inverse[first + q]);
    return list(first + q)[none || member >= count[q] ? count[q] - 1 : member < 0 ? 0 : member];
  }
  template <class Team>
  KC_HD void flip(const Team& team, Index i) {
    team.sync();
    team.single([&] { flip_one(i); });
    team.sync();
  }

 private:
  struct Head {
    std::int64_t bonds = 0, up = 0;
    Law law{};
    std::int32_t count[2 * most] = {};
    double weight[2 * most] = {}, inverse[2 * most] = {};
  };
  /// The sum of a side's first classes, c the last of them; before: without it.
#if defined(KC_ON_DEVICE)  // nothing is kept: an array of a thread would lie in memory
  KC_INLINE void keep(int, Index, double) const {}
  KC_INLINE double kept(int side, Index c, double before) const {
    const Index q = side * model_.classes + c;
    return before + static_cast<double>(head_->count[q]) * head_->weight[q];
  }
#else
  KC_INLINE void keep(int side, Index c, double sum) const { sums_[side][c] = sum; }
  KC_INLINE double kept(int side, Index c, double) const { return sums_[side][c]; }
  mutable double sums_[2][most];
#endif

  KC_INLINE void cut(Cut cut) {
    const auto n = static_cast<std::size_t>(model_.n);
    head_ = cut.take<Head>(1);
    class_ = cut.take<std::uint8_t>(n);
    where_ = cut.take<Site>(n);
    lists_ = cut.take<Site>(2 * static_cast<std::size_t>(model_.classes) * n);
    bytes_ = cut.used();
  }
  KC_INLINE Site* list(Index c) const {
    return lists_ + static_cast<std::size_t>(c) * static_cast<std::size_t>(model_.n);
  }
  KC_INLINE void push(Site s, Index c) {
    const std::int32_t at = head_->count[c]++;
    list(c)[at] = s;
    where_[s] = static_cast<Site>(at);
    class_[s] = static_cast<std::uint8_t>(c);
  }
  KC_INLINE void remove(Site s, Index c) {
    Site* from = list(c);
    const Site at = where_[s], last = from[--head_->count[c]];
    from[at] = last;
    where_[last] = at;
  }
  KC_INLINE void flip_one(Index i) {
    const Index c = class_[i], classes = model_.classes;
    const int now = c < classes;  // the side it goes to
    const Index q = now ? c : c - classes;
    head_->bonds -= 2 * ((q << model_.shift) - model_.degree);
    head_->up += now ? 1 : -1;
    remove(static_cast<Site>(i), c);
    push(static_cast<Site>(i), now * classes + classes - 1 - q);
    const Site* row = model_.neighbour + static_cast<std::size_t>(i) * static_cast<std::size_t>(model_.degree);
    const Index degree = model_.degree_of(i), step = 2 >> model_.shift;
    for (Index j = 0; j < degree; ++j) {
      const Site s = row[j] & static_cast<Site>(~Model::negative);
      const Index from = class_[s];
      const bool more = ((from >= classes) == (now != 0)) != ((row[j] & Model::negative) != 0);
      remove(s, from);
      push(s, from + (more ? step : -step));
    }
  }
  template <class Team>
  KC_HD void write_law(const Team& team) {
    team.for_each(2 * model_.classes, [&](Index c) {
      const int side = c >= model_.classes;
      const Index q = c - side * model_.classes;
      const double w = head_->law(model_.value(side, q));
      head_->weight[c] = w;
      head_->inverse[c] = 1 / w;
    });
    team.sync();
  }

  Model model_;
  Head* head_ = nullptr;
  std::uint8_t* class_ = nullptr;
  Site *where_ = nullptr, *lists_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kilochain::discrete
