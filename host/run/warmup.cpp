#include "host/run/warmup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/run/block_signs.hpp"
#include "host/run/ensemble_warmup.hpp"
#include "host/run/relocate.hpp"
#include "host/run/run_summary.hpp"

namespace kilochain {
namespace {

/// What the sampler steers its acceptance to; NaN when it has no such setting.
double target_accept(const Options& o) {
  for (const auto& s : find_sampler(o.sampler).settings)
    if (s.name == "target_accept") {
      const auto own = o.sampler_settings.find(s.name);
      return std::stod(own == o.sampler_settings.end() ? s.default_value : own->second);
    }
  return NAN;
}

/// What both kinds of warm-up do.
template <class Real>
class WarmUp {
 public:
  WarmUp(const Phases<Real>& run, std::int64_t num_warmup) : run_(run), segment_(run.chains.adapting(num_warmup)) {}

 protected:
  using Take = typename Ensemble<Real>::Take;

  /// As far as it comes.
  void advance_to(std::int64_t end) { arrived(end, run_.chains.run(segment_, out_.iterations, end)); }
  void advance_to(std::int64_t end, Windows<Real>& windows, const Take& take) {
    arrived(end, run_.chains.run(segment_, out_.iterations, end, windows, take));
  }
  /// Moves chains whose mean acceptance was next to nothing. False when there were none; else all begin again.
  bool relocate(const std::vector<double>& acceptance) {
    const Relocated moved = kilochain::relocate<Real>(run_, acceptance);
    out_.gradients += moved.gradients;
    if (moved.chains == 0) return false;
    note_ = fmt::format("{} chains that accepted nothing were relocated by NUTS", moved.chains);
    out_.iterations = 0;
    return true;
  }
  bool pooled() const { return segment_.scope == Scope::pooled; }

  const Phases<Real>& run_;
  Segment<Real> segment_;
  WarmedUp out_;
  std::string note_;

 private:
  void arrived(std::int64_t wanted, std::int64_t reached) {
    run_.require_chains(reached);
    out_.iterations = reached;
    out_.interrupted = reached < wanted;
  }
};

/// A warm-up of a given length.
template <class Real>
class FixedWarmUp : WarmUp<Real> {
  using Base = WarmUp<Real>;
  using Base::run_, Base::segment_, Base::out_;

 public:
  explicit FixedWarmUp(const Phases<Real>& run) : Base(run, *run.options.num_warmup) {
    segment_.rate_decays = Base::pooled();
    if (run.options.save_warmup && run.file.is_open())
      statistics_ =
          run.chains.windows(run.chains.shape(run.window(segment_.schedule.num_warmup), Recorded::statistics));
  }
  WarmedUp operator()() {
    const std::int64_t num_warmup = segment_.schedule.num_warmup;
    run_.reporter.begin("warm-up", 0, num_warmup);
    if (may_relocate(run_.options)) relocate();
    if (!out_.interrupted) advance(num_warmup);
    out_.note = Base::note_;
    return out_;
  }

 private:
  /// Statistics go to the file where they are wanted.
  void advance(std::int64_t end) {
    if (statistics_.buffers.empty()) return Base::advance_to(end);
    Base::advance_to(end, statistics_, [this](const Window<Real>& w) { run_.file.append_warmup_stats(w); });
  }
  void relocate() {
    advance(relocate_from);
    const auto before = run_.chains.controls();
    if (!out_.interrupted) advance(relocate_at);
    if (out_.interrupted) return;
    std::vector<double> acceptance;
    for (auto from = before.begin(); const ChainControl& c : run_.chains.controls()) {
      acceptance.push_back((c.acceptance_sum - from->acceptance_sum) / static_cast<double>(c.counted - from->counted));
      ++from;
    }
    Base::relocate(acceptance);
  }

  Windows<Real> statistics_;  ///< no buffers: they are not wanted
};

/// One that ends when its signs say so.
template <class Real>
class AutomaticWarmUp : WarmUp<Real> {
  using Base = WarmUp<Real>;
  using Base::run_, Base::segment_, Base::out_;

 public:
  explicit AutomaticWarmUp(const Phases<Real>& run)
      : Base(run, most_automatic_warmup),
        windows_(run.chains.windows(run.chains.shape(run.window(500)))),
        block_(run.options.num_chains, run.dim()),
        monitor_(target_accept(run.options)) {
    if (Base::pooled()) segment_.schedule.rate = pooled_rate(0);
  }
  WarmedUp operator()() {
    run_.reporter.begin("warm-up", 0, 0);
    search();
    if (!out_.interrupted) decay();
    if (!out_.interrupted) finish();
    return outcome();
  }

 private:
  /// Blocks grow: slow chains need long blocks before R-hat can tell that they agree.
  void search() {
    std::int64_t blocks = 0;
    out_.converged = false;
    for (std::int64_t block = first_block; !*out_.converged && out_.iterations + block <= most_automatic_warmup;) {
      if (!fill(block)) return;
      if (++blocks == 2 && Base::relocate(block_.acceptance())) {  // the first may have begun with a bad scale only
        monitor_.restart();
        block = first_block;
        continue;
      }
      out_.converged = monitor_.add(block_.signs(running(), run_.context.threads));
      run_.reporter.waits_for(monitor_.note());
      block = block * 3 / 2;
    }
  }
  /// A long block is kept thinned. False when interrupted.
  bool fill(std::int64_t block) {
    const std::int64_t room = windows_.buffers[0].shape().capacity;
    windows_.thin = (block + room - 1) / room, windows_.origin = out_.iterations;
    block_.begin(block / windows_.thin, windows_.thin);
    Base::advance_to(out_.iterations + block / windows_.thin * windows_.thin, windows_,
                     [this](const Window<Real>& w) { block_.take(w); });
    return !out_.interrupted;
  }
  std::vector<std::int64_t> running() const {
    std::vector<std::int64_t> out;
    for (std::int64_t k = 0; const ChainControl& c : run_.chains.controls()) {
      if (c.status == ChainStatus::running) out.push_back(k);
      ++k;
    }
    return out;
  }
  /// The factor comes to rest while the rate decays.
  void decay() {
    if (!Base::pooled()) return;
    const std::int64_t last = std::max<std::int64_t>(100, out_.iterations / 4), from = out_.iterations;
    for (int k = 1; k <= 10 && !out_.interrupted; ++k) {
      segment_.schedule.rate = pooled_rate(0.5 + 0.05 * k);
      Base::advance_to(from + last * k / 10);
    }
  }
  /// The last iteration is known now: no mass changes any more, the step settles, and dual averaging takes its average.
  void finish() {
    segment_.schedule.num_warmup = out_.iterations + Schedule::settling;
    Base::advance_to(segment_.schedule.num_warmup);
  }
  WarmedUp outcome() {
    out_.ess_per_iteration = monitor_.ess_per_iteration();
    out_.note = *out_.converged ? fmt::format("converged after {} iterations", out_.iterations)
                                : fmt::format("not converged after {} iterations: {}", out_.iterations,
                                              out_.interrupted ? "interrupted" : monitor_.note());
    if (!Base::note_.empty()) out_.note += "; " + Base::note_;
    if (*out_.converged || out_.interrupted) return out_;
    const auto rates = block_.acceptance();
    const std::int64_t stuck = std::count_if(rates.begin(), rates.end(), accepts_nothing);
    out_.advice = fmt::format(
        "warm-up has not converged after {} iterations: do not trust the summary; try the default in place of "
        "--sampler, "
        "as it learns scales and shape from all chains, {}?",
        out_.iterations,
        stuck > 0 ? fmt::format("or other starting points, such as --init normal:0.1 ({} chains accept nothing)", stuck)
                  : "or --num-warmup with more iterations");
    return out_;
  }

  static constexpr std::int64_t first_block = relocate_from;
  Windows<Real> windows_;
  BlockOfDraws<Real> block_;  ///< the last one
  WarmupMonitor monitor_;
};

}  // namespace

template <class Real>
WarmedUp warm_up(const Phases<Real>& run) {
  const auto begin = std::chrono::steady_clock::now();
  WarmedUp out = run.options.sampler == ensemble_sampler ? EnsembleWarmUp<Real>(run)()
                 : run.options.num_warmup                ? FixedWarmUp<Real>(run)()
                                                         : AutomaticWarmUp<Real>(run)();
  if (run.options.superchains > 1) out.superchains = run.options.superchains;
  out.seconds = seconds_since(begin);
  out.gradients += run.chains.take_gradients();
  return out;
}

template WarmedUp warm_up(const Phases<float>&);
template WarmedUp warm_up(const Phases<double>&);

}  // namespace kilochain
