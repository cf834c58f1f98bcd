#include "host/run/ensemble_warmup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/run/learnt_metric.hpp"
#include "host/run/run_summary.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t attempts = 5, settles = 50, most_room = 500;
constexpr std::int64_t metric_draws = 2000, audit_draws = 1000, least = 50;  // of all chains; iterations
constexpr std::int64_t piece =
    64;                           // iterations of the step's adaptation before kernels would begin windows of their own
constexpr double long_steps = 8;  // a metric that fits needs fewer
constexpr double longest = 512;   // steps of a trajectory
constexpr std::int64_t trial_draws = 1024, least_trial = 24;

}  // namespace

template <class Real>
EnsembleWarmUp<Real>::EnsembleWarmUp(const Phases<Real>& run)
    : run_(run), windows_(run.chains.windows(run.chains.shape(run.window(most_room)))) {}

template <class Real>
WarmedUp EnsembleWarmUp<Real>::operator()() {
  run_.reporter.begin("warm-up", 0, 0);
  scout();
  if (run_.options.num_warmup) return of_given_length(*run_.options.num_warmup);
  AuditFigures figures;
  // Chains that needed long trajectories to mix have shown only now what their metric should have been.
  const auto done = [&](std::int64_t k) { return figures.passed && (k > 1 || metric_.num_steps < long_steps); };
  for (std::int64_t k = 0; k < attempts && !done(k) && !out_.interrupted; ++k) {
    const std::int64_t chains = run_.options.num_chains;
    learn_metric(std::max(least, metric_draws / chains) << k);
    learn_length();
    settle(settles);
    figures = audit(std::max(least, audit_draws / chains) << k);
    missing_ = figures.passed ? "" : "; audit " + std::to_string(k + 1) + ": " + figures.note;
  }
  out_.converged = figures.passed && !out_.interrupted;
  out_.ess_per_iteration = figures.ess_per_iteration;
  const std::string scouts = out_.note;
  out_.note = *out_.converged
                  ? fmt::format("converged after {} iterations; trajectories of {} steps of {:.2g} on average",
                                out_.iterations, metric_.num_steps, metric_.step_size)
                  : fmt::format("not converged after {} iterations: {}", out_.iterations,
                                out_.interrupted ? "interrupted" : figures.note);
  out_.note += "; " + scouts;
  if (!*out_.converged && !out_.interrupted)
    out_.advice = fmt::format(
        "warm-up has not converged after {} iterations ({}): do not trust the summary; try other starting points, such "
        "as "
        "--init normal:0.1, or --sampler nuts --adapt-scope chain?",
        out_.iterations, figures.note);
  return out_;
}

/// A third for the metric, then lengths; the rest settles the step. Nobody audits it.
template <class Real>
WarmedUp EnsembleWarmUp<Real>::of_given_length(std::int64_t iterations) {
  run_.reporter.begin("warm-up", 0, iterations);
  end_ = iterations;
  if (!out_.interrupted && iterations >= 2 * least_trial) {
    learn_metric(iterations / 3);
    learn_length();
  }
  settle(end_ - out_.iterations);
  return out_;
}

template <class Real>
void EnsembleWarmUp<Real>::scout() {
  const Scouted<Real> scouted = send_scouts(run_);
  out_.gradients += scouted.gradients;
  out_.interrupted = scouted.interrupted;
  out_.note = fmt::format("{} scouts took {} iterations{}", scouted.scouts, scouted.iterations,
                          scouted.arrived ? "" : " and had not all arrived");
  if (!scouted.left.empty())
    out_.note += fmt::format("; scout{} {} ended {:.3g} below the others in log density and {} left behind",
                             scouted.left.size() > 1 ? "s" : "", fmt::join(scouted.left, ", "), scouted.left_below,
                             scouted.left.size() > 1 ? "were" : "was");
  if (out_.interrupted) return;
  const auto places = static_cast<std::int64_t>(scouted.points.size());
  const Options& o = run_.options;
  const bool many = o.num_chains * ess_for_rhat > static_cast<double>(o.target_ess) && o.num_chains >= 8 * places;
  if (o.superchains == 0 && many && places >= 4) out_.superchains = places;
  metric_ = scouted.metric;
  metric_.num_steps = 2;
  run_.chains.start([&](Index first, Index count) { return scouted.starts(first, count, run_.dim(), o.superchains); },
                    &metric_);
}

/// A long stretch is kept thinned.
template <class Real>
FrozenDraws<Real> EnsembleWarmUp<Real>::draw(std::int64_t iterations, bool adapting) {
  iterations = std::min(iterations, end_ - out_.iterations);
  if (iterations < 1) return {};
  const std::int64_t room = windows_.buffers[0].shape().capacity, thin = (iterations + room - 1) / room,
                     count = iterations / thin, first = out_.iterations, end = first + count * thin;
  Segment<Real> segment = adapting ? run_.chains.adapting(0) : run_.chains.sampling(0);
  segment.phase_start = first;
  segment.schedule.num_warmup = std::int64_t(1) << 40;  // no end, and no window of a mass for the first 75 iterations
  windows_.thin = thin, windows_.origin = first;
  FrozenDraws<Real> drawn(run_.options.num_chains, count, run_.dim(), thin);
  const bool saves = run_.options.save_warmup && run_.file.is_open() && thin == 1;
  out_.iterations = run_.chains.run(segment, first, end, windows_, [&](const Window<Real>& window) {
    drawn.take(window);
    if (!saves) return;
    Window<Real> numbered = window;
    numbered.first += first;
    run_.file.append_warmup_stats(numbered);
  });
  run_.require_chains(out_.iterations);
  out_.interrupted = out_.iterations < end;
  for (std::int64_t c = 0; const ChainControl& control : run_.chains.controls()) {
    if (control.status == ChainStatus::running) drawn.running.push_back(c);
    ++c;
  }
  return drawn;
}

/// From some of the last two thirds of the draws.
template <class Real>
void EnsembleWarmUp<Real>::learn_metric(std::int64_t iterations) {
  const std::int64_t dim = run_.dim(), draws = iterations * 2 / 3 * run_.options.num_chains,
                     every = std::max<std::int64_t>(1, draws / std::max<std::int64_t>(1000, 4 * dim));
  tell("metric");
  std::vector<Real> x;
  std::int64_t seen = 0;
  for (std::int64_t done = 0; done < iterations && !out_.interrupted; done += piece) {
    const FrozenDraws<Real> block = draw(std::min(piece, iterations - done), true);
    for (Count s = 0; s < block.count; ++s)
      if (done + s * block.thin >= iterations / 3)
        for (const auto c : block.running)
          if (seen++ % every == 0) x.insert(x.end(), block.row(c, s), block.row(c, s) + dim);
  }
  if (out_.interrupted || std::ssize(x) < 2 * dim) return;
  MetricLearner learner(run_.dim());
  const auto count = static_cast<Index>(std::ssize(x) / dim);
  const std::vector<Real> gradients = gradients_at(run_, x);
  learner.add(x.data(), gradients.data(), count);
  out_.gradients += count;
  metric_.factor = learner.factor();
  out_.agreement = agreement(x, gradients, metric_.factor, run_.dim());
  metric_.step_size = std::min(1.0, run_.chains.averaged_step());
  run_.chains.set_metric(metric_);
  draw(piece / 2, true);
}

/// Draws that a gradient is worth, of trajectories with so many steps on average.
template <class Real>
double EnsembleWarmUp<Real>::efficiency(double num_steps) {
  tell(fmt::format("trajectories of {} steps", num_steps));
  metric_.num_steps = num_steps;
  metric_.step_size = run_.chains.averaged_step();
  run_.chains.set_metric(metric_);
  const std::int64_t iterations = std::clamp(trial_draws / run_.options.num_chains, least_trial, piece);
  const FrozenDraws<Real> block = draw(iterations, true);
  if (block.count < least_trial || out_.interrupted) return 0;
  return mixing_of(block) / num_steps;
}

/// Doubles the length while that pays, then looks half a doubling to both sides.
template <class Real>
void EnsembleWarmUp<Real>::learn_length() {
  double best = 0, length = 2;
  const auto tried = [&](double num_steps) {
    if (out_.interrupted) return false;
    const double now = efficiency(num_steps);
    if (now > best) length = num_steps;
    const bool pays = now > 0.8 * best;
    best = std::max(best, now);
    return pays;
  };
  for (double k = 2; k <= longest && tried(k); k *= 2)
    ;
  const double middle = length;
  best *= 1.1;  // noise must not choose between neighbours
  for (const double k : {std::round(0.7 * middle), std::round(1.4 * middle)})
    if (k != middle) tried(k);
  metric_.num_steps = length;
}

template <class Real>
void EnsembleWarmUp<Real>::settle(std::int64_t iterations) {
  if (out_.interrupted || iterations < 1) return;
  tell("step");
  metric_.step_size = run_.chains.averaged_step();
  run_.chains.set_metric(metric_);
  for (std::int64_t done = 0; done < iterations && !out_.interrupted; done += piece)
    draw(std::min(piece, iterations - done), true);
  metric_.step_size = run_.chains.averaged_step();
  run_.chains.set_metric(metric_);
}

template <class Real>
AuditFigures EnsembleWarmUp<Real>::audit(std::int64_t iterations) {
  if (out_.interrupted) return {};
  tell("audit");
  std::vector<Real> began;
  run_.chains.each([&](Index, Chains<Real>& chains) {
    const auto x = chains.positions();
    began.insert(began.end(), x.begin(), x.end());
  });
  const FrozenDraws<Real> block = draw(iterations, false);
  return out_.interrupted ? AuditFigures{} : audit_of<Real>(block, began, run_.context.threads);
}

template class EnsembleWarmUp<float>;
template class EnsembleWarmUp<double>;

}  // namespace kilochain
