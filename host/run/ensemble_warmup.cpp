#include "host/run/ensemble_warmup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "host/learn/learnt_coordinates.hpp"
#include "host/run/choose_chains.hpp"
#include "host/run/coordinate_name.hpp"
#include "host/run/equal_modes.hpp"
#include "host/run/relocate.hpp"
#include "host/run/run_summary.hpp"
#include "host/run/target_gradients.hpp"
#include "host/run/unequal_modes.hpp"

namespace kilochain {
namespace {

// Draws are those of all chains, the other numbers are iterations.
constexpr std::int64_t metric_draws = 2000, audit_draws = 1000;
constexpr std::int64_t attempts = 5, least = 50, settles = 50, most_room = 500;
constexpr double long_steps = 8;        // of a trajectory: a metric that fits needs fewer
constexpr double wider_than_law = 1.1;  // proposals of a mixture's: from its tails chains come back sooner
constexpr double most_gone = 0.3;       // of the time limit, for another attempt: it takes twice as long as the last

}  // namespace

template <class Real>
EnsembleWarmUp<Real>::EnsembleWarmUp(const Phases<Real>& run, WarmupKeeper<Real>& keeper)
    : run_(run),
      keeper_(keeper),
      out_(keeper.so_far()),
      windows_(run.chains.windows(run.chains.shape(run.window(most_room)))) {}

/// False when it is over already, or the warm-up was stopped.
template <class Real>
bool EnsembleWarmUp<Real>::begins(Stage stage) {
  if (out_.interrupted || stage < stage_) return false;
  stage_ = stage;
  if (!std::exchange(resumed_, false)) stand_ = {};
  return true;
}

template <class Real>
void EnsembleWarmUp<Real>::operator()() {
  run_.reporter.begin("warm-up", 0, 0);
  if (begins(scouts)) scout();
  if (run_.options.num_warmup) return of_given_length(*run_.options.num_warmup);
  AuditFigures figures;
  // Chains that needed long trajectories to mix have shown only now what their metric should have been; and where
  // sampling will be long, a better one pays, while there is time. Steps that turn have that of the curvature, and no
  // attempt makes it much better.
  const auto done = [&](std::int64_t k) {
    const double wanted = run_.options.num_samples ? static_cast<double>(*run_.options.num_samples)
                                                   : wanted_ess(run_.options) / figures.ess_per_iteration;
    const bool hurry = run_.limit && run_.limit->gone() > most_gone;
    return figures.passed && (hurry || metric_.turns ||
                              ((k > 1 || metric_.num_steps < long_steps) &&
                               wanted < (k > 1 ? 8 : 4) * static_cast<double>(out_.iterations)));
  };
  while (attempt_ < attempts && !done(attempt_) && !out_.interrupted) {
    const std::int64_t chains = run_.options.num_chains;
    if (!stuck_.empty() && 2 * std::ssize(stuck_) < chains) relocate();  // where most are stuck, it is the step
    if (attempt_ > 0 && !resumed_) gather();
    const bool has_law = of_mixture() && from_rows_ && !refuted_;  // it may need no metric
    if (begins(metric) && !has_law)
      while (learn_metric(iterations_of_metric())) stand_ = {};
    if (begins(lengths)) learn_length();
    if (needs_metric()) continue;
    if (begins(step)) settle(metric_.spread < 1 ? 0 : settles);
    if (begins(audits)) figures = audit(std::max(least, audit_draws / chains) << attempt_);
    if (out_.interrupted) break;
    ++attempt_, stage_ = metric, stand_ = {};
    refuted_ |= bends_ && !figures.passed && !(of_mixture() && !figures.stuck.empty());  // those may be relocated
    stuck_ = figures.stuck;
    missing_ = figures.passed ? "" : "; audit " + std::to_string(attempt_) + ": " + figures.note;
  }
  out_.converged = figures.passed && !out_.interrupted;
  out_.ess_per_iteration = figures.ess_per_iteration;
  const std::string scouts = out_.note;
  constexpr const char* stages[] = {"scouts were on their way", "it learnt the metric", "it tried trajectories",
                                    "its step settled", "it was audited"};
  out_.note = *out_.converged
                  ? fmt::format("converged after {} iterations; {}", out_.iterations, trajectories())
                  : fmt::format("not converged after {} iterations: {}", out_.iterations,
                                out_.interrupted ? fmt::format("interrupted while {}{}", stages[stage_], missing_)
                                                 : figures.note);
  if (!scouts.empty()) out_.note += "; " + scouts;
  if (relocated_ > 0)
    out_.note += fmt::format(
        "; {} stood in a place with next to nothing of the mass and {} relocated to others' places",
        relocated_ == 1 ? "1 chain" : fmt::format("{} chains", relocated_), relocated_ == 1 ? "was" : "were");
  if (!*out_.converged && !out_.interrupted)
    out_.advice = fmt::format(
        "warm-up has not converged after {} iterations ({}): do not trust the summary; try --sampler nuts "
        "--adapt-scope chain, or other starting points (--init)?",
        out_.iterations, figures.note);
}

/// A chain that began in a narrow place of high density stays there, and one in a mode far below as well. Where such a
/// place has less of the mass than one draw in 10 000, with three standard errors allowed for, or NUTS leaves it for
/// the others' log density, the chain is relocated to another's place; else it is left there, and a note says so.
template <class Real>
void EnsembleWarmUp<Real>::relocate() {
  const std::vector<char> before = keeper_.state();
  const std::int64_t dim = run_.dim();
  const std::vector<Real> x = run_.chains.positions();
  std::vector<Real> points;
  for (const auto c : stuck_) points.insert(points.end(), x.begin() + c * dim, x.begin() + (c + 1) * dim);
  const std::vector<SeenPlace> places = places_about(run_, points, out_.gradients);
  if (run_.stop) {
    keeper_.save(before);
    out_.interrupted = true;
    return;
  }
  std::vector<std::int64_t> lost;
  for (std::size_t k = 0; k < stuck_.size(); ++k) {
    const LogMass& mass = places[k].mass;
    const bool empty = mass.value < mass_.value - std::log(1e4) - 3 * std::hypot(mass.error, mass_.error),
               left = std::abs(places[k].lp - usual_lp_) < lp_width_;
    if (empty || left) lost.push_back(stuck_[k]);
  }
  relocated_ += run_.chains.relocate(lost, out_.superchains);
  stuck_.clear();
}

/// Chains that have gone to other places of a posterior that has several alike come back: all learn one of them.
template <class Real>
void EnsembleWarmUp<Real>::gather() {
  const auto n = static_cast<std::ptrdiff_t>(run_.dim());
  const std::vector<Real> before = run_.chains.positions();
  std::vector<std::vector<Real>> points;
  for (auto at = before.begin(); at != before.end(); at += n) points.emplace_back(at, at + n);
  out_.symmetries = gather_in_one_place(run_, points, out_.gradients);
  std::vector<Real> x;
  for (const auto& point : points) x.insert(x.end(), point.begin(), point.end());
  if (x == before) return;
  out_.gradients += run_.chains.take_gradients();
  run_.chains.start_again([&](std::vector<Real>& at) { at = x; }, &metric_, out_.iterations);
  keeper_.forget_now();
}

/// How much of the posterior is about the chains that are not stuck: by bridge sampling, or as of a Gaussian that the
/// metric fits.
template <class Real>
LogMass EnsembleWarmUp<Real>::mass_of_others(const FrozenDraws<Real>& block, const AuditFigures& figures) {
  constexpr std::int64_t wanted = 1000;
  const std::int64_t dim = block.dim;
  double log_volume = 0;
  for (std::int64_t i = 0; i < dim; ++i) log_volume += std::log(metric_.factor[i * dim + i]);
  const LogMass mass = mass_of_gaussian(figures.lp, log_volume, dim);
  if (dim > most_bridged) return mass;
  std::vector<std::int64_t> others;
  std::ranges::set_difference(block.running, figures.stuck, std::back_inserter(others));
  const std::int64_t all = std::ssize(others) * block.count, every = std::max<std::int64_t>(1, all / wanted);
  std::vector<double> x, lp;
  for (std::int64_t k = 0; k < all; k += every) {
    const std::int64_t c = others[static_cast<std::size_t>(k / block.count)], s = k % block.count;
    x.insert(x.end(), block.row(c, s), block.row(c, s) + dim);
    lp.push_back(block.lp_of(c)[s]);
  }
  out_.gradients += std::ssize(lp) / 2;
  TargetGradients<Real> gradients_at(run_);
  const LogMass bridged = log_mass<Real>(x, lp, std::ref(gradients_at));
  return bridged.error < mass.error ? bridged : mass;
}

/// A third for the metric: short passes while it has to be learnt again, then one of all that is left. Then lengths;
/// the rest settles the step. Nobody audits it.
template <class Real>
void EnsembleWarmUp<Real>::of_given_length(std::int64_t iterations) {
  run_.reporter.begin("warm-up", 0, iterations);
  end_ = iterations;
  if (iterations >= 2 * least_trial) {
    const std::int64_t third = iterations / 3, pass = std::max(least, metric_draws / run_.options.num_chains);
    do {
      if (begins(metric)) {
        while (learn_metric(std::min(third, pass)) && out_.iterations < third) stand_ = {};
        const std::int64_t left = third - out_.iterations;
        if (!out_.interrupted && left >= least) stand_ = {}, learn_metric(left);
      }
      if (begins(lengths)) learn_length();
    } while (needs_metric());
  }
  if (begins(step)) settle(end_ - out_.iterations);
}

/// Where chains have the observations' metric, or a mixture's, and refuse to bend, they go back to learn one of their
/// draws.
template <class Real>
bool EnsembleWarmUp<Real>::needs_metric() {
  if (out_.interrupted || !from_rows_ || bends_) return false;
  from_rows_ = false, stage_ = metric, stand_ = {};
  return true;
}

template <class Real>
void EnsembleWarmUp<Real>::scout() {
  auto* const handed = run_.scouted;
  const bool sent_before = handed && *handed;
  const Scouted<Real> scouted = sent_before ? **handed : send_scouts(run_, keeper_, scouting_);
  out_.gradients += scouted.gradients;
  out_.interrupted = scouted.interrupted;
  out_.note = scouted.rows     ? "chains began at the nearest normal"
              : scouted.normal ? fmt::format("{} climbs ended where one normal law fits", scouted.scouts)
                               : fmt::format("{} scouts took {} iterations{}", scouted.scouts, scouted.iterations,
                                             scouted.arrived ? "" : " and had not all arrived");
  if (out_.interrupted && !scouted.seen.empty()) out_.note += ": " + scouted.seen;
  if (!scouted.left.empty())
    out_.note += fmt::format("; {}{} {} ended {:.3g} below the others in log {} and {} left behind",
                             scouted.normal ? "climb" : "scout", scouted.left.size() > 1 ? "s" : "",
                             fmt::join(scouted.left, ", "), scouted.left_below,
                             scouted.normal ? "probability" : "density", scouted.left.size() > 1 ? "were" : "was");
  if (out_.interrupted) return;
  const Options& o = run_.options;
  const bool each_costs = run_.context.backend == Backend::cpu && !run_.target.info().in_one_call,
             free = o.chains_chosen && o.superchains == 0 && o.chain_batch_size == 0;
  if (handed && !sent_before && free && each_costs) {
    const ChainsChosen chosen = fewer_chains(o.num_chains, scouted.seconds_of_iteration);
    if (chosen.num_chains < o.num_chains) {
      *handed = std::make_shared<Scouted<Real>>(scouted);
      out_.fewer_chains = chosen.num_chains;
      out_.interrupted = true;
      return;
    }
  }
  if (sent_before) keeper_.took(scouted.seconds);
  if (sent_before && !scouted.coordinates.empty()) run_.coordinates->set(scouted.coordinates);
  if (sent_before && !scouted.symmetries.empty())
    run_.coordinates->set(Symmetries::of_numbers(run_.coordinates->info(), scouted.symmetries));
  out_.coordinates = scouted.coordinates, out_.symmetries = scouted.symmetries;
  const auto places = static_cast<std::int64_t>(scouted.points.size());
  const bool many = o.num_chains * ess_for_rhat > wanted_ess(o) && o.num_chains >= 8 * places;
  if (o.superchains == 0 && many && places >= 4) out_.superchains = places;
  metric_ = scouted.metric;
  metric_.num_steps = 2;
  const Metric learns = while_adapting();
  run_.chains.start([&](Index first, Index count) { return scouted.starts(first, count, run_.dim(), o.superchains); },
                    &learns);
  keeper_.forget();
  if (!scouted.rows) return;
  out_.agreement = scouted.agreement;
  std::vector<Real> x;
  for (const auto& points : scouted.points) x.insert(x.end(), points.begin(), points.end());
  learn_law(x);
  if (!law_.factor.empty()) from_rows_ = settled_ = true, stage_ = lengths;
}

/// A long stretch is kept thinned. One that is under way goes on.
template <class Real>
FrozenDraws<Real> EnsembleWarmUp<Real>::draw(std::int64_t iterations, bool adapting) {
  Stand& s = stand_;
  if (!s.drawing) {
    iterations = std::min(iterations, end_ - out_.iterations);
    if (iterations < 1) return {};
    const std::int64_t room = windows_.buffers[0].shape().capacity, thin = (iterations + room - 1) / room;
    s.drawn = FrozenDraws<Real>(run_.options.num_chains, iterations / thin, run_.dim(), thin);
    s.first = out_.iterations, s.drawing = true;
  }
  FrozenDraws<Real>& drawn = s.drawn;
  const std::int64_t first = s.first;
  Segment<Real> segment = adapting ? run_.chains.adapting(0) : run_.chains.sampling(0);
  segment.phase_start = first;
  segment.schedule.num_warmup = std::int64_t(1) << 40;  // no end, and no window of a mass for the first 75 iterations
  windows_.thin = drawn.thin, windows_.origin = first;
  const bool saves = run_.options.save_warmup && run_.file.is_open() && drawn.thin == 1;
  out_.interrupted = !keeper_.run(run_.chains, segment, out_.iterations, first + drawn.count * drawn.thin, windows_,
                                  [&](const Window<Real>& window) {
                                    drawn.take(window);
                                    if (!saves) return;
                                    Window<Real> numbered = window;
                                    numbered.first += first;
                                    run_.file.append_warmup_stats(numbered);
                                  });
  run_.require_chains(out_.iterations);
  drawn.running.clear();
  for (std::int64_t c = 0; const ChainControl& control : run_.chains.controls()) {
    if (control.status == ChainStatus::running) drawn.running.push_back(c);
    ++c;
  }
  s.drawing = false;
  if (run_.coordinates) run_.coordinates->gather(drawn.x);
  return std::exchange(s.drawn, {});
}

/// The metric for iterations that adapt. On a device all chains wait in each of them for one that makes its trajectory
/// again, with up to 26 times the steps: every seventh may have such trajectories.
template <class Real>
Metric EnsembleWarmUp<Real>::while_adapting() const {
  Metric m = metric_;
  if (run_.context.backend == Backend::cuda) m.finer_every = seldom;
  return m;
}

/// Fewer of long trajectories, of which one may have to be made again with longer ones: but enough to learn from.
template <class Real>
std::int64_t EnsembleWarmUp<Real>::iterations_of_metric() const {
  const std::int64_t chains = run_.options.num_chains, usual = std::max(least, metric_draws / chains),
                     enough = std::max<std::int64_t>(20, 5 * run_.dim() / chains);  // of which two thirds count
  return std::min(usual, std::max(enough, affordable(metric_gradients))) << attempt_;
}

/// Iterations of so many gradients: the longer trajectories are, the less their draws depend on each other.
template <class Real>
std::int64_t EnsembleWarmUp<Real>::affordable(std::int64_t gradients) const {
  return gradients / (run_.options.num_chains * static_cast<std::int64_t>(metric_.num_steps));
}

/// Whether positions and gradients agree in the last metric, in all coordinates.
template <class Real>
bool EnsembleWarmUp<Real>::nearly_gaussian() const {
  return !out_.agreement.empty() && std::ranges::all_of(out_.agreement, [](double a) { return a > 0.9; });
}

template <class Real>
void EnsembleWarmUp<Real>::settle(std::int64_t iterations) {
  std::int64_t &total = stand_.total, &done = stand_.done;
  if (total < 0 && iterations < 1) return;
  tell("step");
  const bool adapting = metric_.spread == 1;  // pairs and turns have a length that was chosen with their step
  if (total < 0) {
    total = iterations;
    metric_.step_size = run_.chains.averaged_step();
    run_.chains.set_metric(adapting ? while_adapting() : metric_);
  }
  for (; done < total; done += piece) {
    draw(std::min(piece, total - done), adapting);
    if (out_.interrupted) return;
  }
  metric_.step_size = run_.chains.averaged_step();
  run_.chains.set_metric(metric_);
}

template <class Real>
AuditFigures EnsembleWarmUp<Real>::audit(std::int64_t iterations) {
  tell("audit");
  std::vector<Real>& began = stand_.began;
  if (!stand_.drawing) began = run_.chains.positions();
  FrozenDraws<Real> block = draw(iterations, false);
  if (out_.interrupted) return {};
  if (run_.coordinates) run_.coordinates->gather(began);
  AuditFigures figures = audit_of<Real>(block, std::span<const Real>(began), run_.context.threads, [&](Count i) {
    return name_of_coordinate(run_.target.info(), static_cast<std::int64_t>(i));
  });
  usual_lp_ = figures.lp, lp_width_ = figures.lp_width;
  const bool passed = figures.passed, searches = run_.coordinates && (!passed || !searched_ || fits_ == 1);
  if (searches && overlay(block, figures)) {
    if (passed) figures.note = fits_ > 0 ? "laws of modes were learnt again" : "a mode was found in which no chain was";
    figures.passed = false, figures.stuck.clear();
  }
  if (out_.interrupted) {  // when the run is resumed, modes are looked for again
    stand_.drawn = std::move(block), stand_.drawing = true;
    keeper_.save(keeper_.state());
    return {};
  }
  searched_ |= passed;
  if (!figures.stuck.empty()) {
    mass_ = mass_of_others(block, figures);
  }
  return figures;
}

/// Where chains stay in modes, or one is found in which none is, these are laid over each other. Chains go on in the
/// first one: those of no mode with some of the mass at the place of another, or about the mean where all are such.
/// Laws of a mixture are learnt once more, from draws of all modes by what these weigh.
template <class Real>
bool EnsembleWarmUp<Real>::overlay(const FrozenDraws<Real>& block, const AuditFigures& figures) {
  std::int64_t gradients = out_.gradients;
  const bool again = run_.coordinates->overlay().any();
  if (again && fits_ != 1) return false;
  const auto found = again ? fit_again(run_, block, figures.stuck, gradients)
                           : find_modes(run_, block, figures, out_.iterations, gradients);
  out_.interrupted = run_.stop;
  if (out_.interrupted) return false;
  out_.gradients = gradients;
  if (!found) return false;
  std::vector<Real> x = run_.chains.positions();
  run_.coordinates->gather(x);
  run_.coordinates->to_target(x);
  if (again)
    put_into_modes(run_, x, [&](std::int64_t c) { return DrawId{~run_.options.seed, c, std::int64_t(1) << 38}; });
  fits_ += found->mixed;
  const auto n = static_cast<Eigen::Index>(run_.dim());
  const auto place = [&](std::size_t c) {
    return Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>(x.data() + static_cast<Eigen::Index>(c) * n, n);
  };
  const std::vector<int>& modes = found->of_chain;
  for (std::size_t c = 0; c < modes.size(); ++c) {
    if (modes[c] < 0) continue;
    Overlay::Vector at = place(c).template cast<double>();
    found->overlay.lay(at);
    place(c) = at.template cast<Real>();
  }
  const bool none = std::ranges::all_of(modes, [](int mode) { return mode < 0; });
  std::vector<double> z(padded(static_cast<std::size_t>(n)) + 32);
  for (std::size_t c = 0; c < modes.size(); ++c) {
    if (modes[c] >= 0) continue;
    if (none) {
      const Overlay::Law& law = found->overlay.laws()[0];
      normals(HostTeam{}, Rng{~run_.options.seed, static_cast<std::uint32_t>(c), std::int64_t(1) << 37}, Purpose::mode,
              Row(z.data(), z.size()), static_cast<Index>(n));
      const Overlay::Vector at =
          law.mean + 0.5 * (law.factor * Eigen::Map<const Overlay::Vector>(z.data(), n));  // well within it
      place(c) = at.template cast<Real>();
      continue;
    }
    std::size_t from = c;
    do from = (from + 1) % modes.size();
    while (modes[from] < 0);
    place(c) = place(from);
  }
  const Overlay::Law& law = found->overlay.laws()[0];
  const Eigen::MatrixXd rows = law.factor.transpose();
  metric_ = {}, usual_ = {}, law_ = {}, bends_ = settled_ = false, climbed_ = 0;
  metric_.factor.assign(rows.data(), rows.data() + rows.size());
  metric_.step_size = 0.5, metric_.num_steps = 2;
  if (found->mixed) {
    law_.factor = metric_.factor, law_.mean.assign(law.mean.begin(), law.mean.end());
    for (double& v : law_.factor) v *= wider_than_law;
    from_rows_ = true, refuted_ = false;
  }
  out_.agreement.clear(), out_.coordinates.clear(), out_.modes = found->overlay.to_numbers();
  run_.coordinates->set(LearntCoordinates{});
  run_.coordinates->set(found->overlay);
  out_.gradients += run_.chains.take_gradients();
  const Metric learns = while_adapting();
  run_.chains.start_again([&](std::vector<Real>& at) { at = x; }, &learns, out_.iterations);
  keeper_.forget_now();
  return true;
}

template class EnsembleWarmUp<float>;
template class EnsembleWarmUp<double>;

}  // namespace kilochain
