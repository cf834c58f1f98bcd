#include "host/run/warmup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/run/lead_in.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t first_block = 100;

template <class Real>
Segment<Real> adapting(const Options& o, std::int64_t num_warmup) {
  Segment<Real> segment;
  segment.seed = o.seed;
  segment.schedule.num_warmup = num_warmup;
  segment.schedule.adapting = true;
  segment.scope = scope_of(o);
  return segment;
}

/// What the sampler steers its acceptance to; NaN when it has no such setting.
double target_accept(const Options& o) {
  for (const auto& s : find_sampler(o.sampler).settings)
    if (s.name == "target_accept") {
      const auto own = o.sampler_settings.find(s.name);
      return std::stod(own == o.sampler_settings.end() ? s.default_value : own->second);
    }
  return NAN;
}

template <class Real>
WarmedUp fixed_warm_up(const Phases<Real>& run) {
  const std::int64_t num_warmup = *run.options.num_warmup;
  Segment<Real> segment = adapting<Real>(run.options, num_warmup);
  segment.rate_decays = segment.scope == Scope::pooled;
  run.reporter.begin("warm-up", 0, num_warmup);
  WarmedUp out;
  if (!run.options.save_warmup || !run.file.is_open()) {
    out.iterations = run.batches.run(segment, 0, num_warmup);
    out.interrupted = out.iterations < num_warmup;
    return out;
  }
  DrawsBuffer<Real> buffer = run.buffer(run.window(num_warmup), Recorded::statistics);
  while (out.iterations < num_warmup && !out.interrupted) {
    const std::int64_t first = out.iterations, end = std::min(num_warmup, first + buffer.capacity());
    out.iterations = run.batches.run(segment, first, end, {&buffer});
    out.interrupted = out.iterations < end;
    const auto made = DrawsMade::all(run.options.num_chains, out.iterations - first);
    if (made.count > 0) run.file.append_warmup_stats(first, made.count, buffer.window(made.count, made.by_chain));
  }
  return out;
}

}  // namespace

template <class Real>
AutomaticWarmUp<Real>::AutomaticWarmUp(const Phases<Real>& run)
    : run_(run),
      segment_(adapting<Real>(run.options, most_automatic_warmup)),
      buffer_(run.buffer(run.window(500), Recorded::draws)),
      monitor_(target_accept(run.options)) {
  if (segment_.scope == Scope::pooled) segment_.schedule.rate = pooled_rate(0);
}

template <class Real>
WarmedUp AutomaticWarmUp<Real>::operator()() {
  run_.reporter.begin("warm-up", 0, 0);
  search();
  if (!interrupted_) settle();
  if (!interrupted_) finish();
  return outcome();
}

template <class Real>
void AutomaticWarmUp<Real>::advance_to(std::int64_t iteration, Into<Real> into) {
  iteration_ = run_.batches.run(segment_, iteration_, iteration, into);
  interrupted_ = iteration_ < iteration;
}

/// Blocks grow: slow chains need long blocks before R-hat can tell that they agree.
template <class Real>
void AutomaticWarmUp<Real>::search() {
  std::int64_t blocks = 0;
  for (std::int64_t block = first_block; !converged_ && iteration_ + block <= most_automatic_warmup;) {
    if (!fill(block)) return;
    if (++blocks == 2 && lead_in()) {  // a second block: the first may have begun with a bad scale only
      block = first_block;
      continue;
    }
    converged_ = monitor_.add(signs_of(block_, run_.context.threads));
    block = block * 3 / 2;
  }
}

/// A long block is kept thinned. False when interrupted.
template <class Real>
bool AutomaticWarmUp<Real>::fill(std::int64_t block) {
  const std::int64_t room = buffer_.capacity(), thin = (block + room - 1) / room, count = block / thin;
  advance_to(iteration_ + count * thin, {&buffer_, thin});
  if (interrupted_) return false;
  const std::int64_t chains = run_.options.num_chains;
  const Window<Real> window = buffer_.window(count, DrawsMade::all(chains, count).by_chain);
  block_ = {window.draws, window.lp, window.acceptance_rate, count, thin, {}};
  const auto controls = run_.batches.controls();
  for (std::int64_t c = 0; c < chains; ++c)
    if (controls.begin()[c].status == ChainStatus::running) block_.running.push_back(c);
  return true;
}

/// Chains that accepted nothing are led to where the density is, and all begin again. False when there were none.
template <class Real>
bool AutomaticWarmUp<Real>::lead_in() {
  const LedIn led = kilochain::lead_in(run_, block_);
  led_in_ = led.chains;
  gradients_ += led.gradients;
  if (led_in_ == 0) return false;
  iteration_ = 0;
  monitor_.restart();
  return true;
}

/// Lets the factor settle while the rate decays.
template <class Real>
void AutomaticWarmUp<Real>::settle() {
  if (segment_.scope != Scope::pooled) return;
  const std::int64_t last = std::max<std::int64_t>(100, iteration_ / 4), from = iteration_;
  for (int k = 1; k <= 10 && !interrupted_; ++k) {
    segment_.schedule.rate = pooled_rate(0.5 + 0.05 * k);
    advance_to(from + last * k / 10);
  }
}

/// The last iteration is known now: dual averaging leaves its average then.
template <class Real>
void AutomaticWarmUp<Real>::finish() {
  segment_.schedule.num_warmup = iteration_ + 1;
  advance_to(iteration_ + 1);
}

template <class Real>
std::int64_t AutomaticWarmUp<Real>::stuck_chains() const {
  std::int64_t stuck = 0;
  for (Count c = 0; c < block_.accepted.rows; ++c) {
    const float* rates = block_.accepted.row(c).data;
    stuck += std::all_of(rates, rates + block_.count, [](float rate) { return !(rate > 1e-6F); });
  }
  return stuck;
}

template <class Real>
WarmedUp AutomaticWarmUp<Real>::outcome() const {
  WarmedUp out;
  out.iterations = iteration_;
  out.gradients = gradients_;
  out.ess_per_iteration = monitor_.ess_per_iteration();
  out.converged = converged_;
  out.interrupted = interrupted_;
  out.note = converged_ ? fmt::format("converged after {} iterations", iteration_)
                        : fmt::format("not converged after {} iterations: {}", iteration_,
                                      interrupted_ ? "interrupted" : monitor_.note());
  if (led_in_ > 0) out.note += fmt::format("; {} chains that accepted nothing were led in by NUTS", led_in_);
  if (converged_ || interrupted_) return out;
  const std::int64_t stuck = stuck_chains();
  out.advice =
      fmt::format("warm-up has not converged after {} iterations: do not trust the summary; try ", iteration_) +
      (stuck > 0
           ? fmt::format("other starting points, such as --init zeros or --init normal:0.1 ({} chains accept nothing)?",
                         stuck)
           : std::string("--num-warmup with more iterations, or another sampler?"));
  return out;
}

template <class Real>
WarmedUp warm_up(const Phases<Real>& run) {
  const auto begin = std::chrono::steady_clock::now();
  WarmedUp out = run.options.num_warmup ? fixed_warm_up(run) : AutomaticWarmUp<Real>(run)();
  out.seconds = seconds_since(begin);
  out.gradients += run.batches.take_gradients();
  return out;
}

template class AutomaticWarmUp<float>;
template class AutomaticWarmUp<double>;
template WarmedUp warm_up(const Phases<float>&);
template WarmedUp warm_up(const Phases<double>&);

}  // namespace kilochain
