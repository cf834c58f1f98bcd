#include "host/run/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/run/start.hpp"

namespace kilochain {

template <class Real>
Session<Real>::Session(const Options& options, const Context& context, Target<Real>& target,
                       const ProgressCallback& progress, const std::atomic<bool>& stop)
    : options_(options),
      context_(context),
      target_(target),
      progress_(progress),
      stop_(stop),
      num_chains_(static_cast<Index>(options.num_chains)),
      batch_size_(static_cast<Index>(options.chain_batch_size ? options.chain_batch_size : options.num_chains)),
      dim_(target.info().dim),
      recorded_(static_cast<Index>(target.info().names.size())),
      num_stats_(static_cast<int>(find_sampler(options.sampler).stats.size())),
      begin_(Clock::now()) {}

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
  h.real = name_of(precision_of<Real>);
  h.variable = target_.info().variable;
  h.names = target_.info().names;
  for (const Variable& v : target_.info().variables)
    h.variables.emplace_back(v.name, v.shape.empty() ? 0 : static_cast<std::int64_t>(v.shape[0]));
  h.config = to_json(options_);
  h.stats = find_sampler(options_.sampler).stats;
  h.save_warmup_stats = options_.save_warmup;
  h.kept = options_.draws;
  h.draws_per_append = window_draws(num_chains_, recorded_, num_samples / options_.thin, sizeof(Real));
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
  if (!options_.output.empty() && options_.draws != KeptDraws::none)
    create_file(options_.num_samples < 0 ? most_automatic_samples : options_.num_samples);
}

template <class Real>
void Session<Real>::start() {
  sampler_ =
      make_chains<Real>(context_, options_.sampler, options_.sampler_settings, batch_size_, dim_, options_.adapt_scope);
  rounds_ = std::make_unique<Rounds<Real>>(context_, target_, *sampler_, batch_size_);
  std::vector<char> fresh;
  if (batch_size_ < num_chains_) fresh = sampler_->save();
  for (Index first = 0; first < num_chains_; first += batch_size_) {
    if (first > 0) sampler_->load(fresh);
    rounds_->start(starting_points<Real>(options_, first, batch_size_, dim_));
    note_quarantined(sampler_->controls(), first);
    batches_.push_back({first, {}});
    if (first + batch_size_ < num_chains_) batches_.back().saved = sampler_->save();
  }
  on_device_ = batches_.size() - 1;
  require(static_cast<Index>(quarantined_.size()) < num_chains_, ExitStatus::data, "no chain can start",
          fmt::format("all {} starting points are refused: {}", num_chains_,
                      quarantined_.empty() ? "" : quarantined_[0].reason),
          "Choose other starting points with --init?");
  phase_begin_ = last_report_ = Clock::now();
}

/// Puts a batch on the device, and the one that was there aside.
template <class Real>
void Session<Real>::bring(std::size_t batch) {
  if (batch == on_device_) return;
  batches_[on_device_].saved = sampler_->save();
  sampler_->load(batches_[batch].saved);
  batches_[batch].saved.clear();
  on_device_ = batch;
}

/// Runs every batch from iteration `from` to `until`; each leaves its draws in `buffer`, as `kept` says, when there is one.
template <class Real>
bool Session<Real>::each_batch(std::int64_t from, Segment<Real>& segment, DrawsBuffer<Real>* buffer,
                               const Recording<Real>& kept, std::int64_t until) {
  bool all = true;
  for (std::size_t k = 0; k < batches_.size() && all; ++k) {
    bring(batches_.size() == 1 ? 0 : k);
    iteration_ = from;
    segment.first_chain = static_cast<std::uint32_t>(batches_[k].first);
    segment.recording = {};
    if (buffer) {
      buffer->clear(batches_[k].first);
      segment.recording =
          buffer->recording(batches_[k].first, kept.first_iteration, kept.thin, (until - from) / kept.thin);
    }
    all = stretch(segment, until);
    if (buffer) buffer->collect(batches_[k].first);
  }
  if (!all && batches_.size() > 1) iteration_ = from;  // other batches have not come as far
  return all;
}

template <class Real>
std::vector<ChainControl> Session<Real>::all_controls() {
  std::vector<ChainControl> out;
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    bring(k);
    const auto part = sampler_->controls();
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

template <class Real>
void Session<Real>::note_quarantined(const std::vector<ChainControl>& controls, Index first) {
  for (std::size_t c = 0; c < controls.size(); ++c) {
    if (controls[c].status == ChainStatus::running) continue;
    const auto chain = static_cast<std::int64_t>(c) + first;
    if (std::any_of(quarantined_.begin(), quarantined_.end(), [&](const auto& q) { return q.chain == chain; }))
      continue;
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

/// Runs the chains on the device to `until`, in pieces of about a quarter of a second, so that progress and Ctrl-C are
/// prompt. What is drawn does not depend on the pieces. False when stopped.
template <class Real>
bool Session<Real>::stretch(Segment<Real>& segment, std::int64_t until) {
  while (iteration_ < until) {
    if (stop_) return false;
    const std::int64_t piece =
        per_iteration_ > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(0.25 / per_iteration_)) : 4;
    const std::int64_t to = std::min(until, iteration_ + piece);
    const auto t = Clock::now();
    segment.until = to;
    if (!rounds_->run(segment, stop_)) return false;
    synchronize(context_);
    const double now = seconds_since(t) / static_cast<double>(to - iteration_);
    per_iteration_ = per_iteration_ > 0 ? 0.5 * (per_iteration_ + now) : now;
    iteration_ = to;
    const auto controls = sampler_->controls();
    double sum = 0, count = 0;
    for (const auto& c : controls)
      if (c.status == ChainStatus::running) sum += c.acceptance_sum, count += static_cast<double>(c.counted);
    acceptance_now_ = count > 0 ? sum / count : 0;
    note_quarantined(controls, batches_[on_device_].first);
    require(
        static_cast<Index>(quarantined_.size()) < num_chains_, ExitStatus::data, "no chain is left",
        fmt::format("all {} are quarantined by iteration {}", num_chains_, iteration_),
        "Does the target have a finite density where the chains start? Try another --init or a smaller initial step?");
    if (segment.schedule.adapting)
      report("warm-up", iteration_, num_warmup_);
    else
      report("sampling", iteration_ - num_warmup_, num_samples_);
  }
  return true;
}

template <class Real>
Result Session<Real>::finish() {
  Result r;
  RunSummary& s = r.summary;
  s.target = options_.target;
  s.sampler = options_.sampler;
  s.device = context_.name;
  s.real = name_of(precision_of<Real>);
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
    if (c.status == ChainStatus::running && c.counted > 0)
      acceptance.push_back(c.acceptance_sum / static_cast<double>(c.counted));
  if (acceptance.empty())
    s.acceptance_mean = s.acceptance_q05 = s.acceptance_q50 = s.acceptance_q95 = NAN;
  else
    set_acceptance(s, acceptance);
  r.quarantined = quarantined_;
  r.interrupted = interrupted_;
  r.draws_written = draws_;
  r.divergences = std::move(divergences_);
  s.divergences = num_divergences_;
  if (options_.keep_draws) {
    const std::int64_t all = num_samples_ / options_.thin;
    for (std::int64_t c = 1; c < num_chains_ && draws_ < all; ++c)  // an interrupted run has fewer
      std::copy_n(kept_.begin() + c * all * recorded_, draws_ * recorded_, kept_.begin() + c * draws_ * recorded_);
    kept_.resize(static_cast<std::size_t>(num_chains_ * draws_ * recorded_));
    r.draws = std::move(kept_);
    r.names = target_.info().names;
  }
  r.notes = notes_;
  if (writer_) {
    nlohmann::json run = to_json(s);
    run.erase("parameters");
    nlohmann::json end = {{"sampling_time", s.seconds_sampling},
                          {"warmup_time", s.seconds_warmup},
                          {"quarantined", quarantined_chains()},
                          {"gradient_evaluations", s.gradient_evaluations},
                          {"num_divergences", s.divergences},
                          {"num_warmup", num_warmup_},
                          {"num_samples", sampled_},
                          {"device", s.device},
                          {"acceptance_rate_per_chain_q50", s.acceptance_q50},
                          {"warmup_converged", converged_ ? 1 : 0},
                          {"warmup_note", warmup_note_},
                          {"interrupted", interrupted_ ? 1 : 0}};
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
      std::vector<double> acceptance_rates;
      for (const auto& c : final_controls_)
        acceptance_rates.push_back(c.acceptance_sum / static_cast<double>(c.counted));
      writer_->write_summary(s.parameters, acceptance_rates);
    }
  }
  if (writer_) writer_->finish();
  return r;
}

template class Session<float>;
template class Session<double>;

}  // namespace kilochain
