#include "host/frontend/search.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "base/units.hpp"
#include "host/frontend/files.hpp"
#include "host/frontend/tune_files.hpp"
#include "host/run/side_by_side.hpp"
#include "host/tune/tuner.hpp"

namespace kilochain::cli {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

class Search {
 public:
  Search(const TuneConfiguration& c, const std::function<void(const SearchProgress&)>& tell, std::atomic<bool>& stop)
      : c_(c),
        tell_(tell),
        stop_(stop),
        trials_(c_.run.options, c_.length),
        table_(c_.tune.output, search_of(c_)),
        tuner_(Box(c_.box), tuner_options()) {}

  Found operator()(const ProgressCallback& warm_up) {
    Found found;
    bool whole = trials_.warm_up(warm_up, stop_, found.notes);
    begin_ = Clock::now();
    const std::size_t wanted = c_.tune.evaluations;
    resumed_ = table_.rows().size();
    while (whole && tuner_.told().size() < wanted) whole = batch(wanted);
    if (whole && c_.tune.confirm > 0) found.confirmed = confirm();
    found.trials = tuner_.told().size();
    if (found.trials == 0) return found;
    const Tuner::Told& best = tuner_.best();
    found.best = settings_of(best.values);
    found.words = words(best.values);
    found.score = logarithmic() ? std::exp(best.score) : best.score;
    found.policy = c_.policy && c_.tune.policy_points > 0 && c_.box.size() <= 2;
    write(found);
    return found;
  }

 private:
  TunerOptions tuner_options() const {
    TunerOptions o;
    o.covariance = c_.tune.covariance;
    o.fit = *c_.tune.fit;
    o.seed = c_.run.options.seed;
    if (logarithmic()) o.worst_below_best = 2;  // a seventh of the best is bad enough
    return o;
  }
  bool logarithmic() const { return c_.tune.objective != TuneObjective::autocorrelation; }
  double told(double score) const { return logarithmic() ? std::log(score) : score; }

  double score_of(const Trial& t) const {
    switch (c_.tune.objective) {
      case TuneObjective::ess_per_gradient:
        return t.ess_per_gradient();
      case TuneObjective::ess_per_second:
        return t.ess_per_second();
      case TuneObjective::autocorrelation:
        return t.autocorrelation;
    }
    return 0;
  }
  /// Few enough digits to be read; what is told is what is written.
  std::string text_of(std::size_t dimension, double value) const {
    return c_.box[dimension].whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  }
  SettingTexts settings_of(const Point& p) const {
    SettingTexts out;
    for (std::size_t i = 0; i < p.size(); ++i) out[c_.box[i].name] = text_of(i, p[i]);
    // A step that warm-up steers would not be the one that was asked for.
    const auto& own = c_.run.options.sampler_settings;
    if (c_.policy && out.count("step_size") && !own.count("step_rule")) out["step_rule"] = "fixed";
    return out;
  }
  std::string words(const Point& p) const {
    std::string out;
    for (std::size_t i = 0; i < p.size(); ++i)
      out += fmt::format("{}{} = {}", i > 0 ? ", " : "", c_.box[i].name, text_of(i, p[i]));
    return out;
  }
  /// Of its own for each trial, and of no other search whose seed is near.
  std::uint64_t seed_of(std::size_t trial) const { return c_.run.options.seed + ((trial + 1) << 32); }

  /// Runs work(item, worker) for all items on the workers; returns false when stopped.
  template <class Work>
  bool try_all(std::size_t count, const Work& work) {
    side_by_side(count, trials_.workers(), stop_, work);
    return !stop_;
  }

  /// Points are asked for a batch at a time, knowing whole batches only: a resumed search asks for the same ones.
  bool batch(std::size_t wanted) {
    const std::size_t first = tuner_.told().size(), done = table_.rows().size(),
                      size = std::min(static_cast<std::size_t>(c_.tune.batch), wanted - first);
    std::vector<Point> points = tuner_.ask(c_.tune.batch);
    points.resize(size);
    for (Point& p : points)
      for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::stod(text_of(i, p[i]));
    std::vector<std::optional<Trial>> results(size);
    std::mutex mutex;
    std::size_t written = std::max(first, done);
    const std::size_t skip = written - first;
    const bool whole = skip >= size || try_all(size - skip, [&](std::size_t item, int worker) {
                         const std::size_t k = item + skip;
                         const Trial t = trials_(worker, settings_of(points[k]), seed_of(first + k), stop_);
                         if (stop_) return;  // cut short
                         const std::lock_guard lock(mutex);
                         results[k] = t;
                         for (; written < first + size && results[written - first]; ++written) {  // in their order
                           table_.append(row(written, points[written - first], *results[written - first]));
                           say(wanted);
                         }
                       });
    for (std::size_t k = first; k < std::min(table_.rows().size(), first + size); ++k) {
      Point p;
      for (const Dimension& d : c_.box) p.push_back(table_.rows()[k]["settings"][d.name].get<double>());
      tuner_.tell(p, told(table_.rows()[k]["score"].get<double>()));
    }
    return whole;
  }

  Json row(std::size_t trial, const Point& p, const Trial& t) const {
    Json settings;
    for (std::size_t i = 0; i < p.size(); ++i) settings[c_.box[i].name] = p[i];
    return {{"trial", trial},
            {"settings", settings},
            {"score", score_of(t)},
            {"ess_mean", t.ess_mean},
            {"ess_square", t.ess_square},
            {"autocorrelation", t.autocorrelation},
            {"acceptance_rate", t.acceptance_rate},
            {"gradients", t.gradients},
            {"draws", t.draws},
            {"quarantined", t.quarantined},
            {"seconds", t.seconds}};
  }

  void say(std::size_t wanted) {
    const std::size_t done = table_.rows().size();
    const double each = seconds_since(begin_) / std::max<std::size_t>(1, done - resumed_);
    const Json* best = &table_.rows()[0];
    for (const Json& r : table_.rows())
      if (r["score"] > (*best)["score"]) best = &r;
    Point p;
    for (const Dimension& d : c_.box) p.push_back((*best)["settings"][d.name].get<double>());
    tell_({done, wanted, each * (wanted - done), (*best)["score"].get<double>(), words(p)});
  }

  /// The best settings, and those without tuning, on draws that had no part in the choice.
  std::vector<Confirmed> confirm() {
    const std::size_t n = c_.tune.confirm;
    const SettingTexts best = settings_of(tuner_.best().values);
    std::vector<double> scores(2 * n);
    const bool whole = try_all(2 * n, [&](std::size_t i, int worker) {
      scores[i] = score_of(trials_(worker, i % 2 == 0 ? best : SettingTexts{}, seed_of((1 << 20) + i), stop_));
    });
    if (!whole) return {};
    std::vector<Confirmed> out(2);
    for (std::size_t which = 0; which < 2; ++which) {
      std::vector<double> own;
      for (std::size_t i = which; i < 2 * n; i += 2) own.push_back(scores[i]);
      const Moments m = moments_of(Series{own.data(), 1, std::ssize(own)});
      out[which] = {m.mean, m.sd / std::sqrt(n)};
    }
    return out;
  }

  void write(const Found& found) const {
    write_file(path_of(c_, "best.toml"), best_toml(c_, found.best,
                                                   fmt::format("{} trials of kilochain tune --over {} --objective {}",
                                                               found.trials, c_.tune.over, objective_of(c_))));
    write_file(path_of(c_, "surface.json"), surface(tuner_, c_.tune.objective).dump() + "\n");
    if (found.policy)
      write_file(path_of(c_, "policy.csv"),
                 policy_csv(c_.box, policy_of(tuner_, 100, c_.tune.policy_points, c_.run.options.seed)));
  }

  const TuneConfiguration& c_;
  const std::function<void(const SearchProgress&)>& tell_;
  std::atomic<bool>& stop_;
  Trials trials_;
  TrialTable table_;
  Tuner tuner_;
  Clock::time_point begin_;
  std::size_t resumed_ = 0;  ///< trials that were in the table already
};

}  // namespace

Found search(const TuneConfiguration& configuration, const ProgressCallback& warm_up,
             const std::function<void(const SearchProgress&)>& tell, std::atomic<bool>& stop) {
  return Search(configuration, tell, stop)(warm_up);
}

std::string path_of(const TuneConfiguration& configuration, const char* file) {
  return (std::filesystem::path(configuration.tune.output) / file).string();
}

const char* objective_of(const TuneConfiguration& configuration) {
  return tune_objective_names[static_cast<int>(configuration.tune.objective)];
}

}  // namespace kilochain::cli
