#include "host/run/unequal_modes.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "host/learn/learnt_metric.hpp"
#include "host/learn/normal_mixture.hpp"
#include "host/run/mode_groups.hpp"
#include "host/run/relocate.hpp"
#include "host/run/search_modes.hpp"
#include "host/run/target_gradients.hpp"
#include "kernels/random/draw.hpp"

namespace kilochain {
namespace {

constexpr double negligible = 1e-4;         // of the mass
constexpr double least_apart = 0.9;         // of draws, whose mode by the laws is their chain's
constexpr std::int64_t most_searched = 64;  // coordinates of a posterior that seems to have one mode
constexpr int most_looks = 3;               // for more modes, as long as there are
constexpr std::int64_t most_mixed = 32;     // coordinates: of more, draws tell no covariances
constexpr std::int64_t draws_of_mixture = 4000;
constexpr std::int64_t draws_of_law = 1000, at_once = 1024;  // at_once: points that are evaluated together

/// Of draws (draw, n) their law, as metrics are learnt; lp: of the draws.
template <class Real>
Overlay::Law law_of(const std::vector<Real>& x, Eigen::Index n, TargetGradients<Real>& gradients_at,
                    std::vector<double>& lp) {
  const auto dim = static_cast<Index>(n);
  const std::vector<Real> g = gradients_at(x, &lp);
  MetricLearner learner(dim);
  learner.add(x.data(), g.data(), static_cast<Index>(lp.size()));
  const std::vector<double> factor = learner.factor(), mean = mean_of(x, g, factor, agreement(x, g, factor, dim));
  return {Eigen::Map<const Eigen::VectorXd>(mean.data(), n),
          Eigen::Map<const Eigen::MatrixXd>(factor.data(), n, n).transpose(), 0};  // its rows were stored
}

/// Of the mass about draws with that law, one chain's after the other's.
template <class Real>
LogMass mass_of(const Overlay::Law& law, const std::vector<Real>& x, const std::vector<double>& lp,
                TargetGradients<Real>& gradients_at) {
  const auto n = law.mean.size();
  const LogMass mass = mass_of_gaussian(Eigen::Map<const Eigen::ArrayXd>(lp.data(), std::ssize(lp)).mean(),
                                        law.factor.diagonal().array().log().sum(), n);
  if (n > most_bridged) return mass;
  const LogMass bridged = log_mass<Real>(std::vector<double>(x.begin(), x.end()), lp, std::ref(gradients_at));
  return bridged.error < mass.error ? bridged : mass;
}

/// Draws of the chains in one group, every so many-th.
template <class Real>
std::vector<Real> draws_in(int group, const std::vector<int>& groups, const FrozenDraws<Real>& draws,
                           std::int64_t wanted) {
  const std::int64_t all = std::ranges::count(groups, group) * draws.count,
                     every = std::max<std::int64_t>(1, all / wanted);
  std::vector<Real> out;
  std::int64_t k = 0;
  for (std::int64_t c = 0; c < draws.chains; ++c)
    for (Count s = 0; groups[static_cast<std::size_t>(c)] == group && s < draws.count; ++s)
      if (k++ % every == 0) out.insert(out.end(), draws.row(c, s), draws.row(c, s) + draws.dim);
  return out;
}

/// Of each group that has some of the mass, the largest first; `groups` become the numbers of these, -1 of the others.
template <class Real>
std::vector<Overlay::Law> laws_of(const FrozenDraws<Real>& draws, std::vector<int>& groups,
                                  TargetGradients<Real>& gradients_at, std::int64_t& gradients) {
  struct OfGroup {
    Overlay::Law law;
    LogMass mass;
    int group;
  };
  std::vector<OfGroup> all;
  for (int group = 0; group <= std::ranges::max(groups); ++group) {
    if (std::ranges::count(groups, group) == 0) continue;
    const auto x = draws_in(group, groups, draws, std::max<std::int64_t>(draws_of_law, 4 * draws.dim));
    std::vector<double> lp;
    Overlay::Law law = law_of(x, draws.dim, gradients_at, lp);
    const LogMass mass = mass_of(law, x, lp, gradients_at);
    gradients += 3 * std::ssize(lp) / 2;
    law.log_share = mass.value;
    if (law.factor.allFinite() && law.mean.allFinite() && std::isfinite(mass.value))
      all.push_back({std::move(law), mass, group});
  }
  if (all.empty()) return {};
  std::ranges::stable_sort(all, std::greater{}, [](const OfGroup& of) { return of.mass.value; });
  const LogMass most = all[0].mass;
  std::erase_if(all, [&](const OfGroup& of) {
    return of.mass.value < most.value + std::log(negligible) - 3 * std::hypot(of.mass.error, most.error);
  });
  std::vector<Overlay::Law> laws;
  std::vector<int> modes(groups.size(), -1);
  for (OfGroup& of : all) {
    for (std::size_t c = 0; c < groups.size(); ++c)
      if (groups[c] == of.group) modes[c] = static_cast<int>(laws.size());
    laws.push_back(std::move(of.law));
  }
  groups = std::move(modes);
  return laws;
}

/// Groups of two chains and more.
std::ptrdiff_t groups_of_chains(const std::vector<int>& groups) {
  std::ptrdiff_t out = 0;
  for (int group = 0; group <= std::ranges::max(groups); ++group) out += std::ranges::count(groups, group) > 1;
  return out;
}

/// Of chains that a search has sent, the last ones, two to a place: who is alone in a group is on its way, as along a
/// funnel, and in none.
void leave_strays(std::vector<int>& groups, std::size_t sent) {
  for (int& group : groups | std::views::drop(groups.size() - sent))
    if (std::ranges::count(groups, group) == 1) group = -1;
}

/// Draws: (their chain's mode, theirs by the laws).
template <class Real>
Eigen::MatrixXd told_apart(const FoundModes& found, const FrozenDraws<Real>& draws) {
  const auto modes = static_cast<Eigen::Index>(found.overlay.size());
  Eigen::MatrixXd told = Eigen::MatrixXd::Zero(modes, modes);
  for (std::int64_t c = 0; c < draws.chains; ++c) {
    const int mode = found.of_chain[static_cast<std::size_t>(c)];
    for (Count s = 0; mode >= 0 && s < draws.count; ++s) {
      Overlay::Vector at =
          Eigen::Map<const Eigen::Matrix<Real, -1, 1>>(draws.row(c, s), draws.dim).template cast<double>();
      ++told(mode, static_cast<Eigen::Index>(found.overlay.lay(at)));
    }
  }
  return told;
}

/// Groups between which chains go are one: as long as the laws do not tell draws apart, the two that they tell apart
/// worst. Not where an audit has failed: chains may yet come to stay in modes. Whether draws are told apart in the end.
template <class Real>
bool merge_until_apart(FoundModes& found, const FrozenDraws<Real>& draws, bool may_merge,
                       TargetGradients<Real>& gradients_at, std::int64_t& gradients) {
  while (found.overlay.size() > 0) {
    const Eigen::MatrixXd told = told_apart(found, draws);
    if (told.trace() >= least_apart * told.sum()) return true;
    if (!may_merge || told.rows() == 2) return false;
    const Eigen::VectorXd each = told.rowwise().sum();
    double worst = -1;
    int one = 0, other = 1;
    for (int a = 0; a < told.rows(); ++a)
      for (int b = a + 1; b < told.rows(); ++b)
        if (const double mixed = (told(a, b) + told(b, a)) / std::min(each[a], each[b]); mixed > worst)
          worst = mixed, one = a, other = b;
    std::ranges::replace(found.of_chain, other, one);
    found.overlay = Overlay(laws_of(draws, found.of_chain, gradients_at, gradients));
  }
  return false;
}

/// Draws of running chains that are not their chain's last one again, about `wanted` of them at most: a chain that
/// stands for long would look like a narrow mode.
template <class Real>
std::vector<Real> different_draws(const FrozenDraws<Real>& draws, std::int64_t wanted) {
  std::vector<const Real*> rows;
  for (const std::int64_t c : draws.running)
    for (Count s = 0; s < draws.count; ++s)
      if (s == 0 || !std::equal(draws.row(c, s), draws.row(c, s) + draws.dim, draws.row(c, s - 1)))
        rows.push_back(draws.row(c, s));
  const std::size_t every = std::max<std::size_t>(1, rows.size() / static_cast<std::size_t>(wanted));
  std::vector<Real> out;
  for (std::size_t k = 0; k < rows.size(); k += every) out.insert(out.end(), rows[k], rows[k] + draws.dim);
  return out;
}

/// (chain): each is in the first mode, but those that are quarantined in none.
template <class Real>
std::vector<int> all_in_first(const FrozenDraws<Real>& draws) {
  std::vector<int> modes(static_cast<std::size_t>(draws.chains), -1);
  for (const std::int64_t c : draws.running) modes[static_cast<std::size_t>(c)] = 0;
  return modes;
}

/// Where chains go between modes, as over a floor, each draw (draw, n) is in one all the same: a mixture's laws tell.
/// One law is wide, for what is between the others.
template <class Real>
bool mix(FoundModes& found, const std::vector<Real>& x, Eigen::Index n) {
  if (x.empty()) return false;
  const Eigen::MatrixXd at =
      Eigen::Map<const Eigen::Matrix<Real, -1, -1>>(x.data(), n, std::ssize(x) / n).template cast<double>();
  std::vector<Overlay::Law> laws = found.overlay.laws();
  if (!found.mixed) {
    if (auto wide = law_of_all(at)) laws.push_back(std::move(*wide));
    for (Overlay::Law& law : laws) law.log_share = 0;
  }
  laws = fit_mixture(at, std::move(laws));
  if (laws.size() < 2) return false;
  found.overlay = Overlay(std::move(laws)), found.mixed = true;
  return true;
}

}  // namespace

template <class Real>
InModes put_into_modes(const Phases<Real>& run, std::vector<Real>& points,
                       const std::function<DrawId(std::int64_t)>& of) {
  const Overlay& overlay = run.coordinates->overlay();
  const Eigen::Index n = run.dim();
  const std::int64_t all = std::ssize(points) / n, modes = std::ssize(overlay.laws());
  TargetGradients<Real> gradients_at(run, run.coordinates->plain());
  const auto size = static_cast<std::size_t>(all);
  InModes out{std::vector<int>(size, -1), std::vector<double>(size, NAN)};
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t count = std::min(at_once, all - first);
    std::vector<Real> images(static_cast<std::size_t>(count * modes * n));
    Overlay::Vector u, x;
    const auto point = [&](std::int64_t k) {
      return Eigen::Map<Eigen::Matrix<Real, -1, 1>>(points.data() + (first + k) * n, n);
    };
    const auto image = [&](std::int64_t k, std::int64_t mode) {
      return Eigen::Map<Eigen::Matrix<Real, -1, 1>>(images.data() + (k * modes + mode) * n, n);
    };
    for (std::int64_t k = 0; k < count; ++k) {
      u = point(k).template cast<double>();
      for (std::int64_t mode = 0; mode < modes; ++mode) {
        overlay.image(static_cast<std::size_t>(mode), u, x);
        image(k, mode) = x.template cast<Real>();
      }
    }
    std::vector<double> lp;
    gradients_at(images, &lp);
    std::vector<double> terms(static_cast<std::size_t>(modes));
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t mode = 0; mode < modes; ++mode) {
        x = image(k, mode).template cast<double>();
        const double term = lp[static_cast<std::size_t>(k * modes + mode)] +
                            overlay.log_weight(static_cast<std::size_t>(mode), x, nullptr);
        terms[static_cast<std::size_t>(mode)] = std::isnan(term) ? -INFINITY : term;
      }
      if (!(std::ranges::max(terms) > -INFINITY)) continue;
      const DrawId id = of(first + k);
      const Rng rng{id.seed, static_cast<std::uint32_t>(id.chain), id.draw};
      const std::size_t mode = Overlay::pick(terms, uniform(rng, Purpose::mode, 0));
      const auto at = static_cast<std::size_t>(first + k);
      out.modes[at] = static_cast<int>(mode);
      out.lp[at] = lp[static_cast<std::size_t>(k * modes) + mode];
      point(k) = image(k, static_cast<std::int64_t>(mode));
    }
  }
  return out;
}

template <class Real>
std::optional<FoundModes> find_modes(const Phases<Real>& run, const FrozenDraws<Real>& draws, const AuditFigures& audit,
                                     std::int64_t iterations, std::int64_t& gradients) {
  const bool one_mode = audit.passed, may_mix = audit.stuck.empty() && draws.dim <= most_mixed;  // stuck: in tails
  if (draws.dim > (one_mode ? most_searched : most_overlaid) || run.coordinates->overlay().any() || run.stop) return {};
  TargetGradients<Real> gradients_at(run, run.coordinates->plain());
  FrozenDraws<Real> all = draws;
  run.coordinates->to_target(all.x);
  FoundModes found;
  if (one_mode) {
    std::vector<double> lp;
    const std::vector<int> one_group(static_cast<std::size_t>(draws.chains), 0);
    found.overlay = Overlay({law_of(draws_in(0, one_group, all, 64 + 2 * draws.dim), draws.dim, gradients_at, lp)});
    gradients += std::ssize(lp);
  } else {
    found.of_chain = mode_groups(all, gradients_at, gradients);
    if (groups_of_chains(found.of_chain) < 2) return {};
    found.overlay = Overlay(laws_of(all, found.of_chain, gradients_at, gradients));
  }
  if (found.overlay.size() < (one_mode ? 1 : 2)) return {};
  const std::int64_t so_far = std::max(gradients, 2 * iterations * draws.chains), allowed = so_far / 10;
  for (int look = 0; look < most_looks && !run.stop; ++look) {
    const std::vector<Real> more = draws_elsewhere(run, found.overlay, allowed, draws.count, gradients);
    if (more.empty()) break;
    for (std::size_t k = 0; k < more.size(); k += static_cast<std::size_t>(draws.count * draws.dim))
      all.running.push_back(all.chains++);
    all.x.insert(all.x.end(), more.begin(), more.end());
    std::vector<int> groups = mode_groups(all, gradients_at, gradients);
    leave_strays(groups, static_cast<std::size_t>(all.chains - draws.chains));
    Overlay seen(laws_of(all, groups, gradients_at, gradients));
    const std::size_t known = found.overlay.size();
    if (look > 0 && seen.size() < known) {  // chains on their way all over hide modes that were found before
      found.of_chain.resize(static_cast<std::size_t>(all.chains), -1);
      break;
    }
    found.of_chain = std::move(groups), found.overlay = std::move(seen);
    if (found.overlay.size() <= known) break;
  }
  if (found.of_chain.empty()) return {};
  if (!merge_until_apart(found, all, one_mode, gradients_at, gradients))
    if (one_mode || !may_mix || !mix(found, different_draws(all, draws_of_mixture), all.dim)) return {};
  if (found.mixed) found.of_chain = all_in_first(all);
  const bool no_chain =
      std::ranges::all_of(found.of_chain | std::views::take(draws.chains), [](int mode) { return mode < 0; });
  if (found.overlay.size() < (no_chain ? 1 : 2) || found.overlay.size() > most_modes) return {};
  found.of_chain.resize(static_cast<std::size_t>(draws.chains));
  return found;
}

template <class Real>
std::optional<FoundModes> fit_again(const Phases<Real>& run, const FrozenDraws<Real>& draws,
                                    const std::vector<std::int64_t>& stuck, std::int64_t& gradients) {
  FrozenDraws<Real> moving = draws;
  std::erase_if(moving.running, [&](std::int64_t c) { return std::ranges::find(stuck, c) != stuck.end(); });
  std::vector<Real> x = different_draws(moving, draws_of_mixture);
  run.coordinates->to_target(x);
  put_into_modes(run, x, [&](std::int64_t k) { return DrawId{~run.options.seed, k, std::int64_t(1) << 39}; });
  FoundModes found{run.coordinates->overlay(), all_in_first(draws), true};
  gradients += std::ssize(x) / draws.dim * std::ssize(found.overlay.laws());
  if (!mix(found, x, draws.dim)) return {};
  return found;
}

template InModes put_into_modes(const Phases<float>&, std::vector<float>&, const std::function<DrawId(std::int64_t)>&);
template InModes put_into_modes(const Phases<double>&, std::vector<double>&,
                                const std::function<DrawId(std::int64_t)>&);
template std::optional<FoundModes> find_modes(const Phases<float>&, const FrozenDraws<float>&, const AuditFigures&,
                                              std::int64_t, std::int64_t&);
template std::optional<FoundModes> find_modes(const Phases<double>&, const FrozenDraws<double>&, const AuditFigures&,
                                              std::int64_t, std::int64_t&);
template std::optional<FoundModes> fit_again(const Phases<float>&, const FrozenDraws<float>&,
                                             const std::vector<std::int64_t>&, std::int64_t&);
template std::optional<FoundModes> fit_again(const Phases<double>&, const FrozenDraws<double>&,
                                             const std::vector<std::int64_t>&, std::int64_t&);

}  // namespace kilochain
