#include "host/learn/learn_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "host/learn/centred_effects.hpp"
#include "host/learn/hierarchy.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double least_gain = 1, of_coordinate = 0.05, of_direction = 0.1;  // of log det Cov(y) + log det Cov(g_y)
constexpr double unmixed = 0.1;   // so far below 0 it may be, a coordinate, beside what few draws make of it
constexpr double stands_out = 3;  // a parent's score, of the median
constexpr double well_told = 10;  // by data, of what the prior says
constexpr int candidates = 3, probes = 8;
constexpr std::size_t most_steps = 8;
constexpr Eigen::Index most_searched = 256;  // beyond, the model's own scales alone

/// v about its median, in standard deviations, with what lies far out drawn in.
ArrayXd along(const VectorXd& v) {
  const ArrayXd t = (v.array() - median(v)) / std::max(robust_sd(v), 1e-300);
  return t.max(-2.5).min(2.5);
}

/// For each coordinate v the squared size of its covariance with z z^T - h h^T, estimated by random signs.
VectorXd scores(const MatrixXd& x, const Whitened& w) {
  const Eigen::Index n = x.rows(), draws = x.cols();
  MatrixXd t(n, draws);
  for (Eigen::Index i = 0; i < n; ++i) t.row(i) = along(x.row(i)).matrix().transpose();
  t.colwise() -= t.rowwise().mean();
  t *= weights_of(w.z, w.h).matrix().asDiagonal();
  std::mt19937_64 random(1);
  VectorXd out = VectorXd::Zero(n);
  for (int k = 0; k < probes; ++k) {
    VectorXd signs(n);
    for (double& s : signs) s = (random() >> 63) ? 1 : -1;
    const VectorXd by_z = w.z.transpose() * signs, by_h = w.h.transpose() * signs;
    const MatrixXd product = w.z * by_z.asDiagonal() - w.h * by_h.asDiagonal();
    out += (t * product.transpose()).rowwise().squaredNorm();
  }
  return out;
}

/// f(x, g): of some of the draws at a time.
template <class F>
void in_blocks(DrawsAndGradients& d, F&& f) {
  constexpr Eigen::Index block = 64;
  for (Eigen::Index first = 0; first < d.x.cols(); first += block) {
    const Eigen::Index count = std::min(block, d.x.cols() - first);
    f(d.x.middleCols(first, count), d.g.middleCols(first, count));
  }
}

/// The draws as the target has them.
DrawsAndGradients out_of(const LearntCoordinates& coordinates, DrawsAndGradients d) {
  LearntCoordinates::Trace trace;
  in_blocks(d, [&](auto x, auto g) {
    coordinates.to_target(x, trace);
    coordinates.push_forward(g, trace);
  });
  return d;
}

struct LearntSoFar {
  LearntCoordinates coordinates;
  DrawsAndGradients draws;  ///< in them
  mutable std::optional<Whitened> found = {};
  mutable bool looked = false;

  /// Made when it is asked for: it costs 30 n^3. Null where the draws do not vary.
  const Whitened* white() const {
    if (!std::exchange(looked, true)) found = whitened(draws);
    return found ? &*found : nullptr;
  }
  double divergence() const { return white() ? white()->divergence : INFINITY; }
};

/// As many draws as the looks for effects need.
DrawsAndGradients some_of(const DrawsAndGradients& d) {
  const Eigen::Index n = d.x.rows(), count = std::min(d.x.cols(), std::max<Eigen::Index>(200, 4 * n)),
                     every = d.x.cols() / count;
  const auto some = Eigen::seqN(0, count, every);
  return {d.x(Eigen::all, some), d.g(Eigen::all, some)};
}

double least_gain_of(Eigen::Index n, Eigen::Index directions) {
  return least_gain + of_coordinate * static_cast<double>(n) + of_direction * static_cast<double>(directions);
}

/// Centred effects u_i = x_i e^{c t} in place of x_i.
Noncentring centring(const ScaledEffects& scaled, const MatrixXd& x) {
  const auto k = static_cast<Eigen::Index>(scaled.effects.size());
  const ArrayXd zero = ArrayXd::Zero(k), rates = ArrayXd::Constant(k, -scaled.scale.rate);
  const double centre = scaled.scale.u(median(x.row(scaled.parent)));
  return {scaled.parent, centre, {}, {}, rates, zero, zero, zero, zero, scaled.scale, scaled.effects};
}

/// So far, and one step more by it; none where that is not finite.
std::optional<LearntSoFar> with(const LearntSoFar& so_far, const Noncentring& step) {
  LearntCoordinates one;
  one.add(step);
  LearntSoFar next{so_far.coordinates, draws_in(one, so_far.draws)};
  if (!next.draws.x.allFinite() || !next.draws.g.allFinite()) return {};
  next.coordinates.add(step);
  return next;
}

/// One step by `parent`, whichever law of its scale fits best.
std::optional<LearntSoFar> improved_by(Eigen::Index parent, const LearntSoFar& so_far, int threads) {
  const auto at = given(parent, {}, so_far.draws, *so_far.white());
  if (!at) return {};
  constexpr int laws = std::size(scale_laws);
  std::optional<LearntSoFar> found[laws];
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int k = 0; k < laws; ++k) {
    const ScaleLaw& scale = scale_laws[k];
    if (scale.bounded) continue;
    const auto model = fitted(*at, scale.rate);
    auto step = model ? step_of(*at, scale.rate, *model) : std::nullopt;
    if (!step) continue;
    step->scale = scale;
    const Eigen::Index directions = step->rates.size();
    auto next = with(so_far, *step);
    if (next && next->divergence() < so_far.divergence() - least_gain_of(so_far.draws.x.rows(), directions))
      found[k] = std::move(next);
  }
  std::optional<LearntSoFar>* best = found;
  for (auto& one : found)
    if (one && (!*best || one->divergence() < (*best)->divergence())) best = &one;
  return std::move(*best);
}

/// One step more, by the parent that stands out most among those with which it pays.
bool improve(LearntSoFar& so_far, int threads) {
  const Eigen::Index n = so_far.draws.x.rows();
  const Whitened* const white = so_far.white();
  if (!white) return false;
  const VectorXd score = scores(so_far.draws.x, *white);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) { return score[a] > score[b]; });
  const double usual = score[order[static_cast<std::size_t>(n / 2)]];
  order.resize(static_cast<std::size_t>(std::min<Eigen::Index>(candidates, n)));
  for (const Eigen::Index parent : order) {
    if (score[parent] < stands_out * usual) return false;
    if (auto next = improved_by(parent, so_far, threads)) {
      so_far = *std::move(next);
      return true;
    }
  }
  return false;
}

/// Of centred effects the directions of which the data say little non-centred, group after group: first those whose
/// scale varies most, for a step knows others' scales at their medians alone.
LearntSoFar noncentred(LearntSoFar at, std::vector<ScaledEffects> groups) {
  const auto varies = [&](const ScaledEffects& e) {
    return std::abs(e.scale.rate) * robust_sd(e.scale.u(ArrayXd(at.draws.x.row(e.parent).transpose())));
  };
  std::ranges::sort(groups, [&](const auto& a, const auto& b) { return varies(a) > varies(b); });
  const auto data = data_precision(at.draws, groups);
  if (!data) return at;
  VectorXd middle = VectorXd::Zero(at.draws.x.rows());
  for (const ScaledEffects& e : groups) middle[e.parent] = median(at.draws.x.row(e.parent));
  LearntCoordinates since;
  LearntCoordinates::Trace trace;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    VectorXd origin = middle;
    since.to_target(origin, trace);
    if (!at.white()) return at;
    const auto given_parent = given(groups[k].parent, groups[k].scale, at.draws, *at.white());
    const auto step = given_parent ? step_of(*given_parent, groups[k].scale.rate,
                                             model_of(k, *given_parent, groups, *data, origin - middle))
                                   : std::nullopt;
    if (auto next = step ? with(at, *step) : std::nullopt) at = *std::move(next), since.add(*step);
  }
  return at;
}

/// The effects of which data say from `least` to `most` times as much as their priors.
ScaledEffects told_between(double least, double most, const ScaledEffects& all) {
  ScaledEffects part{all.parent, all.scale, {}, {}, all.mean, {}, {}};
  for (std::size_t k = 0; k < all.told.size(); ++k)
    if (all.told[k] > least && all.told[k] <= most) {
      part.effects.push_back(all.effects[k]);
      part.precisions.push_back(all.precisions[k]);
      part.told.push_back(all.told[k]);
    }
  return part;
}

struct Centred {
  LearntSoFar learnt;
  double left = INFINITY;  ///< to gain, and for the noise of the step that led there
};

/// A group of scaled effects centred, and of these the directions of which the data say little non-centred again; or
/// those alone that data tell.
template <class Cost>
std::optional<Centred> centred(const LearntSoFar& so_far, const ScaledEffects& scaled, const Cost& cost) {
  std::optional<Centred> best;
  const auto look = [&](LearntSoFar at, std::size_t effects) {
    const double left = cost(at, static_cast<Eigen::Index>(effects));
    if (!best || left < best->left) best = Centred{std::move(at), left};
  };
  if (const auto out = with(so_far, centring(scaled, so_far.draws.x))) {
    look(noncentred(*out, {scaled}), scaled.effects.size());
    look(*out, scaled.effects.size());
  }
  const ScaledEffects some = told_between(1, INFINITY, scaled);
  if (!some.effects.empty() && some.effects.size() < scaled.effects.size())
    if (auto out = with(so_far, centring(some, so_far.draws.x))) look(*std::move(out), some.effects.size());
  return best;
}

/// Effects that coordinates scale, by how the model has them.
struct EffectGroups {
  std::vector<ScaledEffects> scaled, centred;
  bool none() const { return scaled.empty() && centred.empty(); }
};

/// All effects centred, and of all the directions of which the data say little non-centred.
LearntSoFar with_all(LearntSoFar at, const EffectGroups& groups) {
  std::vector<ScaledEffects> all = groups.centred;
  for (const ScaledEffects& effects : groups.scaled)
    if (auto next = with(at, centring(effects, at.draws.x))) at = *std::move(next), all.push_back(effects);
  return noncentred(std::move(at), all);
}

/// By each coordinate that scales effects, as long as it pays: first by the one with which it pays most. What is left
/// to gain is `cost` of draws in coordinates to which a step of so many effects led; it has to be below that of none.
/// After a step what the others gain is looked at again one by one, the largest first, and of all before it ends.
/// Leaves in `groups` those that were not taken.
template <class Cost>
void centre_one_by_one(LearntSoFar& so_far, std::vector<ScaledEffects>& groups, const Cost& cost, int threads) {
  struct Candidate {
    ScaledEffects group;
    std::optional<Centred> found = {};
    double gain = INFINITY;
    bool looked_at = false;
  };
  std::vector<Candidate> candidates;
  for (ScaledEffects& group : groups) candidates.push_back({std::move(group)});
  groups.clear();
  double none = cost(so_far, 0);
  const auto look = [&](std::size_t count) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::size_t k = 0; k < count; ++k) {
      Candidate& one = candidates[k];
      if (std::exchange(one.looked_at, true)) continue;
      one.found = centred(so_far, one.group, cost);
      one.gain = one.found ? none - one.found->left : -INFINITY;
    }
    std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::gain);
  };
  look(candidates.size());
  while (!candidates.empty()) {
    if (!candidates[0].looked_at) {
      look(1);
    } else if (candidates[0].gain > 0) {
      so_far = std::move(candidates[0].found->learnt);
      candidates.erase(candidates.begin());
      none = cost(so_far, 0);
      for (Candidate& other : candidates) other.looked_at = false;
    } else {
      if (std::ranges::all_of(candidates, &Candidate::looked_at)) break;
      look(candidates.size());
    }
  }
  for (Candidate& left : candidates) groups.push_back(std::move(left.group));
}

/// By all of them at once, the effects that data tell well: of x e^{v + w}, as of a horseshoe's coefficients, data tell
/// the product, and centred by v or w alone it mixes no better. Whether it pays; then they are no more in `groups`.
template <class Cost>
bool centre_together(LearntSoFar& so_far, std::vector<ScaledEffects>& groups, const Cost& cost) {
  std::optional<LearntSoFar> at = so_far;
  Eigen::Index parents = 0, touched = 0;
  for (const ScaledEffects& group : groups) {
    const ScaledEffects some = told_between(well_told, INFINITY, group);
    if (some.effects.empty() || !at) continue;
    at = with(*at, centring(some, at->draws.x));
    ++parents, touched += 1 + std::ssize(some.effects);
  }
  if (parents < 2 || !at || !(cost(*at, touched - 1) < cost(so_far, 0))) return false;
  so_far = *std::move(at);
  for (ScaledEffects& group : groups) group = told_between(-1, well_told, group);
  std::erase_if(groups, [](const ScaledEffects& group) { return group.effects.empty(); });
  return true;
}

template <class Cost>
void centre(LearntSoFar& so_far, std::vector<ScaledEffects> groups, const Cost& cost, int threads) {
  do centre_one_by_one(so_far, groups, cost, threads);
  while (centre_together(so_far, groups, cost));
}

/// Priors, and scaled effects of parents that have none.
EffectGroups exact_groups(const DrawsAndGradients& points, std::vector<ScaledEffects> priors, int threads) {
  std::vector<ScaledEffects> scaled = scaled_effects(points, threads);
  std::erase_if(scaled, [&](const ScaledEffects& e) {
    return std::ranges::any_of(priors, [&](const ScaledEffects& p) { return p.parent == e.parent; });
  });
  return {std::move(scaled), std::move(priors)};
}

/// And centred effects.
EffectGroups all_groups(const DrawsAndGradients& points, std::vector<ScaledEffects> priors, int threads) {
  EffectGroups out = exact_groups(points, std::move(priors), threads);
  std::vector<ScaledEffects> known = out.centred;
  known.insert(known.end(), out.scaled.begin(), out.scaled.end());
  const auto more = centred_effects(points, known, threads);
  out.centred.insert(out.centred.end(), more.begin(), more.end());
  return out;
}

}  // namespace

DrawsAndGradients draws_in(const LearntCoordinates& coordinates, const DrawsAndGradients& d) {
  LearntCoordinates::Trace trace;
  DrawsAndGradients out = d;
  in_blocks(out, [&](auto x, auto g) {
    coordinates.from_target(x);
    MatrixXd there = x;
    coordinates.to_target(there, trace);
    coordinates.pull_back(g, trace);
  });
  return out;
}

Learning learn_coordinates(LearntCoordinates& coordinates, DrawsAndGradients& draws, const KnownPriors& known,
                           int threads) {
  const Eigen::Index n = draws.x.rows();
  if (n < 2 || n > most_coordinates || draws.x.cols() < 3 * n) return Learning::none;
  const std::optional<Whitened> now = whitened(draws);
  LearntSoFar learnt{{}, out_of(coordinates, draws)};
  if (!now || !learnt.white()) return Learning::none;
  const double size = static_cast<double>(n), bar = -size * (unmixed + size / static_cast<double>(draws.x.cols()));
  if (std::min(now->divergence, learnt.divergence()) < bar) return Learning::unmixed;
  const auto divergence = [](const LearntSoFar& l) { return l.divergence(); };
  const EffectGroups groups =
      all_groups(some_of(learnt.draws), known ? known(learnt.draws) : std::vector<ScaledEffects>{}, threads);
  const auto improved = [n, threads](LearntSoFar at) {
    while (n <= most_searched && at.coordinates.size() < most_steps && improve(at, threads)) continue;
    return at;
  };
  std::optional<LearntSoFar> all;
  if (!groups.centred.empty()) all = improved(with_all(learnt, groups));
  centre(
      learnt, groups.scaled,
      [&](const LearntSoFar& l, Eigen::Index effects) {
        return divergence(l) + (effects > 0 ? least_gain_of(effects + 1, 0) : 0);
      },
      threads);
  learnt = improved(std::move(learnt));
  if (all && divergence(*all) < divergence(learnt)) learnt = *std::move(all);
  if (!(learnt.divergence() < now->divergence - least_gain_of(n, 0))) return Learning::none;
  coordinates = std::move(learnt.coordinates), draws = std::move(learnt.draws);
  return Learning::better;
}

LearntCoordinates centre_exact_effects(const DrawsAndGradients& points, std::vector<ScaledEffects> priors,
                                       int threads) {
  const EffectGroups groups = exact_groups(points, std::move(priors), threads);
  return groups.none() ? LearntCoordinates{} : with_all({{}, points}, groups).coordinates;
}

EffectCoordinates centre_effects(const DrawsAndGradients& points, const std::vector<ScaledEffects>& priors,
                                 int threads) {
  const EffectGroups groups = all_groups(points, priors, threads);
  LearntSoFar learnt{{}, points};
  if (groups.none() || !learnt.white()) return {};
  const auto bends = [](const LearntSoFar& l) { return l.white() ? nonlinearity(*l.white()) : INFINITY; };
  EffectCoordinates out;
  out.before = bends(learnt);
  if (!groups.centred.empty()) {
    LearntSoFar all = with_all(learnt, groups);
    out.to_try = std::move(all.coordinates), out.points = std::move(all.draws);
  }
  centre(
      learnt, groups.scaled,
      [&](const LearntSoFar& l, Eigen::Index effects) { return bends(l) + (effects > 0 ? 0.1 * out.before : 0); },
      threads);
  out.coordinates = std::move(learnt.coordinates);
  return out;
}

}  // namespace kilochain
