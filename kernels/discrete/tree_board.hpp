// A board for any sparse graph: weights in two trees of sums, one for each side, with eight children to a node.
//   choose: O(8 log_8 n); flip: i and each neighbour renew their way to the root, O(degree log_8 n), or all
//   of the tree where that is less: a cost model decides; set_law: O(n)
// A parent is the sum of its children anew each time, so that no weight and no sum is ever stale or drifts. Fields and
// the energy are added up; refresh, once in a while, makes them from the spins again.
#pragma once
#include "kernels/discrete/board.hpp"

namespace kilochain::discrete {

/// The model: rows of neighbours, one after the other.
struct Graph {
  const std::int32_t *first, *neighbour;  ///< (n + 1); (first[n])
  const double *coupling, *field;         ///< (first[n]); (n)
  Index n;
  double offset;

  KC_INLINE double local(const std::int8_t* spins, Index i) const {
    double f = field[i];
    for (std::int32_t e = first[i]; e < first[i + 1]; ++e) f += coupling[e] * spins[neighbour[e]];
    return f;
  }
  /// v of spin i, and the energy of spins.
  KC_INLINE double value(const std::int8_t* spins, Index i) const { return local(spins, i) * spins[i]; }
  double energy_of(const std::int8_t* spins, std::int64_t) const {
    return offset - 0.5 * cpu.sum<double>(n, [&](Index i) { return (local(spins, i) + field[i]) * spins[i]; });
  }
};

class TreeBoard {
 public:
  using Model = Graph;
  static constexpr int children = 8, most_levels = 11;

  KC_INLINE TreeBoard(const Model& model, char* memory) : model_(model) { cut(Cut(memory)); }
  static KC_INLINE std::size_t bytes(const Model& model) { return TreeBoard(model, nullptr).bytes_; }

  void assign(const std::int8_t* spins) {
    cpu.for_each(model_.n, [&](Index i) { spin_[i] = spins[i]; });
    Index count = model_.n, at = 0;
    for (int l = 0; l < levels_; ++l) {
      if (l > 0) count = parents(count);
      head_->start[l] = at;
      at += parents(count) * children;
    }
    refresh();
  }
  /// Fields, energy and sums from the spins.
  void refresh() {
    cpu.for_each(model_.n, [&](Index i) { local_[i] = model_.local(spin_, i); });
    head_->up = cpu.sum<std::int32_t>(model_.n, [&](Index i) { return spin_[i] > 0 ? 1 : 0; });
    head_->energy = model_.energy_of(spin_, head_->up);
    grow();
  }

  KC_INLINE const Model& model() const { return model_; }
  KC_INLINE Index size() const { return model_.n; }
  KC_INLINE double energy() const { return head_->energy; }
  KC_INLINE std::int64_t up() const { return head_->up; }
  KC_INLINE std::int8_t spin(Index i) const { return spin_[i]; }
  KC_INLINE double value(Index i) const { return local_[i] * spin_[i]; }
  KC_INLINE double weight(Index i) const { return tree(spin_[i] > 0)[i]; }

  void set_law(const Law& law) {
    if (head_->law == law) return;
    head_->law = law;
    grow();
  }
  KC_INLINE double total(int side) const { return tree(side)[head_->start[levels_ - 1]]; }
  KC_INLINE Index choose(int side, double total, double u) const {
    double at = u * total;
    Index node = 0;
    for (int l = levels_ - 2; l >= 0; --l) {
      const double* child = tree(side) + head_->start[l] + static_cast<std::size_t>(node) * children;
      Index k = 0;
      while (k + 1 < children && at >= child[k]) at -= child[k++];
      while (k > 0 && child[k] <= 0) --k;  // rounding at the end of the last one
      while (child[k] <= 0 && k + 1 < children) ++k;
      node = node * children + k;
    }
    return node;
  }
  void flip(Index i) {
    const std::int32_t first = model_.first[i], degree = model_.first[i + 1] - first;
    const double change = -2.0 * spin_[i];
    const bool was_up = spin_[i] > 0;
    head_->energy += 2 * value(i);
    head_->up += was_up ? -1 : 1;
    spin_[i] = static_cast<std::int8_t>(-spin_[i]);
    if (degree * levels_ > model_.n) {  // it is cheaper to sum everything anew
      cpu.for_each(degree,
                   [&](Index e) { local_[model_.neighbour[first + e]] += model_.coupling[first + e] * change; });
      return grow();
    }
    put(i, was_up, 0);
    put(i, !was_up, head_->law(value(i)));
    for (std::int32_t e = first; e < first + degree; ++e) {
      const Index j = model_.neighbour[e];
      local_[j] += model_.coupling[e] * change;
      put(j, spin_[j] > 0, head_->law(value(j)));
    }
  }

 private:
  struct Head {
    double energy = 0;
    std::int64_t up = 0;
    Law law{};
    Index start[most_levels] = {};
  };

  KC_INLINE void cut(Cut cut) {
    head_ = cut.take<Head>(1);
    local_ = cut.take<double>(static_cast<std::size_t>(model_.n));
    spin_ = cut.take<std::int8_t>(static_cast<std::size_t>(model_.n));
    std::size_t of_side = 0;
    for (Index count = model_.n; levels_ < 2 || count > 1; ++levels_) {
      if (levels_ > 0) count = parents(count);
      of_side += static_cast<std::size_t>(parents(count) * children);
    }
    side_ = of_side;
    tree_ = cut.take<double>(2 * of_side);
    bytes_ = cut.used();
  }
  static KC_INLINE Index parents(Index count) { return (count + children - 1) / children; }
  /// The sums of a side, level after level, from its weights to its total; a level begins at head_->start[level].
  KC_INLINE double* tree(int side) const { return tree_ + (side ? side_ : 0); }
  KC_INLINE static double sum_of(const double* child) {
    return ((child[0] + child[1]) + (child[2] + child[3])) + ((child[4] + child[5]) + (child[6] + child[7]));
  }
  KC_INLINE void put(Index i, int side, double weight) {
    double* const sums = tree(side);
    sums[i] = weight;
    Index node = i;
    for (int l = 1; l < levels_; ++l) {
      node /= children;
      sums[head_->start[l] + node] = sum_of(sums + head_->start[l - 1] + static_cast<std::size_t>(node) * children);
    }
  }
  void grow() {
    cpu.for_each(model_.n, [&](Index i) {
      const double w = head_->law(value(i));
      tree(1)[i] = spin_[i] > 0 ? w : 0;
      tree(0)[i] = spin_[i] > 0 ? 0 : w;
    });
    Index count = model_.n;
    for (int l = 1; l < levels_; ++l) {
      count = parents(count);
      for (int side = 0; side < 2; ++side) {
        const double* below = tree(side) + head_->start[l - 1];
        double* const sums = tree(side) + head_->start[l];
        cpu.for_each(count, [&](Index k) { sums[k] = sum_of(below + static_cast<std::size_t>(k) * children); });
      }
    }
  }

  Model model_;
  Head* head_ = nullptr;
  double* local_ = nullptr;
  std::int8_t* spin_ = nullptr;
  double* tree_ = nullptr;
  std::size_t side_ = 0;
  int levels_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace kilochain::discrete
