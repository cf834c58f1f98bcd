// Boards to sweep over: the spins of one replica, and fields answered from them when they are asked for.
//   sweep(rng, rule): every spin is asked once, colour after colour (no two neighbours share one), and flips with
//   probability rule(v); returns the mean of these probabilities
//   values(v): v_i of every spin;  turn(i): flips without counting;  recount(): energy and up from the spins
// Each single flip leaves the law unchanged, so does the sweep. Cost of a sweep: once or twice the edges.
#pragma once
#include <array>

#include "kernels/discrete/class_board.hpp"
#include "kernels/discrete/dense_board.hpp"
#include "kernels/discrete/tree_board.hpp"

namespace kilochain::discrete {

/// The probability that a spin of value v flips. Of two states that differ in a spin one at least may stay: were a tie
/// always taken, spins asked in a fixed order could be led round some states for ever (why no others are: decision 11).
/// Both ways of a tie are as likely, so the law is off by 2^-40 at most.
struct FlipRule {
  enum Kind : std::int32_t { heat_bath, metropolis } kind = heat_bath;
  double beta = 1;
  KC_INLINE double operator()(double v) const {
    const double x = 2 * beta * v;
    if (kind == heat_bath) return 1 / (1 + math::exp(x));
    if (is_tie(x)) return 0.5;
    return x > 0 ? math::exp(-x) : 1.0;
  }
};

/// Spins by colour: those of colour c are order[first[c]] .. order[first[c + 1] - 1].
struct Colours {
  const std::int32_t *order, *first;
  Index count;
};

/// f(site, uniform) for each spin of a colour, two to a Philox block; returns the sum of what f returns.
template <class F>
double each_of_colour(const Rng& rng, const Colours& colours, Index c, F&& f) {
  const Index first = colours.first[c], last = colours.first[c + 1], from = first / 2;
  return cpu.sum<double>((last + 1) / 2 - from, [&](Index pair) {
    Uniforms drawn(rng, Purpose::proposal);
    double sum = 0;
    for (Index t = 2 * (from + pair); t < 2 * (from + pair) + 2; ++t) {
      const double u = drawn(static_cast<std::uint32_t>(t));
      if (t >= first && t < last) sum += f(colours.order[t], u);
    }
    return sum;
  });
}

/// What a replica has besides its spins.
struct SweptHead {
  double energy = 0;
  std::int64_t up = 0;
};

/// The probabilities of one sweep's flips, by spins and site: of classes a table, else the rule anew for each field.
template <class Site>
auto flip_probability(const ClassGraph<Site>& graph, const FlipRule& rule) {
  std::array<double, 2 * ClassGraph<Site>::most> of_class;
  for (int side = 0; side < 2; ++side)
    for (Index q = 0; q < graph.classes; ++q) of_class[side * graph.classes + q] = rule(graph.value(side, q));
  return [&graph, of_class](const std::int8_t* spins, Index i) {
    const Index s = spins[i], q = (graph.sum(spins, i) * s + graph.degree) >> graph.shift;
    return of_class[(s > 0 ? graph.classes : 0) + q];
  };
}
inline auto flip_probability(const Graph& graph, const FlipRule& rule) {
  return [&graph, rule](const std::int8_t* spins, Index i) { return rule(graph.value(spins, i)); };
}

/// Spins of a graph, a byte each. GraphOf: ClassGraph or Graph.
template <class GraphOf>
class SparseSpins {
 public:
  struct Model : GraphOf {
    Colours colours;
  };
  KC_INLINE SparseSpins(const Model& model, char* memory) : model_(model) { cut(Cut(memory)); }
  static KC_INLINE std::size_t bytes(const Model& model) { return SparseSpins(model, nullptr).bytes_; }

  void assign(const std::int8_t* spins) {
    cpu.for_each(model_.n, [&](Index i) { spin_[i] = spins[i]; });
    recount();
  }
  void refresh() {}
  KC_INLINE Index size() const { return model_.n; }
  KC_INLINE double energy() const { return head_->energy; }
  KC_INLINE std::int64_t up() const { return head_->up; }
  KC_INLINE std::int8_t spin(Index i) const { return spin_[i]; }
  KC_INLINE double value(Index i) const { return model_.value(spin_, i); }
  KC_INLINE void turn(Index i) const { spin_[i] = static_cast<std::int8_t>(-spin_[i]); }

  double sweep(const Rng& rng, const FlipRule& rule) {
    const auto probability = flip_probability(static_cast<const GraphOf&>(model_), rule);
    double rate = 0;
    for (Index c = 0; c < model_.colours.count; ++c) {
      rate += each_of_colour(rng, model_.colours, c, [&](Index i, double u) {
        const double p = probability(spin_, i);
        spin_[i] = static_cast<std::int8_t>(u < p ? -spin_[i] : spin_[i]);
        return p;
      });
    }
    recount();
    return rate / model_.n;
  }
  void values(double* v) const {
    cpu.for_each(model_.n, [&](Index i) { v[i] = value(i); });
  }
  void recount() {
    head_->up = cpu.sum<std::int32_t>(model_.n, [&](Index i) { return spin_[i] > 0 ? 1 : 0; });
    head_->energy = model_.energy_of(spin_, head_->up);
  }

 private:
  KC_INLINE void cut(Cut cut) {
    head_ = cut.take<SweptHead>(1);
    spin_ = cut.take<std::int8_t>(static_cast<std::size_t>(model_.n));
    bytes_ = cut.used();
  }
  Model model_;
  SweptHead* head_ = nullptr;
  std::int8_t* spin_ = nullptr;
  std::size_t bytes_ = 0;
};
template <class Site>
using ClassSpins = SparseSpins<ClassGraph<Site>>;
using GraphSpins = SparseSpins<Graph>;

/// Two layers: one is independent given the other, so a layer is a colour and its fields are a product with a matrix.
class LayerSpins {
 public:
  using Model = Layers;
  KC_INLINE LayerSpins(const Model& model, char* memory) : model_(model) { cut(Cut(memory)); }
  static KC_INLINE std::size_t bytes(const Model& model) { return LayerSpins(model, nullptr).bytes_; }

  void assign(const std::int8_t* spins) {
    cpu.for_each(model_.n(), [&](Index i) { spin_[model_.slot(i)] = spins[i]; });
    recount();
  }
  void refresh() {}
  KC_INLINE Index size() const { return model_.n(); }
  KC_INLINE double energy() const { return head_->energy; }
  KC_INLINE std::int64_t up() const { return head_->up; }
  KC_INLINE std::int8_t spin(Index i) const { return spin_[model_.slot(i)] > 0 ? 1 : -1; }
  KC_INLINE void turn(Index i) const { spin_[model_.slot(i)] *= -1; }

  double sweep(const Rng& rng, const FlipRule& rule) {
    double rate = 0;
    for (int layer = 0; layer < 2; ++layer) {
      model_.fields(spin_, local_, layer == 0, layer == 1);
      const Index first = layer == 0 ? 0 : model_.visible, count = layer == 0 ? model_.visible : model_.hidden;
      rate += cpu.sum<double>(count, [&](Index k) {
        const Index s = model_.slot(first + k);
        const double p = rule(local_[s] * spin_[s]);
        if (uniform(rng, Purpose::proposal, static_cast<std::uint32_t>(first + k)) < p) spin_[s] *= -1;
        return p;
      });
    }
    recount();
    return rate / model_.n();
  }
  void values(double* v) const {
    model_.fields(spin_, local_, true, true);
    cpu.for_each(model_.n(), [&](Index i) {
      const Index s = model_.slot(i);
      v[i] = local_[s] * spin_[s];
    });
  }
  /// Needs the fields of one layer only: E = offset - sum of visible S f - sum of hidden h S.
  void recount() {
    model_.fields(spin_, local_, true, false);
    const Index hidden = layer_slots(model_.visible);
    const double of_visible = cpu.sum<double>(model_.visible, [&](Index i) { return local_[i] * spin_[i]; });
    const double of_hidden =
        cpu.sum<double>(model_.hidden, [&](Index j) { return model_.field[hidden + j] * spin_[hidden + j]; });
    const auto up = cpu.sum<std::int32_t>(model_.n(), [&](Index i) { return spin(i) > 0 ? 1 : 0; });
    head_->energy = model_.offset - of_visible - of_hidden, head_->up = up;
  }

 private:
  KC_INLINE void cut(Cut cut) {
    head_ = cut.take<SweptHead>(1);
    local_ = cut.take<double>(static_cast<std::size_t>(model_.slots()));
    spin_ = cut.take<double>(static_cast<std::size_t>(model_.slots()));
    bytes_ = cut.used();
  }
  Model model_;
  SweptHead* head_ = nullptr;
  double *local_ = nullptr, *spin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kilochain::discrete
