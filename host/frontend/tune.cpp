// kilochain tune: asks the tuner for points, runs them as trials side by side, tells it what they scored.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <mutex>

#include "base/units.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/files.hpp"
#include "host/frontend/interrupt.hpp"
#include "host/frontend/progress_printer.hpp"
#include "host/frontend/text.hpp"
#include "host/frontend/tune_files.hpp"
#include "host/run/side_by_side.hpp"
#include "host/tune/tuner.hpp"

namespace kilochain::cli {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

/// A mean over trials of one setting, and its standard error.
struct Confirmed {
  double mean = 0, error = 0;
};

class Search {
 public:
  explicit Search(TuneConfiguration c)
      : c_(std::move(c)),
        trials_(c_.run.options, c_.length),
        table_(c_.tune.output, search_of(c_)),
        tuner_(Box(c_.box), tuner_options()),
        printer_(stderr) {}

  int operator()() {
    catch_signals();
    std::vector<std::string> notes;
    bool whole = trials_.warm_up(
        [&](const Progress& p) {
          if (!c_.run.quiet) printer_(p);
        },
        stop_requested(), notes);
    begin_ = Clock::now();
    const std::size_t wanted = c_.tune.evaluations;
    resumed_ = table_.rows().size();
    while (whole && tuner_.told().size() < wanted) whole = batch(wanted);
    std::vector<Confirmed> confirmed;
    if (whole && c_.tune.confirm > 0) confirmed = confirm();
    printer_.finish();
    if (tuner_.told().empty()) {
      fmt::print(stderr, "interrupted before the first trial ended\n");
      return 130;
    }
    write();
    tell(confirmed, notes);
    if (stop_requested()) fmt::print(stderr, "interrupted: the same command goes on\n");
    return stop_requested() ? 130 : 0;
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
    side_by_side(count, trials_.workers(), stop_requested(), work);
    return !stop_requested();
  }

  /// Points are asked for a batch at a time, knowing whole batches only: a search that goes on asks for the same ones.
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
                         const Trial t = trials_(worker, settings_of(points[k]), seed_of(first + k), stop_requested());
                         if (stop_requested()) return;  // cut short
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
    if (c_.run.quiet) return;
    const std::size_t done = table_.rows().size();
    const double each =
        std::chrono::duration<double>(Clock::now() - begin_).count() / std::max<std::size_t>(1, done - resumed_);
    const Json* best = &table_.rows()[0];
    for (const Json& r : table_.rows())
      if (r["score"] > (*best)["score"]) best = &r;
    Point p;
    for (const Dimension& d : c_.box) p.push_back((*best)["settings"][d.name].get<double>());
    printer_.line("tune",
                  fmt::format("tune     {}/{} {:3.0f} %  ETA {}  best {:.4g} ({})", done, wanted, 100.0 * done / wanted,
                              seconds_text(each * (wanted - done)), (*best)["score"].get<double>(), words(p)));
  }

  /// The best settings, and those without tuning, on draws that had no part in the choice.
  std::vector<Confirmed> confirm() {
    const std::size_t n = c_.tune.confirm;
    const SettingTexts best = settings_of(tuner_.best().values);
    std::vector<double> scores(2 * n);
    const bool whole = try_all(2 * n, [&](std::size_t i, int worker) {
      scores[i] =
          score_of(trials_(worker, i % 2 == 0 ? best : SettingTexts{}, seed_of((1 << 20) + i), stop_requested()));
    });
    if (!whole) return {};
    std::vector<Confirmed> out(2);
    for (std::size_t which = 0; which < 2; ++which) {
      double square = 0;
      for (std::size_t i = which; i < 2 * n; i += 2) out[which].mean += scores[i] / n;
      for (std::size_t i = which; i < 2 * n; i += 2) square += std::pow(scores[i] - out[which].mean, 2);
      out[which].error = n > 1 ? std::sqrt(square / (n * (n - 1))) : NAN;
    }
    return out;
  }

  std::string path(const char* name) const { return (std::filesystem::path(c_.tune.output) / name).string(); }

  void write() const {
    const Point& best = tuner_.best().values;
    write_file(path("best.toml"), best_toml(c_, settings_of(best),
                                            fmt::format("{} trials of kilochain tune --over {} --objective {}",
                                                        tuner_.told().size(), c_.tune.over, objective())));
    write_file(path("surface.json"), surface(tuner_, c_.tune.objective).dump() + "\n");
    if (has_policy())
      write_file(path("policy.csv"),
                 policy_csv(c_.box, policy_of(tuner_, 100, c_.tune.policy_points, c_.run.options.seed)));
  }
  bool has_policy() const { return c_.policy && c_.tune.policy_points > 0 && c_.box.size() <= 2; }
  const char* objective() const { return tune_objective_names[static_cast<int>(c_.tune.objective)]; }

  void tell(const std::vector<Confirmed>& confirmed, const std::vector<std::string>& notes) const {
    const Tuner::Told& best = tuner_.best();
    const double score = logarithmic() ? std::exp(best.score) : best.score;
    if (c_.run.json) {
      Json out = {
          {"trials", tuner_.told().size()}, {"objective", objective()}, {"score", score}, {"output", c_.tune.output}};
      for (const auto& [name, text] : settings_of(best.values)) out["best"][name] = text;
      if (!confirmed.empty())
        out["confirmed"] = {{"best", {{"mean", confirmed[0].mean}, {"error", confirmed[0].error}}},
                            {"untuned", {{"mean", confirmed[1].mean}, {"error", confirmed[1].error}}}};
      fmt::print("{}\n", out.dump(2));
    } else {
      fmt::print("best of {} trials: {}\n", tuner_.told().size(), words(best.values));
      fmt::print("{}: {} in its trial\n", objective(), figure(score, 4));
      if (!confirmed.empty())
        fmt::print("{}: {} +- {} in {} fresh trials; without tuning {} +- {}\n", objective(),
                   figure(confirmed[0].mean, 4), figure(confirmed[0].error, 2), c_.tune.confirm,
                   figure(confirmed[1].mean, 4), figure(confirmed[1].error, 2));
    }
    std::FILE* out = c_.run.json ? stderr : stdout;
    for (const std::string& note : notes) fmt::print(out, "note: {}\n", note);
    fmt::print(out, "settings: {}; `kilochain sample {}` takes them\n", path("best.toml"), path("best.toml"));
    if (has_policy()) fmt::print(out, "policy: {}; --policy draws from it\n", path("policy.csv"));
    fmt::print(out, "picture: tools/plot_tune.py {}\n", c_.tune.output);
  }

  TuneConfiguration c_;
  Trials trials_;
  TrialTable table_;
  Tuner tuner_;
  ProgressPrinter printer_;
  Clock::time_point begin_;
  std::size_t resumed_ = 0;  ///< trials that were in the table already
};

}  // namespace

int tune(const std::vector<std::string>& arguments) {
  if (split_arguments(arguments).help) {
    fmt::print("{}", tune_help());
    return 0;
  }
  return Search(read_tune_configuration(arguments))();
}

}  // namespace kilochain::cli
