// The metric of all chains' draws and gradients, and other coordinates where none fits: stage 2 of ensemble_warmup.hpp.
#include <algorithm>

#include "host/learn/learn_coordinates.hpp"
#include "host/learn/learnt_metric.hpp"
#include "host/learn/mixing.hpp"
#include "host/learn/probes.hpp"
#include "host/run/ensemble_warmup.hpp"
#include "host/run/scout_coordinates.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t most_climbs = 10;
constexpr double steps_to_mix = 32;  // of trajectories, where draws are not mixed enough to learn coordinates from
constexpr double fits = 0.8;         // agreement of a coordinate with its gradient that a metric gives

bool all_above(const std::vector<double>& values, double bar) {
  return std::ranges::all_of(values, [&](double v) { return v > bar; });
}

}  // namespace

/// From some of the last two thirds of the draws. Whether to learn it again, as chains are still on their way.
template <class Real>
bool EnsembleWarmUp<Real>::learn_metric(std::int64_t iterations) {
  if (bends_) leave_bent();
  from_rows_ = false;
  if (stand_.total < 0) stand_.total = iterations;
  iterations = stand_.total;
  const std::int64_t dim = run_.dim(), draws = iterations * 2 / 3 * run_.options.num_chains,
                     times = all_above(out_.agreement, fits) ? 1 : 4,       // coordinates are learnt from more
      every = draws / (times * std::max<std::int64_t>(1000, 4 * dim)) | 1;  // odd: it meets all chains
  tell("metric");
  std::vector<Real>& x = stand_.x;
  for (std::int64_t& done = stand_.done; done < iterations; done += piece) {
    const FrozenDraws<Real> block = draw(std::min(piece, iterations - done), true);
    if (out_.interrupted) return false;
    for (Count s = 0; s < block.count; ++s)
      if (done + s * block.thin >= iterations / 3)
        for (const auto c : block.running)
          if (stand_.seen++ % every == 0) x.insert(x.end(), block.row(c, s), block.row(c, s) + dim);
  }
  if (std::ssize(x) < 2 * dim) return false;
  if (!stand_.drawing) {
    MetricLearner learner(run_.dim());
    const auto count = static_cast<Index>(std::ssize(x) / dim);
    std::vector<Real> gradients = TargetGradients<Real>(run_)(x);
    const ThreadsOf threads(run_.context, run_.dim());
    out_.gradients += count;
    std::optional<LearntCoordinates> better = settled_ ? learn_coordinates(gradients) : std::nullopt;
    stand_.moved |= better.has_value();
    learner.add(x.data(), gradients.data(), static_cast<Index>(std::ssize(x) / dim));
    metric_.factor = learner.factor(attempt_ > 0 ? metric_.step_size : 0);
    metric_.finer_every = 1;
    out_.agreement = agreement(x, gradients, metric_.factor, dim);
    if (!better && nearly_gaussian()) refine_metric(learner, gradients);  // gradients are in coordinates that stand
    learn_law(x);
    metric_.mean = mean_of(x, gradients, metric_.factor, out_.agreement);
    leapfrog(std::max(2.0, metric_.num_steps), better ? 0.5 : std::min(1.0, run_.chains.averaged_step()));
    if (better)
      move_chains(*std::move(better));
    else
      run_.chains.set_metric(while_adapting());
  }
  const FrozenDraws<Real> block = draw(std::clamp<std::int64_t>(affordable(metric_gradients / 4), 8, piece / 2), true);
  if (out_.interrupted) return false;
  const bool climbs = still_moves(block), first = !std::exchange(settled_, !climbs) && settled_,
             may_move =
                 run_.coordinates && !of_mixture() && dim <= most_coordinates && !all_above(out_.agreement, fits),
             again = climbed_ < most_climbs && (climbs || stand_.moved || (first && may_move));
  climbed_ += again;
  return again;
}

/// Of what is all but a Gaussian, the curvature about some of the draws tells more of the metric than as many draws, of
/// which each takes a trajectory. It is not widened: steps are to turn with it, about the mean.
template <class Real>
void EnsembleWarmUp<Real>::refine_metric(MetricLearner& learner, const std::vector<Real>& gradients) {
  const Index dim = run_.dim(), count = 2 * dim;
  if (dim <= most_dense) {
    TargetGradients<Real> gradients_at(run_);
    const Rng rng{~run_.options.seed, static_cast<std::uint32_t>(out_.iterations), std::int64_t(1) << 33};
    add_probes<Real>(std::ref(gradients_at), metric_.factor, stand_.x, gradients, count, rng, learner);
    out_.gradients += count;
  }
  metric_.factor = learner.factor();
}

/// The law that bends, of some of the draws: where a normal is not nearly all of it.
template <class Real>
void EnsembleWarmUp<Real>::learn_law(const std::vector<Real>& x) {
  const TargetInfo& info = run_.target.info();
  const Index room = bending_room(info);
  if (of_mixture()) return;  // that of modes laid over each other stays
  law_ = {};
  if (room > 0 && !nearly_gaussian()) law_ = bent_law(*info.logistic, info.prior_sd, x, room).value_or(BentLaw{});
}

/// Where positions and gradients do not agree, coordinates that fit the draws of `stand_` better, or none. Draws and
/// gradients are taken along, without those that are not finite.
template <class Real>
std::optional<LearntCoordinates> EnsembleWarmUp<Real>::learn_coordinates(std::vector<Real>& gradients) {
  std::vector<Real>& x = stand_.x;
  const Index n = run_.dim(), count = static_cast<Index>(std::ssize(x) / n);
  if (!run_.coordinates || n > most_coordinates || of_mixture()) return {};
  LearntCoordinates better = run_.coordinates->coordinates();
  MetricLearner learner(n);
  learner.add(x.data(), gradients.data(), count);
  const std::vector<double> agree = agreement(x, gradients, learner.factor(), n);
  if (all_above(agree, fits)) return {};
  DrawsAndGradients draws = finite_of(x, gradients, n);
  const Learning learning = kilochain::learn_coordinates(
      better, draws, [&](const DrawsAndGradients& d) { return known_priors(run_, d, out_.gradients); },
      run_.context.threads);
  if (learning == Learning::unmixed && metric_.num_steps < steps_to_mix) metric_.num_steps *= 4, stand_.moved = true;
  if (learning != Learning::better) return {};
  using Columns = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  const auto take = [](std::vector<Real>& to, const Eigen::MatrixXd& from) {
    to.resize(static_cast<std::size_t>(from.size()));
    Eigen::Map<Columns>(to.data(), from.rows(), from.cols()) = from.cast<Real>();
  };
  take(x, draws.x), take(gradients, draws.g);
  return better;
}

/// All chains begin again where they stand, in other coordinates, with the metric that was learnt in them.
template <class Real>
void EnsembleWarmUp<Real>::move_chains(LearntCoordinates coordinates) {
  out_.coordinates = coordinates.to_numbers();
  out_.gradients += run_.chains.take_gradients();
  const auto change = [&](std::vector<Real>& x) {
    run_.coordinates->to_target(x);
    run_.coordinates->set(std::move(coordinates));
    run_.coordinates->from_target(x);
  };
  run_.chains.start_again(change, &metric_, out_.iterations);
  keeper_.forget_now();
}

template bool EnsembleWarmUp<float>::learn_metric(std::int64_t);
template bool EnsembleWarmUp<double>::learn_metric(std::int64_t);
template void EnsembleWarmUp<float>::learn_law(const std::vector<float>&);
template void EnsembleWarmUp<double>::learn_law(const std::vector<double>&);

}  // namespace kilochain
