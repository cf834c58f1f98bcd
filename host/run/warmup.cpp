#include "host/run/warmup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/run/lead_in.hpp"
#include "host/run/run_summary.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t first_block = lead_in_from;

std::string note_of(std::int64_t led_in) {
  return fmt::format("{} chains that accepted nothing were led in by NUTS", led_in);
}

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

/// A warm-up of a given length.
template <class Real>
class FixedWarmUp {
 public:
  explicit FixedWarmUp(const Phases<Real>& run)
      : run_(run), num_warmup_(*run.options.num_warmup), segment_(adapting<Real>(run.options, num_warmup_)) {
    segment_.rate_decays = segment_.scope == Scope::pooled;
    if (run.options.save_warmup && run.file.is_open())
      statistics_.emplace_back(run.buffer(run.window(num_warmup_), Recorded::statistics));
  }
  WarmedUp operator()() {
    run_.reporter.begin("warm-up", 0, num_warmup_);
    if (may_lead_in(run_.options)) lead_in();
    advance_to(num_warmup_);
    out_.interrupted = out_.iterations < num_warmup_;
    return out_;
  }

 private:
  /// As far as it comes; statistics go to the file where they are wanted.
  void advance_to(std::int64_t end) {
    for (std::int64_t now = out_.iterations, next; now < end; now = next) {
      DrawsBuffer<Real>* buffer = statistics_.empty() ? nullptr : &statistics_.front();
      next = buffer ? std::min(end, now + buffer->capacity()) : end;
      out_.iterations = run_.batches.run(segment_, now, next, {buffer});
      const auto made = DrawsMade::all(run_.options.num_chains, out_.iterations - now);
      if (buffer && made.count > 0)
        run_.file.append_warmup_stats(now, made.count, buffer->window(made.count, made.by_chain));
      if (out_.iterations < next) return;
    }
  }
  void lead_in() {
    advance_to(lead_in_from);
    const auto before = run_.batches.controls();
    advance_to(lead_in_at);
    if (out_.iterations < lead_in_at) return;
    std::vector<double> acceptance;
    for (auto from = before.begin(); const ChainControl& c : run_.batches.controls()) {
      acceptance.push_back((c.acceptance_sum - from->acceptance_sum) / static_cast<double>(c.counted - from->counted));
      ++from;
    }
    const LedIn led = kilochain::lead_in(run_, acceptance);
    if (led.chains == 0) return;
    out_.gradients += led.gradients;
    out_.note = note_of(led.chains);
    out_.iterations = 0;
  }

  const Phases<Real>& run_;
  const std::int64_t num_warmup_;
  Segment<Real> segment_;
  std::vector<DrawsBuffer<Real>> statistics_;  ///< one, or none
  WarmedUp out_;
};

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
  const LedIn led = kilochain::lead_in(run_, acceptance());
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

/// Of each chain in the last block.
template <class Real>
std::vector<double> AutomaticWarmUp<Real>::acceptance() const {
  std::vector<double> out;
  for (Count c = 0; c < block_.accepted.rows; ++c) {
    const float* rates = block_.accepted.row(c).data;
    out.push_back(std::accumulate(rates, rates + block_.count, 0.0) / static_cast<double>(block_.count));
  }
  return out;
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
  if (led_in_ > 0) out.note += "; " + note_of(led_in_);
  if (converged_ || interrupted_) return out;
  const auto rates = acceptance();
  const std::int64_t stuck = std::count_if(rates.begin(), rates.end(), accepts_nothing);
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
  WarmedUp out = run.options.num_warmup ? FixedWarmUp<Real>(run)() : AutomaticWarmUp<Real>(run)();
  out.seconds = seconds_since(begin);
  out.gradients += run.batches.take_gradients();
  return out;
}

template class AutomaticWarmUp<float>;
template class AutomaticWarmUp<double>;
template WarmedUp warm_up(const Phases<float>&);
template WarmedUp warm_up(const Phases<double>&);

}  // namespace kilochain
