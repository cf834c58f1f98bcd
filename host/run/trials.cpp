#include "host/run/trials.hpp"

#include <algorithm>
#include <cmath>

#include "host/chains/thread_seconds.hpp"
#include "host/run/device.hpp"
#include "host/run/warmup.hpp"
#include "host/statistics/ess.hpp"
#include "targets/discrete/spin_model.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t window = 20;            // iterations between two looks at what is spent
constexpr std::int64_t energies_wanted = 100;  // of the autocorrelation's score

Options on_one_thread(Options o) {
  o.threads = 1;
  return o;
}

/// The draws of one trial, coordinate by coordinate: (dim) of (chain, draw).
template <class Real>
class Kept {
 public:
  Kept(Index chains, Index dim) : chains_(chains), dim_(dim), draws_(chains) {}
  void add(const Window<Real>& w, std::int64_t count) {
    for (Index c = 0; c < chains_; ++c) {
      auto& mine = draws_[c];
      for (std::int64_t t = 0; t < count; ++t) {
        const View1<const Real> x = w.draws.row(c, t);
        mine.insert(mine.end(), x.begin(), x.end());
        if (count_ + t < energies_wanted) energies_.push_back(w.lp(c, t));
      }
    }
    if (count_ < energies_wanted) pieces_.push_back(std::min(count, energies_wanted - count_));
    count_ += count;
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
  /// The first energies of one chain: windows lie one behind the other, each (chain, draw).
  std::vector<double> energies(Index chain) const {
    std::vector<double> out;
    std::size_t at = 0;
    for (const std::int64_t piece : pieces_) {
      const auto from = energies_.begin() + at + chain * piece;
      out.insert(out.end(), from, from + piece);
      at += piece * chains_;
    }
    return out;
  }

 private:
  Index chains_, dim_;
  std::int64_t count_ = 0;
  std::vector<std::vector<Real>> draws_;  ///< (chain) of (draw, dim)
  std::vector<double> energies_;
  std::vector<std::int64_t> pieces_;
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
    target_->check_evaluation(std::vector<double>(first.begin(), first.end()).data());
    OutputFile nothing(options_, target_->info(), precision_of<Real>);
    Reporter reporter(progress);
    Batches<Real> batches(options_, context_, *target_, reporter, stop);
    batches.start(points);
    const WarmedUp warm =
        kilochain::warm_up(Phases<Real>{options_, context_, *target_, batches, nothing, reporter, stop});
    notes.insert(notes.end(), notes_.begin(), notes_.end());
    if (!warm.advice.empty()) notes.push_back(warm.advice);
    iterations_ = warm.iterations;
    batches.each([&](Index, const Chains<Real>& chains) {
      learnt_ = chains.save();
      points_ = chains.positions();
    });
    quarantined_.clear();
    Index k = 0;
    for (const ChainControl& c : batches.controls()) {
      if (c.status != ChainStatus::running) quarantined_.push_back(k);
      ++k;
    }
    return !warm.interrupted;
  }

  int workers() const override { return static_cast<int>(workers_.size()); }

  Trial run(int worker, const SettingTexts& settings, std::uint64_t seed, const std::atomic<bool>& stop) override {
    auto& own = workers_[worker];
    if (!own) own = std::make_unique<Worker>(options_);
    SettingTexts texts = options_.sampler_settings;
    for (const auto& [name, text] : settings) texts[name] = text;
    const auto chains =
        make_chains<Real>(own->context, options_.sampler, texts, num_chains(), target_->info(), options_.adapt_scope);
    Rounds<Real> rounds(own->context, *own->target, *chains, num_chains());
    Segment<Real> segment;
    segment.seed = seed;
    std::int64_t now = iterations_;
    if (length_.num_warmup == 0) {
      chains->load(learnt_);
    } else {
      rounds.start(starting_points());
      now = length_.num_warmup;
      segment.until = now;
      segment.schedule.num_warmup = now;
      segment.schedule.adapting = true;
      segment.scope = scope_of(options_);
      segment.rate_decays = segment.scope == Scope::pooled;
      rounds.run(segment, stop);
      segment.schedule.adapting = segment.rate_decays = false;
    }
    segment.phase_start = segment.schedule.num_warmup = now;
    return draw(*own, rounds, *chains, segment, now, stop);
  }

 private:
  struct Worker {
    explicit Worker(const Options& o) : context(choose_device(on_one_thread(o), notes)) {
      target = make_target<Real>(context, o.target, o.target_settings);
    }
    std::vector<std::string> notes;
    Context context;
    std::unique_ptr<Target<Real>> target;
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

  Trial draw(Worker& own, Rounds<Real>& rounds, Chains<Real>& chains, Segment<Real> segment, std::int64_t now,
             const std::atomic<bool>& stop) {
    chains.reset_counts();
    DrawsBuffer<Real> buffer(own.context, num_chains(), num_chains(), dim(), window,
                             static_cast<int>(find_sampler(options_.sampler).stats.size()));
    Kept<Real> kept(num_chains(), dim());
    const bool cpu = own.context.backend == Backend::cpu;
    const auto clock = std::chrono::steady_clock::now();
    const double core = thread_seconds();
    Trial out;
    std::vector<ChainControl> controls;
    while (!stop && (out.gradients < length_.gradients || kept.count() < length_.least_draws) &&
           kept.count() < length_.most_draws) {
      buffer.clear(0);
      segment.until = now + window;
      segment.recording = buffer.recording(0, now, 1);
      rounds.run(segment, stop);
      synchronize(own.context);
      controls = chains.controls();
      buffer.send(0), buffer.arrive();
      kept.add(buffer.window(window, DrawsMade::until_quarantine(controls, now, 1, window).by_chain), window);
      now += window;
      out.gradients = 0;
      for (const ChainControl& c : controls) out.gradients += c.gradients;
      if (std::none_of(controls.begin(), controls.end(),
                       [](const ChainControl& c) { return c.status == ChainStatus::running; }))
        break;
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
    const auto& spins = target_->info().spin_model;
    for (Index i = 0; i < dim(); ++i) {
      if (i == 1 && spins && spins->fixes_magnetization()) continue;  // not judged
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
  std::vector<char> learnt_;  ///< the chains, as the warm-up left them
  std::vector<Real> points_;  ///< (chain, dim): where it left them
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
