// Which trajectories pay: lengths of leapfrog, then of pairs of steps, are tried on all chains; of what is all but a
// Gaussian those of steps that turn: stage 3 of ensemble_warmup.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/learn/learnt_metric.hpp"
#include "host/learn/mixing.hpp"
#include "host/run/ensemble_warmup.hpp"
#include "host/run/target_gradients.hpp"
#include "host/statistics/pareto_tail.hpp"
#include "kernels/random/draw.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t trial_draws = 1024, trial_gradients = 100000;  // of all chains
constexpr std::int64_t fewest_draws = 256, usual_dim = 64;            // the more coordinates turn, the fewer draws tell
constexpr std::int64_t least_frozen = 8;
constexpr double least_accepted = 0.5;  // where it is less, chains far out may hardly move
constexpr double narrow = 0.25;         // spread of the times of pairs and turns about their mean
constexpr double longest = 512;         // steps of a trajectory, at most
constexpr double longer = 1.3;          // times of turns: from one trial to the next
constexpr double more = 1.4;            // and their numbers
constexpr double dear = 2;              // products of one chain at a time, over those of many
constexpr double plenty = 0.1;          // draws that a gradient is worth, where nothing else need be tried
constexpr double fair = 0.04;           // where else a metric would have to be learnt first
constexpr std::int64_t law_draws = 4000, least_law = 16;  // that the bent law is learnt from again
constexpr double first_bent = 17;                         // steps of trajectories of the bent law
constexpr double most_stay = 1.0 / 6;  // draws that one may stand where the normal hardly goes, over the root of all
constexpr std::int64_t most_weighed = 8000, fewest_weighed = 1000;  // draws of a mixture's normal, K densities each:
constexpr std::int64_t weighed_of = 20;                             // no more than this part of gradients so far
constexpr double heaviest = 0.7;                                    // shape of the tail of their weights
constexpr double normal_accepted = 0.85;  // of draws of a normal: where it is less, chains far out may hardly move
constexpr double quarter = 1.5;           // of a whitened Gaussian's period, less a little

}  // namespace

template <class Real>
void EnsembleWarmUp<Real>::leapfrog(double num_steps, double step) {
  metric_.stages = 1, metric_.turns = false, metric_.spread = 1;
  metric_.num_steps = num_steps, metric_.step_size = step;
}
template <class Real>
void EnsembleWarmUp<Real>::turns(double time, double number) {
  metric_.stages = 1, metric_.turns = true, metric_.spread = narrow;
  metric_.num_steps = number, metric_.step_size = time / number;
}
/// As few as make up `time` by steps that are not larger.
template <class Real>
void EnsembleWarmUp<Real>::pairs(double time, double largest) {
  metric_.stages = 2, metric_.turns = false, metric_.spread = narrow;
  metric_.num_steps = 2 * std::max(1.0, std::ceil(time / (2.6 * largest) - 0.01));
  metric_.step_size = time / metric_.num_steps;
}
/// In words, for people.
template <class Real>
std::string EnsembleWarmUp<Real>::trajectories() const {
  const double steps = metric_.num_steps, size = metric_.step_size;
  if (metric_.bent && metric_.bent->logit.empty()) return "proposals of the learnt normal";
  if (metric_.bent)
    return fmt::format("trajectories of {} steps in the learnt normal and {} observations", steps,
                       metric_.bent->logit.size());
  if (metric_.turns) return fmt::format("trajectories of {} turn{} by {:.2g}", steps, steps == 1 ? "" : "s", size);
  return fmt::format("trajectories of {} {} of {:.2g} on average", steps,
                     metric_.stages == 1 ? "leapfrog steps" : "steps in pairs", size);
}

/// Draws that a gradient is worth, of trajectories as the metric has them.
template <class Real>
double EnsembleWarmUp<Real>::worth(bool adapting) {
  tell(fmt::format("trajectories of {:.3g} steps", metric_.num_steps));
  if (!stand_.drawing) run_.chains.set_metric(adapting ? while_adapting() : metric_);
  const std::int64_t fewest = adapting ? least_trial : least_frozen;  // a step needs some to follow a new length
  const std::int64_t of_turns = std::clamp(trial_draws * usual_dim / run_.dim(), fewest_draws, trial_draws),
                     draws = metric_.turns ? of_turns : trial_draws,
                     wanted = std::min(draws / run_.options.num_chains, affordable(trial_gradients));
  const FrozenDraws<Real> block = draw(std::clamp(wanted, fewest, piece), adapting);
  if (block.count < fewest || out_.interrupted) return 0;
  if (metric_.finer_every == 1 && finer_for_all(block)) metric_.finer_every = seldom;
  const ThreadsOf threads(run_.context, run_.dim());
  double accepted = 0;
  for (const auto c : block.running) accepted += block.accepted[c] / static_cast<double>(block.running.size());
  const bool normal = metric_.bent && metric_.bent->logit.empty();
  if (metric_.turns && accepted < (normal && !of_mixture() ? normal_accepted : least_accepted)) return 0;
  const auto draws_seen = static_cast<double>(std::ssize(block.running) * block.count);
  const auto stays = [&] {
    if (of_mixture()) return tail_of_proposals() > heaviest;
    return longest_stay(block, metric_.factor, metric_.mean) > most_stay * std::sqrt(draws_seen);
  };
  if (normal && stays()) return 0;
  return mixing_of(block, metric_.factor, !nearly_gaussian()) / (gradients_of(block.mean_steps()) + beside_gradients());
}

/// Of weights of the law's draws, by the density that chains see: where it is heavy, chains would stay for long where
/// they seldom come.
template <class Real>
double EnsembleWarmUp<Real>::tail_of_proposals() {
  const Index n = run_.dim();
  std::vector<double> z(padded(static_cast<std::size_t>(n)) + 32), log_weights;
  std::vector<Real> x;
  const std::int64_t weighed = std::clamp(out_.gradients / weighed_of, fewest_weighed, most_weighed);
  for (std::int64_t k = 0; k < weighed; ++k) {
    normals(HostTeam{}, Rng{~run_.options.seed, static_cast<std::uint32_t>(k), out_.iterations}, Purpose::mode,
            Row(z.data(), z.size()), n);
    double square = 0;
    for (Index i = 0; i < n; ++i) {
      double at = law_.mean[static_cast<std::size_t>(i)];
      for (Index j = 0; j <= i; ++j) at += law_.factor[static_cast<std::size_t>(i * n + j)] * z[j];
      x.push_back(static_cast<Real>(at)), square += z[i] * z[i];
    }
    log_weights.push_back(square / 2);
  }
  std::vector<double> lp;
  TargetGradients<Real> gradients_at(run_);
  gradients_at(x, &lp);
  out_.gradients += weighed;
  for (std::size_t k = 0; k < lp.size(); ++k) log_weights[k] = std::isnan(lp[k]) ? -INFINITY : log_weights[k] + lp[k];
  return pareto_tail(std::move(log_weights));
}

/// What a trajectory costs, in gradients: of a normal alone a log density, which is half of one; of a bent one two, and
/// products with the observations in its steps and kicks.
template <class Real>
double EnsembleWarmUp<Real>::gradients_of(double steps) const {
  if (!metric_.bent) return steps;
  if (metric_.bent->logit.empty()) return 0.5;
  const double products = 4.0 * static_cast<double>(metric_.bent->lines.size()), flops = run_.target.info().flops;
  return 2 + (flops > 0 ? dear * (steps + 3) * products / flops : 0);
}

/// What a draw costs beside its trajectory, in steps of that: its normals and the keeping of its values, some 40
/// operations a coordinate. 0 where a target does not say what a gradient takes.
template <class Real>
double EnsembleWarmUp<Real>::beside_gradients() const {
  const double n = run_.dim(), flops = run_.target.info().flops;
  return flops > 0 ? 40 * n / (flops + (is_diagonal(metric_, run_.dim()) ? 12 * n : 4 * n * n)) : 0;
}

/// Leapfrog of the lengths that stand to be tried; doubled while that pays.
template <class Real>
void EnsembleWarmUp<Real>::try_lengths() {
  Stand& s = stand_;
  while (!s.lengths.empty()) {
    const double num_steps = s.lengths.front();
    if (!s.drawing) leapfrog(num_steps, s.leap > 0 ? s.leap : run_.chains.averaged_step());
    const double now = worth(true);
    if (out_.interrupted) return;
    if (now > s.best) s.length = num_steps;
    const bool pays = now > 0.8 * s.best;
    s.best = std::max(s.best, now);
    s.lengths.erase(s.lengths.begin());
    if (!s.neighbours && pays && 2 * num_steps <= longest) s.lengths = {2 * num_steps};
  }
}

template <class Real>
void EnsembleWarmUp<Real>::learn_length() {
  Stand& s = stand_;
  if (!refuted_ && (nearly_gaussian() || !law_.factor.empty())) try_bent();
  if (out_.interrupted || s.bent.worth > worth_bending() || from_rows_) return;
  learn_usual();
  constexpr double noise = 1.1;
  if (out_.interrupted || s.bent.worth <= noise * s.usual_worth) return;
  bend(s.bent.best);
  run_.chains.set_metric(metric_);
}

/// Leapfrog of every length up to twice a mean that doubles while that pays; then pairs of steps; where those do not
/// pay, half a doubling to both sides. Of what is all but a Gaussian, steps that turn.
template <class Real>
void EnsembleWarmUp<Real>::learn_usual() {
  Stand& s = stand_;
  if (nearly_gaussian()) return learn_turns();
  try_lengths();
  if (!out_.interrupted) learn_pairs();
  if (out_.interrupted) return;
  constexpr double noise = 1.1;  // must not choose between neighbours
  if (s.times.worth > noise * s.best) {
    pairs(s.times.best, s.largest);
    s.usual_worth = s.times.worth;
  } else {
    if (!std::exchange(s.neighbours, true))
      s.best *= noise, s.lengths = {std::round(0.7 * s.length), std::round(1.4 * s.length)};
    try_lengths();
    if (out_.interrupted) return;
    leapfrog(s.length, run_.chains.averaged_step());
    s.usual_worth = s.best;
  }
  run_.chains.set_metric(metric_);
}

/// Pairs of steps, of nearly one length: as long as leapfrog's best, longer while that pays, else shorter.
template <class Real>
void EnsembleWarmUp<Real>::learn_pairs() {
  Stand& s = stand_;
  if (s.largest == 0) {
    if (!s.drawing) {
      s.leap = run_.chains.averaged_step();
      s.times.first = s.times.next = s.leap * s.length;
      pairs(s.times.first, 1.3 * s.leap);
      run_.chains.set_metric(while_adapting());
    }
    draw(piece / 2, true);
    if (out_.interrupted) return;
    s.largest = run_.chains.averaged_step();
  }
  while (s.times.next > 0) {
    if (!s.drawing) pairs(s.times.next, s.largest);
    try_time();
    if (out_.interrupted) return;
  }
}

/// Steps that turn, for nearly a quarter of a period: as many as pay, then for shorter. Where they begin, leapfrog's
/// step tells.
template <class Real>
void EnsembleWarmUp<Real>::learn_turns() {
  Stand& s = stand_;
  if (s.numbers.first == 0)
    s.numbers.first = s.numbers.next = std::max(1.0, std::round(quarter / (2 * run_.chains.averaged_step())));
  while (s.numbers.next > 0) {
    if (!s.drawing) turns(quarter, s.numbers.next);
    const double now = worth(false);
    if (out_.interrupted) return;
    s.numbers.saw(
        now, [](double k) { return k < longest ? std::max(k + 1, std::round(more * k)) : 0; },
        [](double k) { return std::min(k - 1, std::round(k / more)); });
    if (s.numbers.next > 0) continue;
    const bool tried = s.numbers.worth > 0;  // else no iterations were left, or none accepts enough
    if (!tried) s.numbers.best = 2 * s.numbers.first;
    s.times = {quarter, quarter, s.numbers.worth, true, tried ? quarter / longer : 0};
  }
  const auto number = [&](double time) { return std::max(1.0, std::ceil(time / quarter * s.numbers.best - 0.01)); };
  while (s.times.next > 0) {
    if (!s.drawing) turns(s.times.next, number(s.times.next));
    try_time();
    if (out_.interrupted) return;
  }
  turns(s.times.best, number(s.times.best));
  s.usual_worth = s.times.worth;
  run_.chains.set_metric(metric_);
}

/// Trajectories of the bent law, of as many steps as pay; or proposals of the normal itself, where that is nearly all,
/// or modes of a mixture are laid over each other. Where they are worth little, chains go back to what they had.
template <class Real>
void EnsembleWarmUp<Real>::try_bent() {
  Stand& s = stand_;
  const bool mixture = of_mixture(), normal = nearly_gaussian() && !mixture, alone = normal || mixture;
  if (s.bent.first == 0) {
    usual_ = metric_, usual_.step_size = run_.chains.averaged_step(), bends_ = true;
    s.bent.first = s.bent.next = alone ? 1 : first_bent;
  }
  if (!normal && !s.drawing && s.multiplied == 0) bend(s.bent.first);
  if (!normal) multiply_anew(1);
  if (from_rows_ && !alone) learn_law_again(s.bent.first);
  while (s.bent.next > 0 && !out_.interrupted) {
    if (!s.drawing) bend(s.bent.next);
    const double now = worth(false);
    if (out_.interrupted) return;
    s.bent.saw(
        now, [&](double k) { return alone ? 0 : std::round(more * k); },
        [&](double k) { return alone || k < 3 ? 0 : std::round(k / more); });
  }
  if (out_.interrupted) return;
  if (s.bent.worth > worth_bending()) {
    if (!law_.factor.empty() && !mixture) learn_law_again(s.bent.best);
    if (out_.interrupted) return;
    bend(s.bent.best);
    return run_.chains.set_metric(metric_);
  }
  if (s.left) return;
  if (bends_) leave_bent();
  draw(1, true);  // on a device products with the factor are made anew
  if (out_.interrupted) return;
  run_.chains.set_metric(metric_);
  s.left = true;
}

/// Once: its own draws are more, and less dependent, than those that it was learnt from.
template <class Real>
void EnsembleWarmUp<Real>::learn_law_again(double num_steps) {
  Stand& s = stand_;
  if (out_.interrupted) return;
  if (!s.learnt_again) {
    if (!s.drawing) bend(num_steps), run_.chains.set_metric(metric_);
    const FrozenDraws<Real> block = draw(std::clamp(law_draws / run_.options.num_chains, least_law, piece), false);
    if (out_.interrupted) return;
    std::vector<Real> late;  // those before may be on their way
    for (const auto c : block.running)
      late.insert(late.end(), block.row(c, block.count / 4), block.row(c, block.count - 1) + block.dim);
    BentLaw before = law_;
    learn_law(late);
    if (law_.factor.empty()) law_ = std::move(before);  // too few draws
    s.learnt_again = true;
  }
  if (!s.drawing && s.multiplied == 1) bend(num_steps);
  multiply_anew(2);
}

/// Where the factor is new, products with it are made anew: on a device, in an iteration that adapts. Once each.
template <class Real>
void EnsembleWarmUp<Real>::multiply_anew(int which) {
  Stand& s = stand_;
  if (out_.interrupted || s.multiplied >= which) return;
  if (!s.drawing) run_.chains.set_metric(metric_);
  draw(1, true);
  if (!out_.interrupted) s.multiplied = which;
}

/// Draws that a gradient is worth, of trajectories of the bent law that need not be compared.
template <class Real>
double EnsembleWarmUp<Real>::worth_bending() const {
  return nearly_gaussian() || of_mixture() ? 0 : from_rows_ ? fair : plenty;
}

template <class Real>
void EnsembleWarmUp<Real>::bend(double num_steps) {
  const bool normal = law_.factor.empty();
  metric_ = usual_, bends_ = true;
  if (!normal) metric_.factor = law_.factor, metric_.mean = law_.mean;
  turns(quarter, num_steps);
  metric_.finer_every = 1;
  metric_.bent = law_.bending;
}
/// Back to the trajectories before, from where chains stand: they know no gradient there.
template <class Real>
void EnsembleWarmUp<Real>::leave_bent() {
  bends_ = false;
  metric_ = usual_;
  out_.gradients += run_.chains.take_gradients();
  run_.chains.start_again([](std::vector<Real>&) {}, &metric_, out_.iterations);
  run_.chains.set_metric(metric_);  // where they stand is known now
}

template <class Real>
void EnsembleWarmUp<Real>::try_time() {
  const double now = worth(false);
  if (!out_.interrupted)
    stand_.times.saw(
        now, [](double t) { return t * longer; }, [](double t) { return t / longer; });
}

template void EnsembleWarmUp<float>::leapfrog(double, double);
template void EnsembleWarmUp<double>::leapfrog(double, double);
template std::string EnsembleWarmUp<float>::trajectories() const;
template std::string EnsembleWarmUp<double>::trajectories() const;
template void EnsembleWarmUp<float>::leave_bent();
template void EnsembleWarmUp<double>::leave_bent();
template void EnsembleWarmUp<float>::learn_length();
template void EnsembleWarmUp<double>::learn_length();

}  // namespace kilochain
