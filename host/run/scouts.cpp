#include "host/run/scouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/learn/climb.hpp"
#include "host/learn/learnt_metric.hpp"
#include "host/learn/median.hpp"
#include "host/learn/normal_start.hpp"
#include "host/learn/probes.hpp"
#include "host/learn/row_start.hpp"
#include "host/learn/trail.hpp"
#include "host/run/equal_modes.hpp"
#include "host/run/normal_arrival.hpp"
#include "host/run/scout_coordinates.hpp"
#include "host/run/start.hpp"
#include "host/run/target_gradients.hpp"
#include "host/run/warmup_keeper.hpp"

namespace kilochain {
namespace {

constexpr Index most_scouts = 16;
constexpr std::int64_t first_length = 32, rounds_at_most = 5, looks_every = 1;
constexpr std::int64_t piece = 64;        // iterations before kernels would begin windows of a mass of their own
constexpr double near = 4;                // of the middle log density, in standard deviations
constexpr double usual_steps = 15;        // of a scout's trajectory
constexpr std::int64_t first_metric = 8;  // iterations with a unit mass; metrics of the first round at 8, 16 and 32

SettingTexts nuts(Index dim) { return {{"mass", dim <= most_dense ? "dense" : "diagonal"}, {"max_tree_depth", "6"}}; }

/// The scouts of one run, round after round.
template <class Real>
class Party {
 public:
  Party(const Phases<Real>& run, WarmupKeeper<Real>& keeper)
      : run_(run),
        keeper_(keeper),
        dim_(run.dim()),
        size_(std::clamp<Index>(static_cast<Index>(run.chains.num_chains()), 4, most_scouts)),
        chains_(run.context, run.target, {"nuts", nuts(dim_), size_, size_, Scope::chain, ~run.options.seed},
                run.reporter, run.stop) {}

  Scouted<Real> operator()() {
    out_.scouts = size_;
    run_.reporter.waits_for(fmt::format("{} scouts", size_));
    if (trails_.empty() && !start_at_rows()) start_at_finite_points();
    if (out_.normal) return std::move(out_);
    if (trails_.empty() && run_.stop) {  // it climbs again when resumed
      out_.interrupted = true, out_.gradients = 0;
      return std::move(out_);
    }
    for (; round_ < rounds_at_most && !out_.arrived; ++round_) {
      if (trails_.empty()) {
        if (round_ > 0) chains_.set_metric(out_.metric);
        trails_.assign(static_cast<std::size_t>(size_), {});
        from_ = out_.iterations, end_ = from_ + (first_length << round_);
      }
      travel();
      if (out_.interrupted) return std::move(out_);
      const auto begin = std::chrono::steady_clock::now();
      judge();
      learn_metric();
      const bool again = round_ + 1 < rounds_at_most && !out_.arrived;
      if (again) relocate();
      const bool tells_more = round_ == 0 || dim_ <= most_coordinates;  // beyond, one place tells as much as any
      if (tells_more && may_learn_coordinates(run_) && !out_.metric.factor.empty()) centre();
      if (again) trails_.clear();
      out_.seconds += seconds_since(begin);
    }
    leave_behind();
    return std::move(out_);
  }
  template <class Visitor, class Self>
  static void visit(const Visitor& visit, Self& self) {
    visit("round", self.round_), visit("from", self.from_), visit("end", self.end_), visit("seen", self.out_.seen);
    visit("iterations", self.out_.iterations), visit("gradients", self.out_.gradients);
    visit("factor", self.out_.metric.factor), visit("step_size", self.out_.metric.step_size);
    visit("coordinates", self.out_.coordinates), visit("symmetries", self.out_.symmetries),
        visit("left", self.out_.left), visit("left_below", self.out_.left_below);
    for (Index s = 0; s < self.size_; ++s)
      visit(fmt::format("lp_{}", s).c_str(), self.trails_[s].lp),
          visit(fmt::format("x_{}", s).c_str(), self.trails_[s].draws);
    std::vector<char> chains;
    if constexpr (std::is_const_v<Self>) chains = self.saved_[0];
    visit("chains", chains);
    if constexpr (!std::is_const_v<Self>) self.chains_.load({chains});
  }
  std::vector<std::uint8_t> stand() {
    saved_ = chains_.save();
    nlohmann::json j;
    visit(ToJson{j}, std::as_const(*this));
    return nlohmann::json::to_cbor(j);
  }
  void go_on(const std::vector<std::uint8_t>& stand) {
    trails_.assign(static_cast<std::size_t>(size_), {});
    visit(FromJson{nlohmann::json::from_cbor(stand)}, *this);
  }

 private:
  bool start_at_rows() {
    const TargetInfo& info = run_.target.info();
    if (bending_room(info) == 0) return false;
    const auto begin = std::chrono::steady_clock::now();
    const auto start = [&] {
      const ThreadsOf threads(run_.context);
      return row_start(*info.logistic, info.prior_sd, {~run_.options.seed, 0, std::int64_t(1) << 35});
    }();
    if (!start) return false;
    const std::vector<Real> x(start->draws.begin(), start->draws.end());
    const auto evaluated = std::chrono::steady_clock::now();
    std::vector<double> lp;
    const std::vector<Real> g = TargetGradients<Real>(run_)(x, &lp);
    const Index draws = static_cast<Index>(std::ssize(lp)), each = draws / most_scouts;
    out_.gradients += draws;
    if (!std::ranges::all_of(g, [](Real v) { return std::isfinite(v); })) return false;
    out_.seconds_of_iteration = usual_steps * seconds_since(evaluated) / draws;
    out_.metric.factor = start->factor, out_.metric.mean = start->mean, out_.metric.step_size = 0.5;
    out_.agreement = agreement(x, g, start->factor, dim_);
    for (Index k = 0; k < most_scouts; ++k)
      out_.points.emplace_back(x.begin() + k * each * dim_, x.begin() + (k + 1) * each * dim_);
    out_.seconds = seconds_since(begin);
    return out_.normal = out_.arrived = out_.rows = true;
  }

  /// Where the log density or its gradient is not finite, points are drawn again; then they climb. Where a normal law
  /// fits about where they end, no scout is sent.
  void start_at_finite_points() {
    const auto begin = std::chrono::steady_clock::now();
    const StartingPoints<Real> points(run_.options, dim_);
    std::vector<Real> x = points.of_scouts(size_);
    bool climbed = false;
    TargetGradients<Real> gradients_at(run_);
    for (std::int64_t attempt = 1; attempt <= most_starts; ++attempt) {
      chains_.start([&](Index, Index) { return x; });
      Index failed = 0;
      for (Index s = 0; const ChainControl& c : chains_.controls()) {
        if (c.status != ChainStatus::running) {
          ++failed;
          const std::vector<Real> again = points.again(s, attempt);
          std::copy_n(again.begin(), dim_, x.begin() + s * dim_);
        }
        ++s;
      }
      if (failed == 0 && std::exchange(climbed, true)) {
        out_.seconds = seconds_since(begin);
        return;
      }
      if (failed > 0) continue;
      const std::vector<Real> starts = x;
      Climbed<Real> way = climb<Real>(std::ref(gradients_at), x, dim_, run_.stop);
      out_.gradients += way.gradients;
      keeper_.so_far().symmetries = out_.symmetries = climb_in_one_place(run_, starts, x, way, out_.gradients);
      if (!run_.stop && arrive_at_once(x, way)) {
        out_.seconds = seconds_since(begin);
        return;
      }
    }
  }

  bool arrive_at_once(const std::vector<Real>& x, const Climbed<Real>& way) {
    NormalArrival<Real> at = normal_arrival(run_, x, way);
    out_.gradients += at.start.gradients;
    if (!at.start.fits) return false;
    if (at.coordinates.size() > 0) {
      keeper_.so_far().coordinates = out_.coordinates = at.coordinates.to_numbers();
      run_.coordinates->set(std::move(at.coordinates));
    }
    out_.metric.factor = std::move(at.start.factor), out_.metric.step_size = 0.5;
    out_.points = std::move(at.start.points);
    gather();
    for (const Index c : at.start.left) leave(c, at.start.left_below);
    out_.seconds_of_iteration = usual_steps * at.start.seconds_of_gradient;
    return out_.normal = out_.arrived = true;
  }

  /// One more round, as far as to iteration end_, in which a scout learns its step alone.
  void travel() {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t first = out_.iterations;
    const std::int64_t length = first_length << round_;
    Windows<Real> windows = chains_.windows(chains_.shape(length / looks_every));
    windows.thin = looks_every, windows.origin = end_ - length;
    const auto take = [&](const Window<Real>& window) {
      for (Index s = 0; s < size_; ++s)
        for (Count t = 0; t < window.count; ++t) {
          const Real* const x = window.draws.row(s, t).data;
          trails_[s].lp.push_back(window.lp(s, t));
          trails_[s].draws.insert(trails_[s].draws.end(), x, x + dim_);
        }
    };
    Segment<Real> segment = chains_.adapting(std::int64_t(1) << 40);
    while (from_ < end_) {
      const std::int64_t to = std::min(end_, round_ > 0 ? from_ + piece : std::max(first_metric, 2 * from_));
      segment.phase_start = from_;
      out_.interrupted = !keeper_.run(chains_, segment, out_.iterations, to, windows, take);
      if (out_.interrupted) break;
      from_ = to;
      if (from_ < end_ && round_ == 0) feel();
    }
    out_.gradients += chains_.take_gradients();
    const double took = seconds_since(begin), count = static_cast<double>((out_.iterations - first) * size_);
    out_.seconds += took, out_.seconds_of_iteration = took / count;
    for (Index s = 0; const ChainControl& c : chains_.controls()) {
      trails_[s].running = c.status == ChainStatus::running;
      trails_[s++].sum_up();
    }
  }

  /// A first metric, of the scouts' whereabouts: with a unit mass a scout takes 63 steps an iteration where scales
  /// differ, and 1.5 gradients for each coordinate tell the scales.
  void feel() {
    for (auto& t : trails_) t.sum_up();
    learn_metric();
    if (!out_.metric.factor.empty()) chains_.set_metric(out_.metric);
  }

  /// Where most scouts should be, and how wide that is: of the upper half of their mean log densities the middle. Those
  /// do not count that are where next to nothing of the mass is, be they most: by what two of the others have.
  std::pair<double, double> usual() const {
    std::vector<double> heights;
    for (const auto& t : trails_) heights.push_back(t.height);
    std::ranges::sort(heights, std::greater{});
    const double least = heights[1] - far_below(dim_, std::sqrt(0.5 * dim_));
    std::vector<std::pair<double, double>> means;
    for (const auto& t : trails_)
      if (std::isfinite(t.mean) && !(t.height < least)) means.emplace_back(t.mean, t.sd);
    if (means.empty()) return {-INFINITY, 0};
    std::sort(means.begin(), means.end());
    std::vector<double> at, sds;
    for (std::size_t k = means.size() / 2; k < means.size(); ++k)
      at.push_back(means[k].first), sds.push_back(means[k].second);
    return {median(at), std::max(1e-3, median(sds))};
  }

  /// They have arrived when the log densities of half of them agree and do not drift, and at most a quarter of the
  /// others may still come: one that is far below and no longer rises stays there.
  void judge() {
    const auto [at, width] = usual();
    const double about = round_ > 0 ? near : 2, rising = round_ > 0 ? 3 : 1;  // a short round sees little of either
    double drift = 0, square = 0;
    Index agree = 0, stay = 0;
    for (const auto& t : trails_) {
      if (!std::isfinite(t.mean) || std::abs(t.mean - at) > about * width) {
        stay += stays_below(t, at, width);
        continue;
      }
      const double d = t.drift();
      drift += d, square += d * d, ++agree;
    }
    const double mean = drift / agree, error = std::sqrt((square / agree - mean * mean) / agree);
    out_.seen = fmt::format("{} of {} agree in log density{}", agree, size_,
                            mean < rising * error ? "" : ", which still rises");
    run_.reporter.waits_for("scouts: " + out_.seen);
    out_.arrived = 2 * agree >= size_ && 4 * agree >= 3 * (size_ - stay) && mean < rising * error;
  }

  bool stays_below(const Trail<Real>& t, double at, double width) const {
    return t.mean < at - far_below(dim_, width) && t.drift() < 2 * t.sd;
  }

  void leave(Index scout, double below) {
    const auto place = std::ranges::lower_bound(out_.left, scout);
    if (place == out_.left.end() || *place != scout) out_.left.insert(place, scout);
    out_.left_below = std::max(out_.left_below, below);
  }

  /// Scouts that stay far below go on from others' places: trajectories there may take many times as long, and the
  /// others would wait.
  void relocate() {
    const auto [at, width] = usual();
    std::vector<std::int64_t> stay;
    for (Index s = 0; s < size_; ++s)
      if (stays_below(trails_[s], at, width)) stay.push_back(s), leave(s, at - trails_[s].mean);
    chains_.relocate(stay, 0);
  }

  /// Where effects are scaled by another coordinate, scouts or chains go on in coordinates that fit them better.
  void centre() {
    const auto [at, width] = usual();
    std::vector<std::vector<Real>> places;
    for (const Trail<Real>& t : trails_)
      if (t.running && t.mean >= at - near * width) places.emplace_back(t.draws.end() - dim_, t.draws.end());
    if (places.empty()) return;
    LearntCoordinates better = coordinates_about(run_, places, out_.metric.factor, out_.gradients);
    if (better.size() == 0) return;
    keeper_.so_far().coordinates = out_.coordinates = better.to_numbers();
    run_.coordinates->set(std::move(better));
    out_.gradients += chains_.take_gradients();
    chains_.start_again([&](std::vector<Real>& x) { run_.coordinates->from_target(x); }, nullptr, out_.iterations);
    for (Trail<Real>& t : trails_) run_.coordinates->from_target(t.draws);
    learn_metric();
  }

  void leave_behind() {
    const auto [at, width] = usual();
    for (Index s = 0; s < size_; ++s) {
      const Trail<Real>& t = trails_[s];
      if (t.mean < at - far_below(dim_, width) || !std::isfinite(t.mean)) {
        leave(s, at - t.mean);
        continue;
      }
      std::vector<Real> late;
      for (std::size_t k = t.lp.size(); k > t.lp.size() / 2; --k)
        late.insert(late.end(), t.draws.begin() + (k - 1) * dim_, t.draws.begin() + k * dim_);
      out_.points.push_back(std::move(late));
    }
    require(!out_.points.empty(), ExitStatus::data, "no chain can start",
            fmt::format("{} scouts found no place with a finite log density", size_),
            "Choose other starting points with --init?");
    gather();
  }
  void gather() {
    keeper_.so_far().symmetries = out_.symmetries = gather_in_one_place(run_, out_.points, out_.gradients);
  }

  /// From the late draws of the half with the highest densities, about each scout's own mean: on their way they tell it
  /// as well, but those in another place would tell that of it, and one far above the others is in a narrow one.
  void learn_metric() {
    std::vector<Real> x;
    std::vector<Index> counts;
    std::vector<double> means;
    for (const Trail<Real>& t : trails_) means.push_back(t.mean);
    const double middle = median(means);
    const auto [at, width] = usual();
    for (const Trail<Real>& t : trails_) {
      if (!std::isfinite(t.mean) || t.mean < std::max(middle, at - far_below(dim_, width)) || t.mean > at + 4 * width)
        continue;
      x.insert(x.end(), t.draws.begin() + std::ssize(t.lp) / 2 * dim_, t.draws.end());
      counts.push_back(static_cast<Index>(std::ssize(t.lp) - std::ssize(t.lp) / 2));
    }
    TargetGradients<Real> gradients_at(run_);
    const std::vector<Real> g = gradients_at(x);
    const ThreadsOf threads(run_.context, dim_);
    MetricLearner learner(dim_);
    for (std::size_t at = 0; const Index count : counts) {
      learner.add(x.data() + at, g.data() + at, count);
      at += static_cast<std::size_t>(count * dim_);
      out_.gradients += count;
    }
    out_.metric.factor = learner.factor();
    out_.metric.step_size = 0.5;
    const auto missing = static_cast<Index>(1.5 * dim_) - learner.freedom();
    if (dim_ > most_dense || missing <= 0 || counts.empty()) return;
    const auto each = static_cast<Index>(missing / counts.size() + 2);
    const auto n = static_cast<std::size_t>(dim_);
    std::uint32_t draws = 0;
    for (const Index count : counts) {
      draws += static_cast<std::uint32_t>(count);
      const std::size_t last = (draws - 1) * n;
      add_probes<Real>(std::ref(gradients_at), out_.metric.factor, {x.data() + last, n}, {g.data() + last, n}, each,
                       {~run_.options.seed, draws, out_.iterations}, learner);
    }
    out_.gradients += each * std::ssize(counts);
    out_.metric.factor = learner.factor();
  }

  const Phases<Real>& run_;
  WarmupKeeper<Real>& keeper_;
  const Index dim_, size_;
  Ensemble<Real> chains_;
  int round_ = 0;
  std::int64_t from_ = 0, end_ = 0;  ///< iterations: where the piece under way began, where the round ends
  std::vector<Trail<Real>> trails_;  ///< empty: the round has not begun
  std::vector<std::vector<char>> saved_;
  Scouted<Real> out_;
};

}  // namespace

template <class Real>
std::vector<Real> Scouted<Real>::starts(Index first, Index count, Index dim, std::int64_t superchains) const {
  std::vector<Real> x;
  for (Index c = first; c < first + count; ++c) {
    const auto scout = static_cast<std::size_t>(superchains > 1 ? c % superchains : c);
    const auto& from = points[scout % points.size()];
    const std::size_t draws = from.size() / dim, k = static_cast<std::size_t>(c) / points.size() % draws;
    x.insert(x.end(), from.begin() + k * dim, from.begin() + (k + 1) * dim);
  }
  return x;
}

template <class Real>
Scouted<Real> send_scouts(const Phases<Real>& run, WarmupKeeper<Real>& keeper, std::vector<std::uint8_t>& stand) {
  Party<Real> party(run, keeper);
  if (!stand.empty()) party.go_on(stand);
  const auto whole = keeper.where;
  keeper.where = [&] {
    stand = party.stand();
    return whole();
  };
  Scouted<Real> scouted = party();
  keeper.where = whole;
  stand.clear();
  if (scouted.interrupted && scouted.iterations == 0) keeper.save(keeper.state());
  return scouted;
}

template struct Scouted<float>;
template struct Scouted<double>;
template Scouted<float> send_scouts(const Phases<float>&, WarmupKeeper<float>&, std::vector<std::uint8_t>&);
template Scouted<double> send_scouts(const Phases<double>&, WarmupKeeper<double>&, std::vector<std::uint8_t>&);

}  // namespace kilochain
