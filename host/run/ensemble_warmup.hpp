// The warm-up of ensemble_hmc: scouts arrive, all chains begin at their places and learn one metric, step and
// trajectory length; then all is frozen and audited. What fails the audit sends them back to learn for twice as long,
// five times at most.
//   1. scouts find the posterior (scouts.hpp)           3. lengths of trajectories are tried (mixing.hpp)
//   2. all chains adapt the step; a metric from draws   4. the step settles; adaptation ends; audit (audit.hpp)
// A logistic regression that is no normal is tried without 2 first: observations tell its metric (row_start.hpp).
// Where no metric fits, as in a funnel, 2 moves the chains to other coordinates (learn_coordinates.hpp). Modes that an
// audit has found chains to stay in are laid over each other (unequal_modes.hpp), and chains learn anew.
#pragma once
#include "host/learn/audit.hpp"
#include "host/learn/bent_law.hpp"
#include "host/learn/log_mass.hpp"
#include "host/run/scouts.hpp"
#include "host/run/warmup_keeper.hpp"

namespace kilochain {

class LearntCoordinates;
class MetricLearner;

template <class Real>
class EnsembleWarmUp {
 public:
  EnsembleWarmUp(const Phases<Real>& run, WarmupKeeper<Real>& keeper);
  void operator()();
  template <class Visitor, class Self>
  static void visit(const Visitor& visit, Self& self) {
    visit("stage", self.stage_), visit("attempt", self.attempt_), visit("missing", self.missing_);
    visit("relocated", self.relocated_), visit("stuck", self.stuck_);
    visit("mass", self.mass_.value), visit("mass_error", self.mass_.error);
    visit("usual_lp", self.usual_lp_), visit("lp_width", self.lp_width_);
    visit("climbed", self.climbed_), visit("settled", self.settled_), visit("searched", self.searched_);
    visit("fits", self.fits_);
    visit("agreement", self.out_.agreement), visit("scouting", self.scouting_);
    visit("factor", self.metric_.factor), visit("step_size", self.metric_.step_size);
    visit("num_steps", self.metric_.num_steps), visit("spread", self.metric_.spread);
    visit("turns", self.metric_.turns), visit("finer_every", self.metric_.finer_every);
    visit("stages", self.metric_.stages), visit("mean", self.metric_.mean);
    auto& s = self.stand_;
    visit("done", s.done), visit("seen", s.seen), visit("total", s.total), visit("first", s.first);
    visit("x", s.x), visit("began", s.began), visit("lengths", s.lengths), visit("neighbours", s.neighbours);
    visit("best", s.best), visit("length", s.length), visit("drawing", s.drawing);
    visit("leap", s.leap), visit("largest", s.largest), visit("moved", s.moved);
    s.numbers.visit(visit, "numbers", s.numbers), s.times.visit(visit, "times", s.times);
    s.bent.visit(visit, "bent", s.bent), visit("usual_worth", s.usual_worth), visit("left_bent", s.left),
        visit("learnt_again", s.learnt_again), visit("multiplied", s.multiplied), visit("bends", self.bends_),
        visit("refuted", self.refuted_), visit("from_rows", self.from_rows_);
    self.law_.visit(visit, self.law_), visit("usual_factor", self.usual_.factor);
    visit("usual_mean", self.usual_.mean), visit("usual_step", self.usual_.step_size);
    visit("usual_num_steps", self.usual_.num_steps), visit("usual_spread", self.usual_.spread);
    visit("usual_stages", self.usual_.stages), visit("usual_turns", self.usual_.turns);
    visit("usual_finer", self.usual_.finer_every);
    s.drawn.visit(visit, s.drawn);
    if constexpr (!std::is_const_v<Self>) {
      self.resumed_ = true;
      if (self.bends_) self.metric_.bent = self.law_.bending;
    }
  }

 private:
  enum Stage { scouts, metric, lengths, step, audits };
  static constexpr std::int64_t metric_gradients = 32000;  ///< of a stretch that a metric is learnt from, at first
  static constexpr std::int64_t piece = 64;        ///< longer ones would begin a window of the kernels' own mass
  static constexpr std::int64_t least_trial = 24;  ///< iterations, of a length that is tried while steps adapt
  static constexpr int seldom = 7;                 ///< odd: with all lengths of the sequence
  /// The best of values that are tried one after the other: upwards while that pays, else downwards from the first.
  struct Search {
    double first = 0, best = 0, worth = 0;  ///< best: of those that were tried; worth: of that
    bool down = false;
    double next = 0;  ///< to be tried, 0: none

    /// What `next` was worth; above and below are functions of a value.
    void saw(double now, auto above, auto below) {
      const bool better = best == 0 || now > worth;
      if (better) worth = now, best = next;
      const bool back = !better && best == first && !std::exchange(down, true);
      next = !better && !back ? 0 : down ? below(best) : above(best);
    }
    template <class Visitor, class Self>
    static void visit(const Visitor& visit, const std::string& of, Self& self) {
      visit((of + "_first").c_str(), self.first), visit((of + "_best").c_str(), self.best);
      visit((of + "_worth").c_str(), self.worth), visit((of + "_down").c_str(), self.down);
      visit((of + "_next").c_str(), self.next);
    }
  };
  /// Where the warm-up stands within a stage.
  struct Stand {
    std::int64_t done = 0, seen = 0, total = -1;  ///< iterations; draws met; iterations wanted, -1: not begun
    std::vector<Real> x;                          ///< some draws, for the metric
    std::vector<double> lengths = {2};            ///< to be tried
    bool neighbours = false;                      ///< are tried: doubling does not pay, nor do pairs
    double best = 0, length = 2;                  ///< what the best was worth, with noise allowed for; its steps
    double leap = 0, largest = 0;                 ///< steps that acceptance allows, of leapfrog and of pairs
    Search numbers, times;                        ///< of steps that turn; lengths of trajectories of these or of pairs
    Search bent;                                  ///< steps of trajectories of the bent law
    double usual_worth = 0;                       ///< of the best other trajectories
    bool left = false;                            ///< the bent law, for those
    bool learnt_again = false;                    ///< from its own draws
    int multiplied = 0;                           ///< factors of it that products were made with
    bool moved = false;                           ///< chains: to coordinates that this metric was learnt in
    std::vector<Real> began;                      ///< where chains stood when they were frozen
    bool drawing = false;                         ///< `drawn` is under way, since iteration `first`
    std::int64_t first = 0;
    FrozenDraws<Real> drawn;
  };

  bool begins(Stage stage);
  void of_given_length(std::int64_t iterations);
  void scout();
  bool needs_metric();
  void relocate();
  void gather();
  bool learn_metric(std::int64_t iterations);
  std::optional<LearntCoordinates> learn_coordinates(std::vector<Real>& gradients);
  void refine_metric(MetricLearner& learner, const std::vector<Real>& gradients);
  void learn_law(const std::vector<Real>& x);
  void move_chains(LearntCoordinates coordinates);
  bool nearly_gaussian() const;
  /// Whether the law is the normal that modes of a mixture are laid over each other as.
  bool of_mixture() const { return fits_ > 0; }
  void learn_length();
  void learn_usual();
  void try_lengths();
  void learn_turns();
  void learn_pairs();
  void try_bent();
  void learn_law_again(double num_steps);
  void multiply_anew(int which);
  double worth_bending() const;
  void bend(double num_steps);
  void leave_bent();
  void try_time();
  std::int64_t iterations_of_metric() const;
  std::int64_t affordable(std::int64_t gradients) const;
  double worth(bool adapting);
  double gradients_of(double steps) const;
  double beside_gradients() const;
  double tail_of_proposals();
  Metric while_adapting() const;
  void leapfrog(double num_steps, double step);
  void turns(double time, double number);
  void pairs(double time, double largest);
  std::string trajectories() const;
  void settle(std::int64_t iterations);
  AuditFigures audit(std::int64_t iterations);
  bool overlay(const FrozenDraws<Real>& block, const AuditFigures& figures);
  LogMass mass_of_others(const FrozenDraws<Real>& block, const AuditFigures& figures);
  FrozenDraws<Real> draw(std::int64_t iterations, bool adapting);
  void tell(const std::string& stage) { run_.reporter.waits_for(stage + missing_); }

  const Phases<Real>& run_;
  WarmupKeeper<Real>& keeper_;
  WarmedUp& out_;
  Windows<Real> windows_;
  std::int64_t end_ = most_automatic_warmup;  ///< no iteration goes beyond
  Metric metric_, usual_;                     ///< usual: before trajectories were of the bent law
  BentLaw law_;                               ///< of the draws that the metric is of; none: without a factor
  bool bends_ = false;                        ///< trajectories are of that law, or of the normal alone
  bool refuted_ = false;                      ///< by an audit
  bool from_rows_ = false;                    ///< the metric is of observations alone (row_start.hpp), or a mixture's
  std::string missing_;                       ///< in the last audit, for people
  int stage_ = scouts;
  std::int64_t attempt_ = 0, relocated_ = 0;  ///< relocated: chains
  std::int64_t climbed_ = 0;                  ///< metrics that were learnt while chains were on their way
  bool searched_ = false;                     ///< for modes that no chain has found
  int fits_ = 0;                              ///< of a mixture to draws, whose laws modes are laid over each other by
  bool settled_ = false;                      ///< chains no longer climb: their draws tell coordinates
  std::vector<std::int64_t> stuck_;           ///< chains that accepted nothing in the last audit
  LogMass mass_{0, 0};                        ///< of the others' place
  double usual_lp_ = 0, lp_width_ = 0;        ///< chains' mean log densities: what is usual, and no farther from it
  Stand stand_;
  std::vector<std::uint8_t> scouting_;  ///< where scouts stand, while they are sent
  bool resumed_ = false;                ///< and has not begun its stage yet
};

}  // namespace kilochain
