// The intracluster move (Hamze & de Freitas 2010; Mahendran 2011, section 4.1) on a slice:
//   down: k times choose an up spin with probability w_i / sum w, w_i = 1 / (1 + exp(2 gamma v_i)), and flip it;
//   up: k times the same among the down spins; accept the whole walk by Metropolis and Hastings.
// A flip of value v turns w(v) into w(-v) = w(v) exp(2 gamma v), and E grows by 2 v, so that
//   log r = (gamma - beta) (E_new - E_old) + sum over flips of log(W chosen from, before / W of the other side, after).
// gamma is uniform on [gamma_min, gamma_max] and k on walk_min .. walk_max, drawn for each step beside the state: a
// mixture of kernels that all leave the law unchanged. Weights are always those of the gamma in force. Or both come
// from a row of a policy that is drawn for each step (kernels/policy.hpp): the thesis' IMBayesOpt, as good a mixture.
#pragma once
#include <string>

#include "base/error.hpp"
#include "kernels/discrete/row_board.hpp"
#include "kernels/policy.hpp"

namespace kilochain::discrete {

enum class WalkPreset : std::int32_t { own, kawasaki, im_expert, im_unif, im_bayesopt };
inline constexpr Names walk_preset_names{"own", "kawasaki", "im_expert", "im_unif", "im_bayesopt"};

/// How spins are chosen: from classes, whose members are lists or bits, or from sums of rows (RowBoard).
enum class Choice : std::int32_t { automatic, lists, rows };
inline constexpr Names choice_names{"auto", "lists", "rows"};

struct WalkSettings {
  WalkPreset preset = WalkPreset::own;
  std::int32_t walk_min = 1, walk_max = 20;
  double gamma_min = 0, gamma_max = 0;
  Policy<2> policy = {};
  Choice choice = Choice::automatic;

  /// The largest gamma that a step may draw.
  double most_gamma() const {
    double most = gamma_max;
    for (std::int32_t k = 0; policy.has[0] && k < policy.rows; ++k)
      most = most < policy.value[k][0] ? policy.value[k][0] : most;
    return most;
  }
};

template <class Board>
struct Intracluster {
  static constexpr const char* meaning =
      "walks of k flips down and k up, biased by the fields (Hamze & de Freitas 2010); presets kawasaki, im_expert, "
      "im_unif";
  static constexpr bool on_slice = true, on_free = false;
  static constexpr int num_stats = 3;
  static constexpr const char* stat_names[] = {"walk_length", "gamma", "flips"};
  using Settings = WalkSettings;
  using Preset = WalkPreset;
  static constexpr Index longest_walk = 100000;
  /// Products of so many totals stay finite: those of rows are below 2^31.
  static constexpr Index flips_to_a_log = in_rows<Board> ? 32 : 8;

  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("preset", s.preset, walk_preset_names, "settings of the 2011 thesis; own: those below");
    visit("walk_min", s.walk_min, between(1, longest_walk), "shortest walk: flips in each direction");
    visit("walk_max", s.walk_max, between(1, longest_walk), "longest walk; at most the up spins of the slice");
    visit("gamma_min", s.gamma_min, at_least(0), "least weight of the fields in a choice");
    visit("gamma_max", s.gamma_max, at_least(0), "largest weight of the fields in a choice");
    visit("policy", s.policy,
          PolicyColumns<2>{{{"gamma", at_least(0), false}, {"walk", between(1, longest_walk), true}}},
          "CSV file with columns gamma, walk or both: each step takes a row at random");
    visit("choice", s.choice, choice_names,
          "sums of rows on 2-D lattices of one coupling up to 64x60, or classes of members; auto: rows where they can "
          "be");
  }

  /// Presets become numbers. Throws Error (usage) for a range that is none, and for a preset that this model has not.
  static void resolve(Settings& s, const Facts& facts) {
    const std::string model = facts.expert;
    const bool two = model == "2d", rbm = model == "rbm";
    if (s.preset == Preset::kawasaki) s = {s.preset, 1, 1, 0, 0, {}, s.choice};
    require(s.preset != Preset::im_bayesopt || s.policy.rows > 0, ExitStatus::usage,
            "intracluster: preset = im_bayesopt", "policy is not set", "Name the file with --policy?");
    if (s.preset == Preset::im_expert || s.preset == Preset::im_unif)
      require(!model.empty(), ExitStatus::usage,
              std::string("intracluster: preset = ") + walk_preset_names.value[static_cast<int>(s.preset)],
              "the thesis has it for lattices of 2 and 3 axes, spin glasses and RBMs",
              "Give --walk-min, --walk-max, --gamma-min and --gamma-max?");
    if (s.preset == Preset::im_expert)
      s = {s.preset, two ? 90 : 1, two ? 90 : rbm ? 20 : 25, two ? 0.44 : 0.8, two ? 0.44 : 0.8, {}, s.choice};
    if (s.preset == Preset::im_unif) s = {s.preset, 1, two ? 300 : 50, 0, two ? 0.88 : 1.6, {}, s.choice};
    require(s.walk_min <= s.walk_max, ExitStatus::usage, "intracluster: walk_min = " + std::to_string(s.walk_min),
            "walk_max is " + std::to_string(s.walk_max), "Exchange them?");
    require(s.gamma_min <= s.gamma_max, ExitStatus::usage, "intracluster: gamma_min = " + std::to_string(s.gamma_min),
            "gamma_max is " + std::to_string(s.gamma_max), "Exchange them?");
  }

  /// Of the longest walk.
  static KC_INLINE Index most_flips(const Settings& s) {
    double longest = s.walk_max;
    for (std::int32_t k = 0; s.policy.has[1] && k < s.policy.rows; ++k)
      longest = longest < s.policy.value[k][1] ? s.policy.value[k][1] : longest;
    return 2 * static_cast<Index>(longest);
  }
  static constexpr bool can_keep = requires(typename Board::Model model) { Board::kept_for(model, Index(0)); };
  /// Whether walks begin with a copy of the board, for those that are not accepted; else their flips are undone.
  static KC_INLINE bool keeps(const Settings& s, const typename Board::Model& model) {
    if constexpr (can_keep) return Board::kept_for(model, most_flips(s));
    return false;
  }
  static KC_INLINE std::size_t scratch(const Settings& s, const typename Board::Model& model) {
    return keeps(s, model) ? Board::bytes(model) : static_cast<std::size_t>(most_flips(s)) * sizeof(Index);
  }
  /// Of a walk that changed the energy by `change`; normalisers: the sum of logarithms above.
  static KC_INLINE double log_ratio(double beta, double gamma, double change, double normalisers) {
    return (gamma - beta) * change + normalisers;
  }

  static void step(const Rng& rng, const Settings& s, const Heat& heat, Board& board, char* memory, Info& info) {
    [[maybe_unused]] Index* const path = reinterpret_cast<Index*>(memory);
    Uniforms drawn(rng, Purpose::direction);
    const double gamma_min = s.gamma_min * heat.ratio, gamma_max = s.gamma_max * heat.ratio;
    double gamma = gamma_min + (gamma_max - gamma_min) * drawn(0);
    const auto up = static_cast<Index>(board.up());
    Index k = s.walk_min + static_cast<Index>(drawn(1) * (s.walk_max - s.walk_min + 1));
    k = k < s.walk_max ? k : s.walk_max;
    if (s.policy.rows > 0) {
      const double* row = s.policy.value[policy_row(s.policy, rng)];
      if (s.policy.has[0]) gamma = row[0] * heat.ratio;
      if (s.policy.has[1]) k = static_cast<Index>(row[1]);
    }
    k = k < up ? k : up;
    NumberSequence<std::conditional_t<in_rows<Board>, std::uint64_t, double>> chosen(rng, Purpose::proposal,
                                                                                     static_cast<std::uint32_t>(2 * k));
    board.set_law({gamma == 0 ? Law::equal : Law::heat_bath, gamma});
    const bool kept = keeps(s, board.model());
    if constexpr (can_keep)
      if (kept) typename Board::Kept(board.model(), memory).take(board);
    const double before = board.energy();
    double normalisers = 0, from = 1, back = 1;
    [[maybe_unused]] double tilted = 0;
    const auto flips = [&](auto is_up) {
      constexpr int side = decltype(is_up)::value;
      for (Index t = side ? 0 : k, last = side ? k : 2 * k; t < last; ++t) {
        const auto number = chosen(static_cast<std::uint32_t>(t));
        const double total = board.total(side);
        if constexpr (in_rows<Board>) {
          const auto place = board.choose(side, number);
          tilted += board.tilt(side, place);
          board.flip(side, place);
        } else {
          const Index i = board.choose(side, total, number);
          board.flip(i);
          if (!kept) path[t] = i;
        }
        from *= total;
        back *= board.total(1 - side);
        if (t % flips_to_a_log == flips_to_a_log - 1) normalisers += math::log(from / back), from = back = 1;
      }
    };
    flips(std::true_type{});
    flips(std::false_type{});
    normalisers += math::log(from / back);
    const double change = board.energy() - before;
    // Weights of rows are rounded: what their ratios were stands in for gamma times the change.
    const double log_r = in_rows<Board> ? log_ratio(heat.beta, 0, change, normalisers + tilted)
                                        : log_ratio(heat.beta, gamma, change, normalisers);
    info.acceptance_rate = log_r < 0 ? math::exp(log_r) : 1;
    info.accepted = uniform(rng, Purpose::accept) < info.acceptance_rate;
    if (!info.accepted) {
      if constexpr (can_keep)
        if (kept) board.take(typename Board::Kept(board.model(), memory));
      for (Index t = kept ? 0 : 2 * k; t-- > 0;) board.flip(path[t]);
    }
    info.stats[0] = k, info.stats[1] = gamma, info.stats[2] = 2 * k;
  }
};

}  // namespace kilochain::discrete
