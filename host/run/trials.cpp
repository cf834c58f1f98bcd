#include "host/run/trials.hpp"

#include <algorithm>
#include <cmath>

#include "host/chains/thread_seconds.hpp"
#include "host/run/device.hpp"
#include "host/run/warmup.hpp"
#include "host/statistics/ess.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t window = 20;            // iterations after which what is spent is counted again
constexpr std::int64_t energies_wanted = 100;  // of the autocorrelation's score

Options on_one_thread(Options o) {
  o.threads = 1;
  return o;
}

/// The draws of one trial, and the first energies of each chain.
template <class Real>
class Kept {
 public:
  Kept(Index chains, Index dim) : dim_(dim), draws_(chains), energies_(chains) {}
  void take(const Window<Real>& w) {
    for (std::size_t c = 0; c < draws_.size(); ++c) {
      const Real* x = w.draws.plane(static_cast<Count>(c)).data;
      draws_[c].insert(draws_[c].end(), x, x + w.count * dim_);
      const double* lp = w.lp.row(static_cast<Count>(c)).data;
      energies_[c].insert(energies_[c].end(), lp, lp + std::clamp<Count>(energies_wanted - count_, 0, w.count));
    }
    count_ += w.count;
  }
  std::int64_t count() const { return count_; }
  /// (chain of `running`, draw) of one coordinate.
  std::vector<double> series(Index coordinate, const std::vector<Index>& running) const {
    std::vector<double> out;
    out.reserve(running.size() * count_);
    for (const Index c : running)
      for (std::int64_t t = 0; t < count_; ++t) out.push_back(draws_[c][t * dim_ + coordinate]);
    return out;
  }
  const std::vector<double>& energies(Index chain) const { return energies_[chain]; }

 private:
  Index dim_;
  std::int64_t count_ = 0;
  std::vector<std::vector<Real>> draws_;       ///< (chain) of (draw, dim)
  std::vector<std::vector<double>> energies_;  ///< (chain)
};

}  // namespace

double autocorrelation_score(const std::vector<double>& energies, std::size_t least) {
  const std::size_t n = energies.size();
  if (n < 2) return 0;
  least = std::clamp<std::size_t>(least, 2, n);
  double score = 0;
  for (std::size_t length = least; length <= n; ++length) {
    const double* e = energies.data() + (n - length);
    double mean = 0, variance = 0, sum = 0;
    for (std::size_t t = 0; t < length; ++t) mean += e[t] / length;
    for (std::size_t t = 0; t < length; ++t) variance += (e[t] - mean) * (e[t] - mean) / length;
    const auto [low, high] = std::minmax_element(e, e + length);
    if (*low == *high) continue;  // nothing moved: every correlation is 1
    for (std::size_t lag = 1; lag < length; ++lag) {
      double c = 0;
      for (std::size_t t = 0; t + lag < length; ++t) c += (e[t] - mean) * (e[t + lag] - mean);
      sum += std::abs(c) / ((length - lag) * variance);
    }
    score += 1 - sum / (length - 1);
  }
  return score / (n - least + 1);
}

class Trials::Anything {
 public:
  virtual ~Anything() = default;
  virtual bool warm_up(const ProgressCallback&, const std::atomic<bool>&, std::vector<std::string>&) = 0;
  virtual int workers() const = 0;
  virtual Trial run(int worker, const SettingTexts&, std::uint64_t seed, const std::atomic<bool>&) = 0;
};

template <class Real>
class Trials::Of : public Anything {
 public:
  Of(Options options, TrialLength length, Context context, std::vector<std::string> notes)
      : options_(std::move(options)), length_(length), context_(std::move(context)), notes_(std::move(notes)) {
    target_ = make_target<Real>(context_, options_.target, options_.target_settings);
    check_offer(options_.sampler, options_.target, target_->info().offers);
    workers_.resize(context_.backend == Backend::cpu ? context_.threads : 4);
  }

  bool warm_up(const ProgressCallback& progress, const std::atomic<bool>& stop,
               std::vector<std::string>& notes) override {
    const StartingPoints<Real> points(options_, dim());
    const auto first = points.of(0, 1);
    target_->check_evaluation(first.data());
    OutputFile nothing(options_, target_->info(), precision_of<Real>);
    Reporter reporter(progress);
    Ensemble<Real> chains(context_, *target_, setup_of(options_), reporter, stop);
    const Phases<Real> phases{options_, context_, *target_, chains, nothing, reporter, stop};
    phases.start(points);
    const WarmedUp warm = kilochain::warm_up(phases);
    notes.insert(notes.end(), notes_.begin(), notes_.end());
    if (!warm.advice.empty()) notes.push_back(warm.advice);
    iterations_ = warm.iterations;
    learnt_ = chains.save();
    points_ = chains.first_positions();
    quarantined_.clear();
    Index k = 0;
    for (const ChainControl& c : chains.controls()) {
      if (c.status != ChainStatus::running) quarantined_.push_back(k);
      ++k;
    }
    return !warm.interrupted;
  }

  int workers() const override { return static_cast<int>(workers_.size()); }

  Trial run(int worker, const SettingTexts& settings, std::uint64_t seed, const std::atomic<bool>& stop) override {
    auto& own = workers_[worker];
    if (!own) own = std::make_unique<Worker>(options_, *target_);
    EnsembleSetup setup = setup_of(options_);
    for (const auto& [name, text] : settings) setup.settings[name] = text;
    setup.seed = seed;
    Reporter silent;
    Ensemble<Real> chains(own->context, own->target, setup, silent, stop);
    if (length_.num_warmup == 0) {
      chains.load(learnt_);
      return draw(*own, chains, iterations_, stop);
    }
    chains.start([&](Index, Index) { return starting_points(); });
    Segment<Real> warmup = chains.adapting(length_.num_warmup);
    warmup.rate_decays = warmup.scope == Scope::pooled;
    chains.run(warmup, 0, length_.num_warmup);
    return draw(*own, chains, length_.num_warmup, stop);
  }

 private:
  struct Worker {
    Worker(const Options& o, Target<Real>& shared)
        : context(choose_device(on_one_thread(o), notes)),
          own(context.backend == Backend::cpu ? nullptr : make_target<Real>(context, o.target, o.target_settings)),
          target(own ? *own : shared) {}
    std::vector<std::string> notes;
    Context context;
    std::unique_ptr<Target<Real>> own;  ///< of a device: with a stream of its own
    Target<Real>& target;
  };

  Index dim() const { return target_->info().dim; }
  Index num_chains() const { return static_cast<Index>(options_.num_chains); }

  /// Where the warm-up left the chains; one that was quarantined stands beside one that was not.
  std::vector<Real> starting_points() const {
    std::vector<Real> x = points_;
    const auto ran = [&](Index c) {
      return std::find(quarantined_.begin(), quarantined_.end(), c) == quarantined_.end();
    };
    Index other = 0;
    while (!ran(other)) ++other;
    for (const Index c : quarantined_) std::copy_n(x.begin() + other * dim(), dim(), x.begin() + c * dim());
    return x;
  }

  Trial draw(Worker& own, Ensemble<Real>& chains, std::int64_t now, const std::atomic<bool>& stop) {
    chains.take_gradients();
    const Segment<Real> segment = chains.sampling(now);
    Windows<Real> windows = chains.windows(chains.shape(window));
    windows.origin = now;
    Kept<Real> kept(num_chains(), dim());
    const bool cpu = own.context.backend == Backend::cpu;
    const auto clock = std::chrono::steady_clock::now();
    const double core = thread_seconds();
    Trial out;
    std::vector<ChainControl> controls = chains.controls();
    while (!stop && chains.any_left() && (out.gradients < length_.gradients || kept.count() < length_.least_draws) &&
           kept.count() < length_.most_draws) {
      now = chains.run(segment, now, now + window, windows, [&](const Window<Real>& w) { kept.take(w); });
      controls = chains.controls();
      out.gradients = 0;
      for (const ChainControl& c : controls) out.gradients += c.gradients;
    }
    out.seconds = cpu ? thread_seconds() - core : seconds_since(clock);
    out.draws = kept.count();
    if (out.draws > 0) judge(out, kept, controls);
    return out;
  }

  void judge(Trial& out, const Kept<Real>& kept, const std::vector<ChainControl>& controls) const {
    std::vector<Index> running;
    for (Index c = 0; c < num_chains(); ++c)
      if (controls[c].status == ChainStatus::running) running.push_back(c);
    out.quarantined = num_chains() - static_cast<Index>(running.size());
    if (running.empty()) return;
    double mean = std::numeric_limits<double>::infinity(), square = mean;
    const TargetInfo& info = target_->info();
    const auto is_fixed = [&](Index i) {
      return !info.constrain && std::any_of(info.fixed.begin(), info.fixed.end(), [&](const std::string& name) {
        return name == info.names[static_cast<std::size_t>(i)];
      });
    };
    for (Index i = 0; i < dim(); ++i) {
      if (is_fixed(i)) continue;
      const auto values = kept.series(i, running);
      const Series series{values.data(), std::ssize(running), kept.count()};
      const double of_mean = ess_mean(series), of_square = ess_square(series);
      mean = std::min(mean, of_mean >= 1 ? of_mean : 1.0);  // NaN: nothing moved
      square = std::min(square, of_square >= 1 ? of_square : 1.0);
    }
    out.ess_mean = mean, out.ess_square = square;
    for (const Index c : running) {
      const ChainControl& k = controls[c];
      const double share = 1.0 / running.size();
      out.acceptance_rate += share * k.acceptance_sum / k.counted;
      out.autocorrelation += share * autocorrelation_score(kept.energies(c));
    }
  }

  Options options_;
  TrialLength length_;
  Context context_;
  std::vector<std::string> notes_;
  std::unique_ptr<Target<Real>> target_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::int64_t iterations_ = 0;
  std::vector<std::vector<char>> learnt_;  ///< the chains, as the warm-up left them
  std::vector<Real> points_;               ///< (chain, dim): where it left them
  std::vector<Index> quarantined_;
};

Trials::Trials(Options options, TrialLength length) {
  options.output.clear();
  options.chain_batch_size = 0;
  check(options);
  std::vector<std::string> notes;
  Context context = choose_device(options, notes);
  in_precision(choose_precision(options, context), [&](auto zero) {
    runner_ = std::make_unique<Of<decltype(zero)>>(std::move(options), length, std::move(context), std::move(notes));
  });
}

Trials::~Trials() = default;

bool Trials::warm_up(const ProgressCallback& progress, const std::atomic<bool>& stop, std::vector<std::string>& notes) {
  return runner_->warm_up(progress, stop, notes);
}

int Trials::workers() const { return runner_->workers(); }

Trial Trials::operator()(int worker, const SettingTexts& settings, std::uint64_t seed, const std::atomic<bool>& stop) {
  return runner_->run(worker, settings, seed, stop);
}

}  // namespace kilochain
