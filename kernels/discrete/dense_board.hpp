// A board for two layers, each spin coupled to all of the other layer (a restricted Boltzmann machine): a flip changes
// every field there, so all weights of that layer are made anew, in loops that vectorise, with sums of blocks of 64.
//   choose: O(n / 64 + 64); flip: O(other layer); set_law: O(n)
// Slots: the visible layer, then the hidden one, each padded to blocks; a spin's number is its place without padding.
#pragma once
#include "kernels/discrete/board.hpp"

namespace kilochain::discrete {

inline constexpr Index layer_block = 64;
constexpr KC_INLINE Index layer_slots(Index n) { return (n + layer_block - 1) / layer_block * layer_block; }

/// The model. Rows are padded to slots, with zeros.
struct Layers {
  const double *to_hidden, *to_visible;  ///< J: (visible, hidden slots) and (hidden, visible slots)
  const double* field;                   ///< (visible slots + hidden slots)
  Index visible, hidden;
  double offset;

  KC_INLINE Index n() const { return visible + hidden; }
  KC_INLINE Index slots() const { return layer_slots(visible) + layer_slots(hidden); }
  KC_INLINE Index slot(Index i) const { return i < visible ? i : i - visible + layer_slots(visible); }
  KC_INLINE Index number(Index slot) const {
    return slot < layer_slots(visible) ? slot : slot - layer_slots(visible) + visible;
  }
  /// The couplings of the spin at a slot, a value for each slot of the other layer.
  KC_INLINE const double* row(Index slot) const {
    const Index first = layer_slots(visible);
    return slot < first ? to_hidden + static_cast<std::size_t>(slot) * static_cast<std::size_t>(layer_slots(hidden))
                        : to_visible + static_cast<std::size_t>(slot - first) * static_cast<std::size_t>(first);
  }
  /// First slot and number of spins of the layer that a slot's spin is coupled to.
  KC_INLINE Index other_first(Index slot) const { return slot < layer_slots(visible) ? layer_slots(visible) : 0; }
  KC_INLINE Index other_size(Index slot) const { return slot < layer_slots(visible) ? hidden : visible; }

  /// local: (slots), made from spins: (slots), padding included.
  void fields(const double* spins, double* local, bool of_visible, bool of_hidden) const {
    const Index first = layer_slots(visible);
    if (of_visible) fields_of(0, visible, first, hidden, spins, local);
    if (of_hidden) fields_of(first, hidden, 0, visible, spins, local);
  }
  /// Of the layer of `count` spins from slot `to` on, given the other one, of `others` spins from slot `from` on. A row
  /// of couplings at a time, which vectorises.
  void fields_of(Index to, Index count, Index from, Index others, const double* spins, double* local) const {
    for (Index i = 0; i < count; ++i) local[to + i] = field[to + i];
    for (Index j = 0; j < others; ++j) {
      const double s = spins[from + j];
      const double* J = row(from + j);
      double* const sum = local + to;
      cpu.for_each(count, [&](Index i) { sum[i] += J[i] * s; });
    }
  }
  double energy(const double* spins, const double* local) const {
    return offset - 0.5 * cpu.sum<double>(n(), [&](Index i) {
      const Index s = slot(i);
      return (local[s] + field[s]) * spins[s];
    });
  }
};

class DenseBoard {
 public:
  using Model = Layers;

  KC_INLINE DenseBoard(const Model& model, char* memory) : model_(model) { cut(Cut(memory)); }
  static KC_INLINE std::size_t bytes(const Model& model) { return DenseBoard(model, nullptr).bytes_; }

  void assign(const std::int8_t* spins) {
    cpu.for_each(model_.n(), [&](Index i) { spin_[model_.slot(i)] = spins[i]; });
    refresh();
  }
  void refresh() {
    model_.fields(spin_, local_, true, true);
    const double energy = model_.energy(spin_, local_);
    const double up = cpu.sum<double>(model_.n(), [&](Index i) { return spin(i) > 0 ? 1.0 : 0.0; });
    head_->energy = energy, head_->up = static_cast<std::int64_t>(up);
    weigh(0, blocks_);
  }

  KC_INLINE const Model& model() const { return model_; }
  KC_INLINE Index size() const { return model_.n(); }
  KC_INLINE double energy() const { return head_->energy; }
  KC_INLINE std::int64_t up() const { return head_->up; }
  KC_INLINE std::int8_t spin(Index i) const { return spin_[model_.slot(i)] > 0 ? 1 : -1; }
  KC_INLINE double value(Index i) const { return local_[model_.slot(i)] * spin_[model_.slot(i)]; }
  KC_INLINE double weight(Index i) const { return weight_[model_.slot(i)]; }

  void set_law(const Law& law) {
    if (head_->law == law) return;
    head_->law = law;
    weigh(0, blocks_);
  }
  KC_INLINE double total(int side) const {
    const double* blocks = sums(side);
    double part[4] = {};
    Index b = 0;
    for (; b + 4 <= blocks_; b += 4) {
      KC_UNROLL
      for (int l = 0; l < 4; ++l) part[l] += blocks[b + l];
    }
    KC_UNROLL
    for (int l = 0; l < 4; ++l)
      if (b + l < blocks_) part[l] += blocks[b + l];
    return (part[0] + part[1]) + (part[2] + part[3]);
  }
  KC_INLINE Index choose(int side, double total, double u) const {
    double at = u * total;
    Index b = 0, last = -1;
    const double* sum = sums(side);
    while (b + 1 < blocks_ && at >= sum[b]) at -= sum[b++];
    while (b > 0 && sum[b] <= 0) --b;  // rounding at the end of the last one
    while (sum[b] <= 0 && b + 1 < blocks_) ++b;
    const double sign = side ? 1 : -1;
    for (Index k = b * layer_block; k < (b + 1) * layer_block; ++k) {
      if (spin_[k] != sign) continue;
      last = k;
      if (at < weight_[k]) break;
      at -= weight_[k];
    }
    return model_.number(last);
  }
  void flip(Index i) {
    const Index s = model_.slot(i), first = model_.other_first(s), count = model_.other_size(s);
    const double change = -2 * spin_[s];
    head_->energy += 2 * local_[s] * spin_[s];
    head_->up += spin_[s] > 0 ? -1 : 1;
    spin_[s] = -spin_[s];
    const double* J = model_.row(s);
    double* const local = local_ + first;
    cpu.for_each(count, [&](Index j) { local[j] += J[j] * change; });
    weigh(s / layer_block, s / layer_block + 1);
    weigh(first / layer_block, (first + layer_slots(count)) / layer_block);
  }

 private:
  struct Head {
    double energy = 0;
    std::int64_t up = 0;
    Law law{};
  };

  KC_INLINE void cut(Cut cut) {
    const auto slots = static_cast<std::size_t>(model_.slots());
    blocks_ = model_.slots() / layer_block;
    head_ = cut.take<Head>(1);
    local_ = cut.take<double>(slots);
    spin_ = cut.take<double>(slots);
    weight_ = cut.take<double>(slots);
    sums_ = cut.take<double>(2 * static_cast<std::size_t>(blocks_));
    bytes_ = cut.used();
  }
  KC_INLINE double* sums(int side) const { return sums_ + side * blocks_; }
  /// Weights and sums of blocks from .. to - 1. The spins of padding are 0, so it weighs nothing on either side.
  void weigh(Index from, Index to) {
    const Law law = head_->law;
    for (Index b = from; b < to; ++b) {
      const Index first = b * layer_block;
      const double *local = local_ + first, *spin = spin_ + first;
      double* weight = weight_ + first;
      if (law.kind == Law::heat_bath) {
        const double twice = 2 * law.rate;
        cpu.for_each(layer_block, [&](Index k) { weight[k] = 1 / (1 + math::exp(twice * (local[k] * spin[k]))); });
      } else if (law.kind == Law::half) {
        cpu.for_each(layer_block, [&](Index k) { weight[k] = math::exp(-law.rate * (local[k] * spin[k])); });
      } else {
        cpu.for_each(layer_block, [&](Index k) { weight[k] = 1; });
      }
      const double up = cpu.sum<double>(layer_block, [&](Index k) { return spin[k] > 0 ? weight[k] : 0.0; });
      const double down = cpu.sum<double>(layer_block, [&](Index k) { return spin[k] < 0 ? weight[k] : 0.0; });
      sums(1)[b] = up, sums(0)[b] = down;
    }
  }

  Model model_;
  Head* head_ = nullptr;
  double *local_ = nullptr, *spin_ = nullptr, *weight_ = nullptr, *sums_ = nullptr;
  Index blocks_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace kilochain::discrete
