#include "host/run/estimate.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/shown.hpp"
#include "base/units.hpp"
#include "host/run/ensemble.hpp"
#include "host/run/relocate.hpp"
#include "host/run/start.hpp"
#include "host/statistics/streaming/streaming.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t most_in_memory = std::int64_t(1) << 30;

std::size_t bytes(std::int64_t count, std::size_t of_one) { return count * of_one; }

std::size_t free_on_disk(const std::string& output) {
  const auto folder = std::filesystem::path(output).parent_path();
  struct statvfs s;
  if (statvfs(folder.empty() ? "." : folder.c_str(), &s) != 0) return ~std::size_t(0);
  return s.f_bavail * s.f_frsize;
}

/// What an automatic length may become: the least where every draw is an effective one, likely three times that.
struct Lengths {
  std::int64_t least, likely, most;
};
Lengths warmup_of(const Options& o) {
  const std::int64_t most = most_automatic_warmup;
  return o.num_warmup ? Lengths{*o.num_warmup, *o.num_warmup, *o.num_warmup} : Lengths{most / 100, most / 20, most};
}
Lengths samples_of(const Options& o) {
  if (o.num_samples) return {*o.num_samples, *o.num_samples, *o.num_samples};
  const std::int64_t most = most_automatic_samples,
                     least = std::clamp<std::int64_t>(
                         static_cast<std::int64_t>(wanted_ess(o)) / std::max<std::int64_t>(1, o.num_chains), 200, most);
  return {least, std::min(3 * least, most), most};
}

/// The rows of an estimate, from the sizes that they share.
class Accounting {
 public:
  Accounting(const Options& o, const Context& context, const TargetInfo& info, Precision precision)
      : o_(o),
        context_(context),
        info_(info),
        precision_(precision),
        recorded_(std::ssize(info.names)),
        draws_(std::max<std::int64_t>(1, samples_of(o).likely / o.thin)),
        slots_(window_draws(o.num_chains, window_values(o, info, precision), draws_, precision)),
        stats_(static_cast<int>(find_sampler(o.sampler).stats.size())) {}

  std::vector<Estimate::Row> all() && {
    add("program and libraries", "host", std::size_t(writes_file(o_) ? 28 : 20) << 20);  // NetCDF and HDF5 take 8
    chains(), windows(), summary(), disk();
    return std::move(rows_);
  }

 private:
  std::size_t real() const { return bytes_of(precision_); }
  void add(std::string what, const char* where, std::size_t bytes) { rows_.push_back({std::move(what), where, bytes}); }

  void chains() {
    const std::int64_t batch = batch_size(o_);
    const ChainBytes of = bytes_of_chains(context_, o_.sampler, o_.sampler_settings, static_cast<Index>(batch), info_,
                                          o_.adapt_scope, precision_);
    const char* where = context_.backend == Backend::cuda ? "device" : "host";
    add("state of the chains", where, of.state);
    add("adaptation", where, of.adaptation);
    add("queries and answers", where, of.exchange);
    add("pooled sums", where, of.pooled_sums);
    add("data and scratch", where,
        static_cast<std::size_t>(2 * info_.bytes) +
            (info_.scratch_bytes ? info_.scratch_bytes(static_cast<Index>(batch)) : 0));
    if (context_.backend == Backend::cuda && may_relocate(o_) && info_.offers >= Needs::gradient)
      add("chains that are relocated", where, relocation_of(o_, context_, info_, precision_).bytes);
    if (batch < o_.num_chains)
      add("chains put aside", "host", bytes(o_.num_chains / batch, of.state + of.adaptation + of.exchange));
  }

  void windows() {
    const auto window_bytes = [&](std::int64_t chains) {
      return in_precision(precision_, [&](auto zero) {
        return DrawsBuffer<decltype(zero)>::bytes(
            {chains, info_.dim, slots_, stats_, Recorded::draws, kept_spins(o_, info_)});
      });
    };
    const bool ahead = context_.backend == Backend::cuda && batch_size(o_) == o_.num_chains;  // see Ensemble
    const std::int64_t all = windows_of(ahead) + (stores_draws(o_) ? 1 : 0);
    // A host's page that nobody has written takes no memory; a device's does.
    const auto copies = static_cast<std::size_t>(
        context_.backend == Backend::cuda ? all : std::min(all, (draws_ + slots_ - 1) / slots_));
    const std::string what = fmt::format("windows of {} draws", slots_);
    add(what, "host", copies * window_bytes(o_.num_chains));
    if (o_.draws != KeptDraws::none)  // WarmupKeeper
      add("last draws of the warm-up", "host",
          bytes(std::min<std::int64_t>(slots_, 500) * o_.num_chains,
                static_cast<std::size_t>(info_.dim) * real() + 12));
    if (info_.constrain)
      add("recorded values of the windows", "host", 2 * bytes(o_.num_chains * slots_ * recorded_, real()));
    if (context_.backend == Backend::cuda) add(what, "device", copies * window_bytes(batch_size(o_)));
  }

  /// What keeps the draws, and what makes their summary: 48 bytes a draw for each thread, and the draws that it works
  /// on.
  void summary() {
    const SummaryFrom from = summary_from(o_, recorded_, draws_);
    const std::int64_t of_one = o_.num_chains * draws_;
    if (from == SummaryFrom::memory || o_.keep_draws)
      add("draws in memory", "host", bytes(of_one * recorded_, real() + (o_.keep_draws ? sizeof(double) : 0)));
    if (from == SummaryFrom::stream)
      add("streaming statistics", "host", StreamingSummary::bytes(o_.num_chains, recorded_, draws_, context_.threads));
    if (from == SummaryFrom::memory || from == SummaryFrom::file)
      add("summary of the draws", "host",
          (from == SummaryFrom::memory
               ? bytes(of_one * gathered_together(recorded_, of_one, real(), context_.threads), sizeof(double))
               : std::min(FileWishes().max_bytes, bytes(of_one * recorded_, sizeof(double)))) +
              bytes(context_.threads * of_one, 48));
  }

  /// A variable takes about 3 KB of the file whatever it holds, an index of chains and draws comes with each group, and
  /// a state is stored by chunks of 64 KiB.
  void disk() {
    if (!writes_file(o_)) return;
    std::size_t constants = 0, names = 0;
    for (const Constant& c : info_.constants) constants += bytes(std::ssize(c.values), sizeof(double));
    for (const std::string& name : info_.names) names += name.size() + 16;
    const bool draws = stores_draws(o_);
    const std::size_t variables =
        info_.constants.size() + (draws ? info_.variables.size() + static_cast<std::size_t>(stats_) + 12 : 1);
    add("data, names and indices", "disk",
        constants + 2 * names + 20'000 + 3'000 * variables + (draws ? bytes(o_.num_chains + draws_, 16) : 0));
    if (o_.draws == KeptDraws::moments)
      add("summary", "disk", bytes(recorded_, std::size(summary_columns) * sizeof(double)) + bytes(o_.num_chains, 8));
    if (draws)
      add("draws", "disk",
          bytes(o_.num_chains * draws_,
                bytes(recorded_, real()) + bytes(kept_spins(o_, info_), 1) + 13 + bytes(stats_, sizeof(float))));
    const std::size_t state = bytes_of_run_state(o_, context_, info_, precision_, draws_), chunk = std::size_t(1) << 16;
    if (state == 0) return;
    add("state of the chains", "disk", 2 * ((state + chunk - 1) / chunk * chunk));
    add("state on its way to the disk", "host", 2 * state);
  }

  const Options& o_;
  const Context& context_;
  const TargetInfo& info_;
  Precision precision_;
  std::int64_t recorded_, draws_, slots_;
  int stats_;
  std::vector<Estimate::Row> rows_;
};

/// The few chains that are timed.
Options few_of(const Options& o, const Context& context) {
  Options few = o;
  if (context.backend == Backend::cpu) few.num_chains = std::min<std::int64_t>(o.num_chains, 64 * context.threads);
  if (few.init.starts_with("file:")) few.init = "normal";
  few.draws = KeptDraws::none;
  return few;
}

/// Iterations in growing steps for a fraction of a second; returns the seconds of one of all chains.
template <class Real>
double timed(Ensemble<Real>& chains, const Segment<Real>& segment, std::int64_t& now) {
  const std::int64_t first = now;
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0;
  for (std::int64_t step = 1; seconds < 0.2 && now < first + 10000; step *= 2) {
    now = chains.run(segment, now, now + step);
    seconds = seconds_since(begin);
    if (!chains.any_left()) break;
  }
  return seconds / static_cast<double>(std::max<std::int64_t>(1, now - first));
}

/// Seconds of one iteration of one chain. A sampler that asks often takes as many gradients as its step lets it: the
/// step is learnt first, for as long.
template <class Real>
double timed_iteration(const Options& few, const Context& context, Target<Real>& target) {
  const std::atomic<bool> never{false};
  Reporter silent;
  EnsembleSetup setup = setup_of(few);
  setup.batch_size = few.num_chains;
  Ensemble<Real> chains(context, target, setup, silent, never);
  const StartingPoints<Real> points(few, target.info().dim);
  const auto first = points.of(0, 1);
  const MayGiveUp may(target.info());
  target.check_evaluation(first.data());
  chains.start([&](Index first, Index count) { return points.of(first, count); });
  std::int64_t now = 0;
  if (chains.asks_often() && find_sampler(few.sampler).adaptive) timed(chains, chains.adapting(1000), now);
  return timed(chains, chains.sampling(now), now) / static_cast<double>(few.num_chains);
}

void add_up(Estimate& e) {
  for (const auto& row : e.rows)
    (row.where == "host" ? e.host_bytes : row.where == "device" ? e.device_bytes : e.disk_bytes) += row.bytes;
}

/// Sets whether it fits, and what would make it fit.
void judge(Estimate& e, const Options& o, const Context& context) {
  const bool host_fits = e.host_bytes <= e.host_available,
             device_fits = e.device_bytes <= e.device_available || context.backend == Backend::cpu,
             disk_fits = e.disk_bytes <= e.disk_available || e.disk_bytes == 0;
  e.fits = host_fits && device_fits && disk_fits;
  if (!disk_fits || (!host_fits && stores_draws(o))) {
    const std::size_t times = e.disk_bytes / std::max<std::size_t>(1, e.disk_available) + 1,
                      thin = bytes(o.thin, std::max<std::size_t>(2, times));
    const bool leaves_some = !o.num_samples || thin <= static_cast<std::size_t>(*o.num_samples);
    e.advice = leaves_some
                   ? fmt::format("Keep fewer draws with --thin {}, or the summary alone with --draws moments?", thin)
                   : "Keep the summary alone with --draws moments?";
  }
  if (!host_fits || !device_fits)
    e.advice += std::string(e.advice.empty() ? "" : " ") +
                fmt::format("Run fewer chains at a time with --chain-batch-size, or use {}--real float?",
                            scope_of(o) == Scope::chain ? "--adapt-scope pooled, " : "");
}

}  // namespace

SummaryFrom summary_from(const Options& o, std::int64_t recorded, std::int64_t num_draws) {
  if (o.draws == KeptDraws::none) return SummaryFrom::nothing;
  if (o.draws == KeptDraws::moments) return SummaryFrom::stream;
  if (o.resume) return SummaryFrom::file;
  return o.keep_draws || num_draws <= draws_in_memory(o, recorded) ? SummaryFrom::memory : SummaryFrom::stream;
}

std::int64_t draws_in_memory(const Options& o, std::int64_t recorded) {
  return most_in_memory / 8 / std::max<std::int64_t>(1, recorded) /
         std::max<std::int64_t>(1, o.num_chains);  // as double
}

std::int64_t kept_spins(const Options& o, const TargetInfo& info) {
  if (info.spins.empty() || o.draws != KeptDraws::all || !stores_draws(o)) return 0;
  std::int64_t n = 1;
  for (const std::size_t size : info.spins) n *= size;
  return n;
}

std::int64_t window_values(const Options& o, const TargetInfo& info, Precision precision) {
  const std::int64_t recorded = info.constrain ? std::max<std::int64_t>(info.dim, std::ssize(info.names)) : info.dim;
  return recorded + kept_spins(o, info) / static_cast<std::int64_t>(bytes_of(precision));
}

std::int64_t window_draws(std::int64_t num_chains, std::int64_t dim, std::int64_t num_draws, Precision precision) {
  const std::int64_t slot = num_chains * (dim * bytes_of(precision) + 16);
  return std::clamp<std::int64_t>((std::int64_t(64) << 20) / slot, 4,
                                  std::max<std::int64_t>(4, std::min<std::int64_t>(1000, num_draws)));
}

std::size_t bytes_of_run_state(const Options& o, const Context& context, const TargetInfo& info, Precision precision,
                               std::int64_t num_draws) {
  if (!stores_draws(o)) return 0;
  const std::int64_t batch = batch_size(o);
  const ChainBytes of = bytes_of_chains(context, o.sampler, o.sampler_settings, static_cast<Index>(batch), info,
                                        o.adapt_scope, precision);
  const std::size_t state = of.saved * static_cast<std::size_t>(o.num_chains / batch),
                    draws = bytes(o.num_chains * num_draws, bytes(std::ssize(info.names), bytes_of(precision)));
  return state <= std::max<std::size_t>(draws, 1 << 20) ? state : 0;
}

std::size_t journal_bytes(const Options& o, const TargetInfo& info, Precision precision) {
  if (!stores_draws(o)) return 0;
  const std::int64_t values = window_values(o, info, precision),
                     draws = window_draws(o.num_chains, values, o.num_samples.value_or(most_automatic_samples) / o.thin,
                                          precision);
  return bytes(o.num_chains * draws, bytes(values, bytes_of(precision)) + 16) * 17 / 16 + (1 << 18);
}

Estimate estimate_for(const Options& o, const Context& context, const TargetInfo& info, Precision precision) {
  Estimate e;
  e.rows = Accounting(o, context, info, precision).all();
  add_up(e);
  e.host_available = available_bytes(Context{});
  e.device_available = context.backend == Backend::cuda ? available_bytes(context) : 0;
  e.disk_available = o.output.empty() ? 0 : free_on_disk(o.output);
  e.disk_available -= std::min(e.disk_available, journal_bytes(o, info, precision));
  judge(e, o, context);
  return e;
}

template <class Real>
Estimate estimate(const Options& o, const Context& context, Target<Real>& target) {
  Estimate e = estimate_for(o, context, target.info(), precision_of<Real>);
  const Lengths warmup = warmup_of(o);
  Lengths samples = samples_of(o);  // the run goes on while draws have room in memory
  samples.most = std::clamp(draws_in_memory(o, std::ssize(target.info().names)) * o.thin, samples.likely, samples.most);
  if (!o.num_samples && stores_draws(o)) {
    Options fixed = o;
    for (auto [length, bytes] : {std::pair{samples.least, &e.least_disk}, {samples.most, &e.most_disk}}) {
      fixed.num_samples = length;
      *bytes = estimate_for(fixed, context, target.info(), precision_of<Real>).disk_bytes;
    }
  }
  const Options few = few_of(o, context);
  if (estimate_for(few, context, target.info(), precision_of<Real>).fits) {
    const double seconds = timed_iteration<Real>(few, context, target) * static_cast<double>(o.num_chains);
    e.least_seconds = seconds * static_cast<double>(warmup.least + samples.least);
    e.seconds = seconds * static_cast<double>(warmup.likely + samples.likely);
    e.most_seconds = seconds * static_cast<double>(warmup.most + samples.most);
  }
  return e;
}

void refuse_if_too_large(const Options& o, const Estimate& e) {
  if (e.fits) return;
  std::string table;
  for (const auto& row : e.rows)
    table += fmt::format("\n  {:<26} {:<7} {:>12}", row.what, row.where, bytes_text(row.bytes));
  throw ErrorInLines(
      ExitStatus::usage, fmt::format("{} chains need more memory or disk than there is", o.num_chains),
      fmt::format("host {} of {}, device {} of {}, disk {} of {};{}\n", bytes_text(e.host_bytes),
                  bytes_text(e.host_available), bytes_text(e.device_bytes), bytes_text(e.device_available),
                  bytes_text(e.disk_bytes), bytes_text(e.disk_available), table),
      e.advice);
}

template Estimate estimate(const Options&, const Context&, Target<float>&);
template Estimate estimate(const Options&, const Context&, Target<double>&);

}  // namespace kilochain
