#include "host/run/warmup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/learn/block_signs.hpp"
#include "host/run/ensemble_warmup.hpp"
#include "host/run/relocate.hpp"
#include "host/run/run_summary.hpp"
#include "host/run/warmup_keeper.hpp"
#include "host/statistics/chain_figures.hpp"

namespace kilochain {
namespace {

/// What both kinds of warm-up do.
template <class Real>
class WarmUp {
 public:
  WarmUp(const Phases<Real>& run, WarmupKeeper<Real>& keeper, std::int64_t num_warmup)
      : run_(run), keeper_(keeper), out_(keeper.so_far()), segment_(run.chains.adapting(num_warmup)) {}

 protected:
  using Take = typename Ensemble<Real>::Take;

  /// As far as it comes.
  void advance_to(std::int64_t end, Windows<Real>& windows, const Take& take) {
    out_.interrupted = !keeper_.run(run_.chains, segment_, out_.iterations, end, windows, take);
    run_.require_chains(out_.iterations);
  }
  /// Moves chains whose mean acceptance was next to nothing. False when there were none; else all begin again. When
  /// stopped meanwhile, the state is the one before.
  bool relocate(const std::vector<double>& acceptance) {
    const std::vector<char> before = keeper_.state();
    const Relocated moved = kilochain::relocate<Real>(run_, acceptance);
    if (run_.stop) {
      keeper_.save(before);
      out_.interrupted = true;
      return false;
    }
    out_.gradients += moved.gradients;
    if (moved.chains == 0) return false;
    note_ = fmt::format("{} chains that accepted nothing were relocated by NUTS", moved.chains);
    out_.iterations = 0;
    keeper_.forget();
    return true;
  }
  bool pooled() const { return segment_.scope == Scope::pooled; }

  const Phases<Real>& run_;
  WarmupKeeper<Real>& keeper_;
  WarmedUp& out_;
  Segment<Real> segment_;
  std::string note_;
};

/// A warm-up of a given length.
template <class Real>
class FixedWarmUp : WarmUp<Real> {
  using Base = WarmUp<Real>;
  using Base::run_, Base::segment_, Base::out_;

 public:
  FixedWarmUp(const Phases<Real>& run, WarmupKeeper<Real>& keeper) : Base(run, keeper, *run.options.num_warmup) {
    const std::int64_t num_warmup = segment_.schedule.num_warmup;
    segment_.rate_decays = Base::pooled();
    if (run.options.draws == KeptDraws::none) return;
    windows_ = run.chains.windows(run.chains.shape(run.window(num_warmup)));
    // A draw that is kept takes as long as a cheap iteration: of a long warm-up some are.
    windows_.thin = run.options.save_warmup ? 1 : std::clamp<std::int64_t>(num_warmup / 500, 1, 50);
  }
  void operator()() {
    const std::int64_t num_warmup = segment_.schedule.num_warmup;
    run_.reporter.begin("warm-up", 0, num_warmup);
    if (may_relocate(run_.options) && !looked_) relocate();
    if (!out_.interrupted) advance(num_warmup);
    out_.note = Base::note_;
  }
  template <class Visitor, class Self>
  static void visit(const Visitor& visit, Self& self) {
    visit("note", self.note_), visit("looked", self.looked_);
    visit("accepted", self.accepted_), visit("counted", self.counted_);
  }

 private:
  /// Statistics go to the file where they are wanted.
  void advance(std::int64_t end) {
    const bool saves = run_.options.save_warmup && run_.file.is_open();
    Base::advance_to(end, windows_, [&](const Window<Real>& w) {
      if (saves) run_.file.append_warmup_stats(w);
    });
  }
  void relocate() {
    if (out_.iterations < relocate_from) advance(relocate_from);
    if (!out_.interrupted && accepted_.empty())
      for (const ChainControl& c : run_.chains.controls())
        accepted_.push_back(c.acceptance_sum), counted_.push_back(c.counted);
    if (!out_.interrupted) advance(relocate_at);
    if (out_.interrupted) return;
    std::vector<double> acceptance;
    for (std::size_t k = 0; const ChainControl& c : run_.chains.controls()) {
      acceptance.push_back((c.acceptance_sum - accepted_[k]) / static_cast<double>(c.counted - counted_[k]));
      ++k;
    }
    Base::relocate(acceptance);
    looked_ = true;
  }

  bool looked_ = false;           ///< for chains that must be moved
  std::vector<double> accepted_;  ///< (chain), when it began to look: sums
  std::vector<std::int64_t> counted_;
  Windows<Real> windows_;  ///< no buffers: nothing is recorded
};

/// One that ends when its signs say so.
template <class Real>
class AutomaticWarmUp : WarmUp<Real> {
  using Base = WarmUp<Real>;
  using Base::run_, Base::segment_, Base::out_;

 public:
  AutomaticWarmUp(const Phases<Real>& run, WarmupKeeper<Real>& keeper)
      : Base(run, keeper, most_automatic_warmup),
        windows_(run.chains.windows(run.chains.shape(run.window(500)))),
        block_(run.options.num_chains, run.dim()),
        monitor_(find_sampler(run.options.sampler).target_accept(run.options.sampler_settings)) {
    if (Base::pooled()) segment_.schedule.rate = pooled_rate(0);
  }
  void operator()() {
    run_.reporter.begin("warm-up", 0, 0);
    run_.reporter.waits_for(monitor_.note());
    do {
      if (stage_ == searching) search();
      if (!out_.interrupted && stage_ < settling) decay();
      if (!out_.interrupted && stage_ < looking) finish();
    } while (!out_.interrupted && *out_.converged && goes_on());
    outcome();
  }
  template <class Visitor, class Self>
  static void visit(const Visitor& visit, Self& self) {
    visit("note", self.note_), visit("stage", self.stage_), visit("length", self.length_);
    visit("blocks", self.blocks_), visit("end", self.end_), visit("from", self.from_), visit("looks", self.looks_);
    visit("thin", self.windows_.thin), visit("origin", self.windows_.origin);
    visit("rate", self.segment_.schedule.rate);
    self.block_.visit(visit, self.block_), self.monitor_.visit(visit, self.monitor_);
  }

 private:
  /// Blocks grow: slow chains need long blocks before R-hat can tell that they agree.
  void search() {
    out_.converged = false;
    while (!*out_.converged && (end_ > 0 || out_.iterations + length_ <= most_automatic_warmup)) {
      if (!fill(length_)) return;
      if (blocks_ == 1 && Base::relocate(block_.acceptance())) {  // the first may have begun with a bad scale only
        monitor_.restart();
        blocks_ = 2, length_ = first_block, end_ = 0;
        continue;
      }
      if (out_.interrupted) return;
      ++blocks_;
      out_.converged = monitor_.add(block_.signs(running(), run_.context.threads));
      run_.reporter.waits_for(monitor_.note());
      length_ = length_ * 3 / 2, end_ = 0;
    }
  }
  /// A long block is kept thinned. False when interrupted.
  bool fill(std::int64_t length) {
    if (end_ == 0) {
      const std::int64_t room = windows_.buffers[0].shape().capacity;
      windows_.thin = (length + room - 1) / room, windows_.origin = out_.iterations;
      block_.begin(length / windows_.thin, windows_.thin);
      end_ = out_.iterations + length / windows_.thin * windows_.thin;
    }
    Base::advance_to(end_, windows_, [this](const Window<Real>& w) { block_.take(w); });
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
    if (stage_ == searching) stage_ = decaying, from_ = out_.iterations;
    const std::int64_t last = std::max<std::int64_t>(100, from_ / 4);
    for (int k = 1; k <= 10 && !out_.interrupted; ++k) {
      if (out_.iterations >= from_ + last * k / 10) continue;
      segment_.schedule.rate = pooled_rate(0.5 + 0.05 * k);
      Base::advance_to(from_ + last * k / 10, unrecorded_, nullptr);
    }
  }
  /// The last iteration is known now: no mass changes any more, the step settles, and dual averaging takes its average.
  void finish() {
    if (stage_ != settling) stage_ = settling, end_ = out_.iterations + Schedule::settling;
    segment_.schedule.num_warmup = end_;
    Base::advance_to(end_, unrecorded_, nullptr);
  }
  /// Looks at frozen chains, whose draws are thrown away: what settled after the signs were there may not fit. True: it
  /// does not, and the search goes on.
  bool goes_on() {
    if (stage_ != looking) stage_ = looking, end_ = 0;
    const Segment<Real> adapting = std::exchange(segment_, run_.chains.sampling(0));
    const bool whole = fill(first_block);
    segment_ = adapting;
    if (!whole) return false;
    seen_ = monitor_.frozen(block_.signs(running(), run_.context.threads), block_.acceptance());
    out_.converged = seen_.empty();
    if (seen_.empty() || ++looks_ > most_looks) return false;
    run_.reporter.waits_for(seen_);
    monitor_.restart();
    stage_ = searching, blocks_ = 2, end_ = 0;
    segment_.schedule.num_warmup = most_automatic_warmup;
    if (Base::pooled()) segment_.schedule.rate = pooled_rate(0);
    return true;
  }
  void outcome() {
    out_.ess_per_iteration = monitor_.ess_per_iteration();
    const std::string missing = *out_.converged            ? "its signs were there, and rates still decayed"
                                : !monitor_.note().empty() ? monitor_.note()
                                : !seen_.empty()           ? seen_
                                                           : "no sign was looked for yet";
    out_.converged = *out_.converged && !out_.interrupted;
    out_.note = *out_.converged ? fmt::format("converged after {} iterations", out_.iterations)
                                : fmt::format("not converged after {} iterations: {}{}", out_.iterations,
                                              out_.interrupted ? "interrupted; " : "", missing);
    if (!Base::note_.empty()) out_.note += "; " + Base::note_;
    if (*out_.converged || out_.interrupted) return;
    const auto rates = block_.acceptance();
    const std::int64_t stuck = std::count_if(rates.begin(), rates.end(), accepts_nothing);
    out_.advice = fmt::format(
        "warm-up has not converged after {} iterations: do not trust the summary; try the default in place of "
        "--sampler, as it learns scales and shape from all chains, or --num-warmup with more iterations{}? Where "
        "neither helps, the model wants another form (a funnel: non-centred).",
        out_.iterations, stuck > 0 ? fmt::format(" ({} chains accept nothing)", stuck) : "");
  }

  static constexpr std::int64_t first_block = relocate_from, most_looks = 3;
  enum Stage { searching, decaying, settling, looking };
  Windows<Real> windows_, unrecorded_;
  BlockOfDraws<Real> block_;  ///< the last one
  WarmupMonitor monitor_;
  int stage_ = searching;
  std::int64_t length_ = first_block, blocks_ = 0;  ///< of the block under way; blocks that are complete
  std::int64_t end_ = 0, from_ = 0;  ///< where the block or the stage ends, 0: not begun; where the decay began
  std::int64_t looks_ = 0;           ///< that found something
  std::string seen_;                 ///< in the last one
};

}  // namespace

template <class Real>
WarmedUp warm_up(const Phases<Real>& run, const RunState* before) {
  const MayGiveUp may(run.target.info());
  WarmupKeeper<Real> keeper(run, before);
  const auto go = [&](auto warm_up) {
    using Kind = decltype(warm_up);
    keeper.where = [&] {
      nlohmann::json j;
      Kind::visit(ToJson{j}, std::as_const(warm_up));
      return j;
    };
    if (before) try {
        Kind::visit(FromJson{nlohmann::json::from_cbor(before->within_warmup)}, warm_up);
      } catch (const nlohmann::json::exception&) {
        throw Error(ExitStatus::data, run.options.output + ": the state of its warm-up cannot be read",
                    "a number is missing, or of another kind",
                    "Was the file made by kilochain sample of this version?");
      }
    warm_up();
  };
  if (run.options.sampler == ensemble_sampler)
    go(EnsembleWarmUp<Real>(run, keeper));
  else if (run.options.num_warmup)
    go(FixedWarmUp<Real>(run, keeper));
  else
    go(AutomaticWarmUp<Real>(run, keeper));
  WarmedUp out = keeper.end();
  if (run.options.superchains > 1) out.superchains = run.options.superchains;
  return out;
}

template WarmedUp warm_up(const Phases<float>&, const RunState*);
template WarmedUp warm_up(const Phases<double>&, const RunState*);

}  // namespace kilochain
