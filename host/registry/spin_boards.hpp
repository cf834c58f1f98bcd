// Which kind of board suits a spin model: the cost model, compiled once for each sampler.
//   to choose from: rows of bits for walks on 2-D lattices, classes where values are few (any size: O(1)), two layers
//   whole, else a tree of sums
//   to sweep over: words where 64 spins fit in one, classes (a table of probabilities), two layers whole, else the
//   graph
#pragma once
#include "host/registry/spin_samplers.hpp"
#include "targets/discrete/spin_arrays.hpp"

namespace kilochain::discrete {

/// The turned model and its arrays, which views point into.
struct LoadedSpins {
  SpinModel model;
  SpinArrays arrays;
  LoadedSpins(const Context& context, const SpinModel& of) : model(of.turned()), arrays(context, model) {}
  Facts facts() const {
    return {model.n(), model.hamming.value_or(0), model.hamming.has_value(), model.expert.c_str()};
  }
};

/// Throws Error (usage) where the sampler cannot run on the model's set.
inline void check_set(const std::string& sampler, bool on_slice, bool on_free, const SpinModel& model) {
  const bool slice = model.hamming.has_value();
  require(slice ? on_slice : on_free, ExitStatus::usage,
          "sampler " + sampler + " runs on " + (slice ? "free models alone" : "a slice alone"),
          "target " + model.target + (slice ? ", hamming = " + std::to_string(*model.hamming) : ", hamming is not set"),
          slice ? "Choose --sampler intracluster, gibbs_with_gradients or dmala, or remove --hamming?"
                : "Set --hamming, or choose --sampler metropolis, gibbs, gibbs_with_gradients or dmala?");
}

/// Whether a sampler asks all spins in turn, rather than to choose some.
template <template <class> class Sampler>
inline constexpr bool sweeps = false;
template <>
inline constexpr bool sweeps<Gibbs> = true;
template <>
inline constexpr bool sweeps<Metropolis> = true;
template <>
inline constexpr bool sweeps<Dmala> = true;

/// Whether walks choose from sums of rows: unless the settings forbid it, where whole numbers of 19 bits follow the
/// law: the least weight is a thousandth of the largest, or not much less. Throws Error (usage) where they demand it
/// and it cannot be.
inline bool chooses_from_rows(const WalkSettings& s, const SpinArrays& arrays, const Rungs& rungs) {
  if (s.choice == Choice::lists) return false;
  const auto bits = arrays.rows_of_bits();
  const bool suits = bits && rungs.count == 1 && s.most_gamma() * std::abs(bits->coupling) <= 1;
  require(suits || s.choice == Choice::automatic, ExitStatus::usage, "intracluster: choice = rows",
          "rows are for 2-D lattices of one coupling J, 3x3 to 64x60, gamma times J at most 1, and not for tempering",
          "Remove --choice?");
  return suits;
}

template <template <class> class Sampler, class Settings>
std::unique_ptr<Replicas> bind(const std::string& name, const Context& context, Index num_chains,
                               const SpinModel& model, const Settings& settings, const Rungs& rungs) {
  check_set(name, Sampler<GraphSpins>::on_slice, Sampler<GraphSpins>::on_free, model);
  const auto spins = std::make_shared<LoadedSpins>(context, model);
  Settings resolved = settings;
  Sampler<GraphSpins>::resolve(resolved, spins->facts());
  const auto on = [&]<class Board>(const typename Board::Model& view) -> std::unique_ptr<Replicas> {
    return std::make_unique<BoundReplicas<Sampler<Board>, Board, LoadedSpins>>(
        context, num_chains, Replica<Sampler<Board>, Board>{view, resolved, rungs}, spins);
  };
  SpinArrays& arrays = spins->arrays;
  if constexpr (std::is_same_v<Settings, WalkSettings>)
    if (chooses_from_rows(resolved, arrays, rungs)) return on.template operator()<RowBoard>(*arrays.rows_of_bits());
  if constexpr (!sweeps<Sampler>) {
    if (model.layers) return on.template operator()<DenseBoard>(arrays.layers());
    if (const auto v = arrays.class_graph<std::uint16_t>())
      return v->n <= MemberBits::most ? on.template operator()<ClassBoard<MemberBits>>(*v)
                                      : on.template operator()<ClassBoard<MemberLists<std::uint16_t>>>(*v);
    if (const auto v = arrays.class_graph<std::uint32_t>())
      return on.template operator()<ClassBoard<MemberLists<std::uint32_t>>>(*v);
    return on.template operator()<TreeBoard>(arrays.graph());
  } else {
    if constexpr (std::is_same_v<Sampler<GraphSpins>, Metropolis<GraphSpins>>)
      if (const auto v = arrays.packed()) return on.template operator()<PackedLattice>(*v);
    if (model.layers) return on.template operator()<LayerSpins>(arrays.layers());
    if (const auto v = arrays.class_graph<std::uint16_t>())
      return on.template operator()<ClassSpins<std::uint16_t>>({*v, arrays.colours()});
    if (const auto v = arrays.class_graph<std::uint32_t>())
      return on.template operator()<ClassSpins<std::uint32_t>>({*v, arrays.colours()});
    return on.template operator()<GraphSpins>({arrays.graph(), arrays.colours()});
  }
}

}  // namespace kilochain::discrete
