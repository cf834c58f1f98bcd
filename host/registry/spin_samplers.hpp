// Spin samplers bound to the kind of board that suits a model: the cost model.
//   to choose from: rows of bits for walks on 2-D lattices, classes where values are few (any size: O(1)), two layers
//   whole, else a tree of sums
//   to sweep over: words where 64 spins fit in one, classes (a table of probabilities), two layers whole, else the graph
#pragma once
#include "host/chains/replicas.hpp"
#include "host/registry/registry.hpp"
#include "kernels/discrete/dmala.hpp"
#include "kernels/discrete/gibbs_with_gradients.hpp"
#include "kernels/discrete/intracluster.hpp"
#include "kernels/discrete/sweeps.hpp"
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

/// The row of a spin sampler, without what makes its replicas.
template <class Sampler>
SamplerEntry spin_entry(const std::string& name) {
  auto e = described<SamplerEntry, Sampler>(name, Sampler::meaning);
  e.spins = true;
  if (Sampler::num_stats > 0) e.stats.assign(Sampler::stat_names, Sampler::stat_names + Sampler::num_stats);
  e.needs = {Needs::nothing, Needs::nothing, Needs::nothing};
  return e;
}

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

/// Replicas bound on the CPU.
struct CpuBoards {
  using Interface = SteppedReplicas;
  static constexpr int stride = 1;  ///< of a board of bits: replicas beside each other
  template <class Sampler, class Board>
  using Bound = CpuReplicas<Sampler, Board, LoadedSpins>;
};

/// Whether walks choose from sums of rows: unless they are told not to, where whole numbers of 19 bits follow the law: the
/// least weight is a thousandth of the largest, or not much less. Throws Error (usage) where they are told to and cannot.
inline bool chooses_from_rows(const WalkSettings& s, const SpinArrays& arrays, const Rungs& rungs) {
  if (s.choice == Choice::lists) return false;
  const auto bits = arrays.rows_of_bits();
  const bool suits = bits && rungs.count == 1 && s.most_gamma() * std::abs(bits->coupling) <= 1;
  require(suits || s.choice == Choice::automatic, ExitStatus::usage, "intracluster: choice = rows",
          "rows are for 2-D lattices of one coupling J, 3x3 to 64x60, gamma times J at most 1, and not for tempering",
          "Remove --choice?");
  return suits;
}

/// On whichever board suits the model. Throws Error (usage) for settings that do not fit it, and as check_set.
template <template <class> class Sampler, class Boards = CpuBoards, class Settings>
std::unique_ptr<typename Boards::Interface> bind(const std::string& name, const Context& context, Index num_chains,
                                                 const SpinModel& model, const Settings& settings, const Rungs& rungs) {
  check_set(name, Sampler<GraphSpins>::on_slice, Sampler<GraphSpins>::on_free, model);
  const auto spins = std::make_shared<LoadedSpins>(context, model);
  const auto on = [&]<class Board>(const typename Board::Model& view) -> std::unique_ptr<typename Boards::Interface> {
    Settings resolved = settings;
    Sampler<Board>::resolve(resolved, spins->facts());
    return std::make_unique<typename Boards::template Bound<Sampler<Board>, Board>>(
        context, num_chains, Replica<Sampler<Board>, Board>{view, resolved, rungs}, spins);
  };
  SpinArrays& arrays = spins->arrays;
  if constexpr (std::is_same_v<Settings, WalkSettings>) {
    WalkSettings resolved = settings;
    Sampler<GraphSpins>::resolve(resolved, spins->facts());
    if (chooses_from_rows(resolved, arrays, rungs))
      return on.template operator()<RowBoard<Boards::stride>>(*arrays.rows_of_bits());
  }
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

/// Where a run binds its replicas, as bind does.
struct OnCpu {
  template <template <class> class Sampler, class Settings>
  static std::unique_ptr<Replicas> bind(const std::string& name, const Context& context, Index num_chains,
                                        const SpinModel& model, const Settings& settings, const Rungs& rungs) {
    return discrete::bind<Sampler>(name, context, num_chains, model, settings, rungs);
  }
};
struct OnCuda {  ///< compiled once for each sampler: host/registry/instantiate/spin_sampler.cu
  template <template <class> class Sampler, class Settings>
  static std::unique_ptr<Replicas> bind(const std::string& name, const Context& context, Index num_chains,
                                        const SpinModel& model, const Settings& settings, const Rungs& rungs);
};

/// Replicas of a sampler by its name, from the texts of its settings.
template <class On, template <class> class Sampler>
SamplerEntry::MakeReplicas replicas_on(const std::string& name) {
  return [name](const Context& c, const SettingTexts& texts, Index num_chains, const SpinModel& model) {
    return On::template bind<Sampler>(name, c, num_chains, model, parse_settings<Sampler<GraphSpins>>(name, texts),
                                      Rungs{1, model.beta, model.beta});
  };
}

}  // namespace kilochain::discrete
