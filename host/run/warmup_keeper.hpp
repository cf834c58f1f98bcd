// What a warm-up leaves when it is stopped: where it stood, so that it can be resumed with the same draws as if it had
// not stopped, and the last draws, to look at.
//   state  into the file when the warm-up is stopped, and every 10 seconds (checkpoint_seconds where that is less; 0:
//          never) or twenty times what a save takes. Not of batches that have not come equally far.
//   draws  the last few hundred of each chain, in memory until the end
#pragma once
#include <nlohmann/json.hpp>

#include "host/run/phases.hpp"
#include "host/run/run_state.hpp"
#include "host/run/saved_fields.hpp"

namespace kilochain {

/// The last draws of every chain, as many as there is room for.
template <class Real>
class LastDraws {
 public:
  explicit LastDraws(Count room) : room_(room) {}
  void take(const Window<Real>& window, std::int64_t origin, std::int64_t thin);
  /// Once there is another.
  void forget() { stale_ = true; }
  /// Brings them into their order: draws (chain, count, dim), lp and acceptance rates (chain, count). Of none: 0.
  Window<Real> in_order();
  const std::vector<std::int64_t>& iterations() const { return iterations_; }

 private:
  Count room_, chains_ = 0, dim_ = 0, taken_ = 0;
  bool stale_ = false;
  std::vector<Real> x_;
  std::vector<double> lp_;
  std::vector<float> accepted_;
  std::vector<std::int64_t> iterations_;
};

template <class Real>
class WarmupKeeper {
 public:
  using Take = typename Ensemble<Real>::Take;

  /// before: the state in which a warm-up was stopped, or null.
  WarmupKeeper(const Phases<Real>& run, const RunState* before);
  WarmedUp& so_far() { return out_; }
  /// What was done for it before it began.
  void took(double seconds) { seconds_before_ += seconds; }

  /// As Ensemble::run from iteration `now`, which becomes the one that was reached: false when that is before `until`.
  /// Windows without buffers: nothing is recorded. Other chains than the run's own are scouts.
  bool run(Ensemble<Real>& chains, const Segment<Real>& segment, std::int64_t& now, std::int64_t until,
           Windows<Real>& windows, const Take& take = nullptr);
  /// The chains begin anew, elsewhere.
  void forget() { last_.forget(); }
  /// The same at once: they were in other coordinates.
  void forget_now();
  /// The state now, for save; empty where none is kept.
  std::vector<char> state();
  void save(const std::vector<char>& state);
  /// The warm-up is over. Of one that was stopped the last draws go to the file.
  WarmedUp end();

  std::function<nlohmann::json()> where;  ///< the warm-up's own part of the state

 private:
  void leave_draws();

  const Phases<Real>& run_;
  WarmedUp out_;
  LastDraws<Real> last_;
  bool scouts_ = false, saves_ = false;
  double seconds_before_ = 0, every_ = 0;  ///< seconds; from one save to the next
  std::chrono::steady_clock::time_point begin_, saved_at_;
};

}  // namespace kilochain
