#include "host/run/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/diagnostics/ess.hpp"
#include "host/diagnostics/rhat.hpp"
#include "host/run/start.hpp"

namespace kilochain {

template <class Real>
Session<Real>::Session(const Options& options, const Context& context, Target<Real>& target, const ProgressCallback& progress, const std::atomic<bool>& stop)
    : options_(options), context_(context), target_(target), progress_(progress), stop_(stop),
      num_chains_(static_cast<Index>(options.num_chains)), dim_(target.info().dim),
      num_stats_(static_cast<int>(find_sampler(options.sampler).stats.size())), begin_(Clock::now()) {}

template <class Real>
Session<Real>::~Session() {
  if (pending_.valid()) pending_.wait();
}

template <class Real>
DrawsHeader Session<Real>::header(std::int64_t num_samples) const {
  DrawsHeader h;
  h.target = options_.target;
  h.sampler = options_.sampler;
  h.num_chains = options_.num_chains;
  h.num_warmup = num_warmup_;
  h.num_samples = num_samples;
  h.thin = options_.thin;
  h.seed = options_.seed;
  h.real = sizeof(Real) == 8 ? "double" : "float";
  h.variable = target_.info().variable;
  h.names = target_.info().names;
  h.config = to_json(options_);
  h.stats = find_sampler(options_.sampler).stats;
  h.save_warmup_stats = options_.save_warmup;
  h.kept = options_.draws == DrawsMode::all ? KeptDraws::all : KeptDraws::moments;
  h.draws_per_append = window_draws(num_chains_, dim_, num_samples / options_.thin, sizeof(Real));
  return h;
}

template <class Real>
void Session<Real>::create_file(std::int64_t num_samples) {
  writer_.reset();
  writer_ = std::make_unique<DrawsWriter>(options_.output, header(num_samples));
  for (const Constant& c : target_.info().constants) {
    std::vector<std::pair<std::string, std::int64_t>> dims;
    for (std::size_t k = 0; k < c.dims.size(); ++k) dims.emplace_back(c.dims[k], static_cast<std::int64_t>(c.shape[k]));
    writer_->add_constant_data(c.name, dims, c.values);
  }
}

template <class Real>
void Session<Real>::open_output() {
  if (!options_.output.empty() && options_.draws != DrawsMode::none) create_file(options_.num_samples < 0 ? most_automatic_samples : options_.num_samples);
}

template <class Real>
void Session<Real>::start() {
  sampler_ = make_sampler<Real>(context_, options_.sampler, options_.sampler_settings, num_chains_, dim_, options_.adapt_scope);
  rounds_ = std::make_unique<Rounds<Real>>(context_, target_, *sampler_, num_chains_);
  rounds_->start(starting_points<Real>(options_, 0, num_chains_, dim_));
  const auto controls = sampler_->controls();
  note_quarantined(controls);
  require(quarantined_.size() < controls.size(), ExitStatus::data, "no chain can start", fmt::format("all {} starting points are refused: {}", controls.size(), quarantined_.empty() ? "" : quarantined_[0].reason),
          "Choose other starting points with --init?");
  phase_begin_ = last_report_ = Clock::now();
}

template <class Real>
void Session<Real>::note_quarantined(const std::vector<ChainControl>& controls) {
  for (std::size_t c = 0; c < controls.size(); ++c) {
    if (controls[c].status == ChainStatus::running) continue;
    const auto chain = static_cast<std::int64_t>(c);
    if (std::any_of(quarantined_.begin(), quarantined_.end(), [&](const auto& q) { return q.chain == chain; })) continue;
    quarantined_.push_back({chain, controls[c].iteration, quarantine_reason(controls[c].status)});
    if (streaming_) streaming_->exclude(chain);
  }
}

template <class Real>
std::vector<std::int64_t> Session<Real>::quarantined_chains() const {
  std::vector<std::int64_t> out;
  for (const auto& q : quarantined_) out.push_back(q.chain);
  std::sort(out.begin(), out.end());
  return out;
}

template <class Real>
void Session<Real>::report(const char* phase, std::int64_t done, std::int64_t total) {
  if (!progress_) return;
  const bool last = total > 0 && done >= total;
  if (!last && seconds_since(last_report_) < 0.2) return;
  last_report_ = Clock::now();
  Progress p;
  p.phase = phase;
  p.done = done;
  p.total = total;
  p.seconds = seconds_since(begin_);
  p.iterations_per_second = per_iteration_ > 0 ? 1 / per_iteration_ : 0;
  p.eta_seconds = total > 0 ? static_cast<double>(total - done) * per_iteration_ : -1;
  p.acceptance_rate = acceptance_now_;
  p.rhat_max = p.ess_min = NAN;
  if (streaming_ && draws_ >= 8) {
    const auto quick = streaming_->quick();
    p.rhat_max = quick.rhat_max;
    p.ess_min = quick.ess_min;
  }
  p.quarantined = static_cast<std::int64_t>(quarantined_.size());
  progress_(p);
}

/// Runs to `until` in pieces of about a quarter of a second, so that progress and Ctrl-C are prompt. False when stopped.
template <class Real>
bool Session<Real>::stretch(Plan<Real>& plan, std::int64_t until, bool pool) {
  while (iteration_ < until) {
    if (stop_) return false;
    const std::int64_t piece = per_iteration_ > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(0.25 / per_iteration_)) : 4;
    const std::int64_t to = std::min(until, iteration_ + piece);
    const auto t = Clock::now();
    plan.until = to;
    if (pool) plan.schedule.rate = num_warmup_ > 0 ? pooled_rate(static_cast<double>(iteration_ - plan.phase_start) / static_cast<double>(num_warmup_)) : plan.schedule.rate;
    if (!rounds_->run(plan, pool, stop_)) return false;
    synchronize(context_);
    const double now = seconds_since(t) / static_cast<double>(to - iteration_);
    per_iteration_ = per_iteration_ > 0 ? 0.5 * (per_iteration_ + now) : now;
    iteration_ = to;
    const auto controls = sampler_->controls();
    double sum = 0, count = 0;
    for (const auto& c : controls)
      if (c.status == ChainStatus::running) sum += c.acceptance_sum, count += static_cast<double>(c.counted);
    acceptance_now_ = count > 0 ? sum / count : 0;
    note_quarantined(controls);
    require(quarantined_.size() < controls.size(), ExitStatus::data, "no chain is left", fmt::format("all {} are quarantined by iteration {}", controls.size(), iteration_),
            "Does the target have a finite density where the chains start? Try another --init or a smaller initial step?");
    if (plan.schedule.adapting)
      report("warm-up", iteration_, num_warmup_);
    else
      report("sampling", sampled_ + iteration_ - (num_warmup_ + sampled_), num_samples_);
  }
  return true;
}

template <class Real>
void Session<Real>::warm_up() {
  phase_begin_ = Clock::now();
  if (options_.num_warmup < 0)
    automatic_warmup();
  else
    fixed_warmup();
  if (interrupted_) converged_ = false;
  num_warmup_ = iteration_;
  warmup_.seconds = seconds_since(phase_begin_);
  for (const auto& c : sampler_->controls()) warmup_.gradients += c.gradients;
  sampler_->reset_counts();
}

template <class Real>
void Session<Real>::fixed_warmup() {
  num_warmup_ = options_.num_warmup;
  const bool pool = options_.adapt_scope == Scope::pooled && find_sampler(options_.sampler).adaptive;
  Plan<Real> plan;
  plan.seed = options_.seed;
  plan.schedule.num_warmup = num_warmup_;
  plan.schedule.adapting = true;
  plan.adapt_alone = !pool;
  if (!options_.save_warmup || !writer_) {
    interrupted_ = !stretch(plan, num_warmup_, pool);
    return;
  }
  DrawsBuffer<Real> buffer(context_, num_chains_, dim_, window_draws(num_chains_, dim_, num_warmup_, sizeof(Real)), num_stats_);
  while (iteration_ < num_warmup_ && !interrupted_) {
    const std::int64_t first = iteration_, end = std::min(num_warmup_, first + buffer.capacity());
    plan.recording = buffer.recording(first, 1);
    plan.recording.draws = nullptr;
    interrupted_ = !stretch(plan, end, pool);
    if (iteration_ > first) writer_->append_warmup_stats(first, iteration_ - first, buffer.fetch(iteration_ - first, std::vector<std::int64_t>(static_cast<std::size_t>(num_chains_), iteration_ - first)));
  }
}

template <class Real>
BlockSigns Session<Real>::signs_of(const Window& window, std::int64_t count, const std::vector<ChainControl>& controls) const {
  BlockSigns signs;
  std::vector<std::int64_t> running;
  for (std::size_t c = 0; c < controls.size(); ++c)
    if (controls[c].status == ChainStatus::running) running.push_back(static_cast<std::int64_t>(c));
  double acceptance = 0;
  for (const auto c : running) {
    double lp = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      lp += window.lp[c * window.capacity + s] / static_cast<double>(count);
      acceptance += static_cast<double>(window.acceptance_rate[c * window.capacity + s]);
    }
    signs.lp.push_back(lp);
  }
  signs.acceptance = acceptance / static_cast<double>(running.size()) / static_cast<double>(count);
  const Real* draws = static_cast<const Real*>(window.draws);
  double rhat = 0, ess = INFINITY;
  // At most about 64 coordinates and 256 chains: the slowest of a spread sample stands for all.
  const Index step = std::max<Index>(1, dim_ / 64);
  const std::size_t stride = std::max<std::size_t>(1, running.size() / 256);
#pragma omp parallel for num_threads(context_.threads) schedule(dynamic) reduction(max : rhat) reduction(min : ess)
  for (Index i = 0; i < dim_; i += step) {
    std::vector<double> values;
    std::int64_t chains = 0;
    for (std::size_t k = 0; k < running.size(); k += stride, ++chains)
      for (std::int64_t s = 0; s < count; ++s) values.push_back(static_cast<double>(draws[(running[k] * window.capacity + s) * dim_ + i]));
    const BasicSeries<double> series{values.data(), chains, count};
    rhat = std::max(rhat, rhat_split(series));
    ess = std::min(ess, ess_mean(series) * static_cast<double>(running.size()) / static_cast<double>(chains));
  }
  signs.rhat = rhat;
  signs.ess_per_iteration = ess / static_cast<double>(count);
  return signs;
}

template <class Real>
void Session<Real>::automatic_warmup() {
  const SamplerEntry& entry = find_sampler(options_.sampler);
  const bool pool = options_.adapt_scope == Scope::pooled && entry.adaptive;
  double target_accept = NAN;
  for (const auto& s : entry.settings)
    if (s.name == "target_accept") {
      const auto own = options_.sampler_settings.find("target_accept");
      target_accept = std::stod(own == options_.sampler_settings.end() ? s.default_value : own->second);
    }
  WarmupMonitor monitor(target_accept);
  Plan<Real> plan;
  plan.seed = options_.seed;
  plan.schedule.adapting = true;
  plan.schedule.num_warmup = most_automatic_warmup;
  plan.schedule.rate = pool ? pooled_rate(0) : 1;
  plan.adapt_alone = !pool;
  converged_ = false;
  // Blocks grow: slow chains need long blocks before R-hat can tell that they agree. A long block is kept thinned.
  const std::int64_t room = window_draws(num_chains_, dim_, 500, sizeof(Real));
  DrawsBuffer<Real> buffer(context_, num_chains_, dim_, room, num_stats_);
  std::int64_t block = 100;
  while (!converged_ && !interrupted_ && iteration_ < most_automatic_warmup) {
    const std::int64_t thin = (block + room - 1) / room, first = iteration_, count = block / thin;
    plan.recording = buffer.recording(first, thin);
    interrupted_ = !stretch(plan, first + count * thin, pool);
    if (interrupted_) break;
    const auto controls = sampler_->controls();
    BlockSigns signs = signs_of(buffer.fetch(count, std::vector<std::int64_t>(controls.size(), count)), count, controls);
    signs.ess_per_iteration /= static_cast<double>(thin);
    converged_ = monitor.add(signs);
    block = block * 3 / 2;
  }
  if (!interrupted_ && pool) {  // let the factor settle while the rate decays
    const std::int64_t last = std::max<std::int64_t>(100, iteration_ / 4), from = iteration_;
    plan.recording = {};
    for (int k = 1; k <= 10 && !interrupted_; ++k) {
      plan.schedule.rate = pooled_rate(0.5 + 0.05 * k);
      interrupted_ = !stretch(plan, from + last * k / 10, pool);
    }
  }
  ess_per_iteration_ = monitor.ess_per_iteration();
  warmup_note_ = converged_ ? fmt::format("converged after {} iterations", iteration_) : fmt::format("not converged after {} iterations: {}", iteration_, interrupted_ ? "interrupted" : monitor.note());
  if (!converged_ && !interrupted_) notes_.push_back("warm-up has " + warmup_note_ + ". Do not trust the summary; try --num-warmup with more iterations, or another sampler?");
}

/// Enough iterations for an effective sample size of the slowest coordinate of about 10 000, and of 150 for each chain
/// (split R-hat of chains shorter than that exceeds 1.01 by their shortness alone), from the warm-up's efficiency.
template <class Real>
std::int64_t Session<Real>::automatic_samples() const {
  const double wanted = ess_per_iteration_ > 0 ? std::max(10000.0, 150.0 * static_cast<double>(num_chains_)) / ess_per_iteration_ : 1000;
  const double most = static_cast<double>(most_automatic_samples);
  const auto samples = static_cast<std::int64_t>(std::clamp(std::isfinite(wanted) ? wanted : most, 200.0, most));
  return (samples + options_.thin - 1) / options_.thin * options_.thin;
}

template <class Real>
void Session<Real>::wait_for_disk() {
  if (pending_.valid()) pending_.get();
}

/// Hands a window to whoever wants it. The disk works while the next window is sampled.
template <class Real>
void Session<Real>::deliver(DrawsBuffer<Real>& buffer, std::int64_t count, const std::vector<std::int64_t>& from) {
  const Window window = buffer.fetch(count, from);
  if (streaming_) streaming_->add(static_cast<const Real*>(window.draws), window.capacity, count, context_.threads);
  wait_for_disk();
  if (writer_ && stores_draws(options_)) {
    pending_ = std::async(std::launch::async, [this, window, first = draws_, count] { writer_->append(first, count, window); });
  }
  draws_ += count;
}

template <class Real>
void Session<Real>::sample() {
  phase_begin_ = Clock::now();
  num_samples_ = options_.num_samples < 0 ? automatic_samples() : options_.num_samples;
  if (interrupted_) num_samples_ = 0;
  if (options_.num_samples < 0 && writer_ && !interrupted_) create_file(num_samples_);
  const std::int64_t num_draws = num_samples_ / options_.thin;
  if (options_.draws != DrawsMode::none && num_draws > 0) streaming_ = std::make_unique<StreamingSummary>(num_chains_, dim_, num_draws);
  if (streaming_)
    for (const auto chain : quarantined_chains()) streaming_->exclude(chain);
  Plan<Real> plan;
  plan.seed = options_.seed;
  plan.phase_start = num_warmup_;
  plan.schedule.num_warmup = num_warmup_;
  std::vector<DrawsBuffer<Real>> buffers;
  const std::int64_t room = window_draws(num_chains_, dim_, std::max<std::int64_t>(1, num_draws), sizeof(Real));
  for (int k = 0; k < 2 && num_draws > 0; ++k) buffers.emplace_back(context_, num_chains_, dim_, room, num_stats_);
  for (std::int64_t window = 0; sampled_ < num_samples_ && !interrupted_; ++window) {
    DrawsBuffer<Real>& buffer = buffers[static_cast<std::size_t>(window % 2)];
    const std::int64_t first = iteration_, wanted = std::min(num_samples_ - sampled_, room * options_.thin);
    plan.recording = buffer.recording(first, options_.thin);
    if (options_.draws == DrawsMode::none) plan.recording.draws = nullptr;
    interrupted_ = !stretch(plan, first + wanted, false);
    const std::int64_t done = iteration_ - first;
    const auto controls = sampler_->controls();
    std::vector<std::int64_t> from;  // the first slot that each chain has not drawn
    for (const auto& c : controls) from.push_back(c.status == ChainStatus::running ? done / options_.thin : (c.iteration - first) / options_.thin);
    if (done / options_.thin > 0 && options_.draws != DrawsMode::none) deliver(buffer, done / options_.thin, from);
    sampled_ += done;
  }
  wait_for_disk();
  sampling_.seconds = seconds_since(phase_begin_);
  final_controls_ = sampler_->controls();
  for (const auto& c : final_controls_) sampling_.gradients += c.gradients;
}

template <class Real>
Result Session<Real>::finish() {
  Result r;
  RunSummary& s = r.summary;
  s.target = options_.target;
  s.sampler = options_.sampler;
  s.device = context_.name;
  s.real = sizeof(Real) == 8 ? "double" : "float";
  s.num_chains = options_.num_chains;
  s.num_warmup = num_warmup_;
  s.num_samples = sampled_;
  s.thin = options_.thin;
  s.seconds_warmup = warmup_.seconds;
  s.seconds_sampling = sampling_.seconds;
  s.seconds_total = warmup_.seconds + sampling_.seconds;
  s.gradient_evaluations = warmup_.gradients + sampling_.gradients;
  s.quarantined = static_cast<std::int64_t>(quarantined_.size());
  s.warmup_converged = converged_;
  s.warmup_note = warmup_note_;
  std::vector<double> acceptance;
  for (const auto& c : final_controls_)
    if (c.status == ChainStatus::running && c.counted > 0) acceptance.push_back(c.acceptance_sum / static_cast<double>(c.counted));
  if (!acceptance.empty()) set_acceptance(s, acceptance);
  r.quarantined = quarantined_;
  r.interrupted = interrupted_;
  r.draws_written = draws_;
  r.notes = notes_;
  if (writer_) {
    nlohmann::json run = to_json(s);
    run.erase("parameters");
    nlohmann::json end = {{"sampling_time", s.seconds_sampling}, {"warmup_time", s.seconds_warmup}, {"quarantined", quarantined_chains()},
                          {"gradient_evaluations", s.gradient_evaluations}, {"num_warmup", num_warmup_}, {"num_samples", sampled_}, {"device", s.device},
                          {"acceptance_rate_per_chain_q50", s.acceptance_q50}, {"warmup_converged", converged_ ? 1 : 0}, {"warmup_note", warmup_note_}, {"interrupted", interrupted_ ? 1 : 0}};
    writer_->add_attributes(end);
  }
  if (stores_draws(options_) && draws_ > 0) {
    writer_->finish();
    writer_.reset();
    const RunSummary stored = summarise_file(options_.output);
    s.parameters = stored.parameters;
  } else if (streaming_ && draws_ > 0) {
    s.parameters = streaming_->results(target_.info().names, context_.threads);
    if (writer_) {
      std::vector<std::pair<std::string, std::vector<double>>> columns;
      for (const auto& [name, member] : std::initializer_list<std::pair<const char*, double ParameterSummary::*>>{
               {"mean", &ParameterSummary::mean}, {"sd", &ParameterSummary::sd}, {"mcse_mean", &ParameterSummary::mcse_mean}, {"q05", &ParameterSummary::q05},
               {"q50", &ParameterSummary::q50}, {"q95", &ParameterSummary::q95}, {"ess_bulk", &ParameterSummary::ess_bulk}, {"ess_tail", &ParameterSummary::ess_tail},
               {"rhat", &ParameterSummary::rhat}}) {
        std::vector<double> column;
        for (const auto& p : s.parameters) column.push_back(p.*member);
        columns.emplace_back(name, column);
      }
      writer_->write_summary(target_.info().names, columns);
    }
  }
  if (writer_) writer_->finish();
  return r;
}

template class Session<float>;
template class Session<double>;

}  // namespace kilochain
