// A sampler's chains as the host sees them: bound to memory on a device, advanced, adapted alone or pooled.
#pragma once
#include <atomic>
#include <limits>
#include <optional>

#include "kernels/choices.hpp"
#include "targets/target.hpp"

namespace kilochain {

enum class ChainStatus : std::int32_t { running = 0, start_zero_density, start_gradient, proposal };
/// Why a chain was quarantined, for people.
const char* quarantine_reason(ChainStatus status);

/// The host's record of one chain.
struct ChainControl {
  std::int64_t iteration = 0;  ///< finished iterations, warm-up included
  std::int64_t gradients = 0;  ///< evaluations answered in this phase
  std::int64_t counted = 0;    ///< iterations behind acceptance_sum
  double acceptance_sum = 0, lp_sum = 0;
  ChainStatus status = ChainStatus::running;
  /// 1: a query is out; a product with the factor is wanted by 2: its move, 3: a step of it; 4: as 1, to be rejected.
  std::int32_t waiting = 0;
};

/// Where iterations leave their draws: chain-major (chain, capacity, dim), or nowhere (draws == nullptr).
template <class Real>
struct Recording {
  Real* draws = nullptr;
  double* lp = nullptr;
  float* acceptance_rate = nullptr;
  std::uint8_t* diverging = nullptr;
  float* stats = nullptr;  ///< (stat, chain, capacity), stat_stride elements from one stat to the next
  std::int64_t stat_stride = 0;
  std::int64_t capacity = 0, first_iteration = 0;
  std::int32_t thin = 1;
  bool active = false;
  std::int64_t* diverged = nullptr;  ///< (chain, kept_divergences): 1 + the slot of a chain's first divergences, then 0
  Real* diverged_at = nullptr;       ///< (chain, kept_divergences, dim): the points where they were found
  std::int8_t* spins = nullptr;      ///< (chain, capacity, spins of the model)
  std::int32_t kept_divergences = 0;
  bool operator==(const Recording&) const = default;
};

/// Which iterations to do and how, the same for every chain.
template <class Real>
struct Segment {
  std::uint64_t seed = 0;
  std::uint32_t first_chain = 0;
  std::int64_t phase_start = 0, until = 0;  ///< absolute iterations
  Schedule schedule;                        ///< t is filled in for each chain
  Scope scope = Scope::chain;  ///< while adapting: each chain alone, or one pooled step after every iteration
  bool rate_decays = false;    ///< pooled: schedule.rate follows pooled_rate over schedule.num_warmup
  Recording<Real> recording;
  bool operator==(const Segment&) const = default;

  KC_INLINE Phase phase() const { return schedule.adapting ? Phase::warmup : Phase::sampling; }
  KC_INLINE bool adapts_alone() const { return schedule.adapting && scope == Scope::chain; }
  KC_INLINE bool pools() const { return schedule.adapting && scope == Scope::pooled; }
};

/// The same as far as to iteration `end`.
template <class Real>
Segment<Real> until(Segment<Real> segment, std::int64_t end) {
  segment.until = end;
  return segment;
}

/// Where iteration `iteration` stands in the phase.
template <class Real>
KC_INLINE Schedule schedule_at(const Segment<Real>& segment, std::int64_t iteration) {
  Schedule s = segment.schedule;
  s.t = iteration - segment.phase_start;
  if (segment.rate_decays)
    s.rate = pooled_rate(static_cast<double>(s.t) / static_cast<double>(s.num_warmup > 0 ? s.num_warmup : 1));
  return s;
}

/// What one chain's adaptation has learnt, for reports. Empty or NaN where the sampler has no such thing.
struct Learnt {
  std::vector<double> factor;                              ///< L of the proposal, dense (dim, dim), row-major
  double beta = std::numeric_limits<double>::quiet_NaN();  ///< weight of the entropy, in gradient-based adaptation
};

/// Observations of a logistic regression that bend the normal of a metric (kernels/adapt/bent_normal.hpp).
struct Bending {
  std::vector<double> lines;                       ///< (count, dim): F^T x_k
  std::vector<double> logit, sign, offset, slope;  ///< (count)
};
/// How many of them a sampler has room for, of a target: a multiple of 32; 0 where it is no logistic regression.
Index bending_room(const TargetInfo& target);

/// What trajectories are made with: inv_mass_matrix = factor factor^T, the leapfrog step, and the number of steps.
struct Metric {
  std::vector<double> factor;  ///< lower triangle of (dim, dim), row-major; a diagonal mass takes sqrt of its variances
  double step_size = 1;
  double num_steps = 1;           ///< mean of a trajectory, where the sampler learns it
  double spread = 1;              ///< lengths lie within num_steps (1 +- spread)
  int stages = 1;                 ///< leapfrog, or 2: the two-stage integrator
  bool turns = false;             ///< leapfrog whose steps are exact for the normal with this mean and inv_mass_matrix
  int finer_every = 1;            ///< iterations from one that may be made with finer steps to the next
  std::vector<double> mean = {};  ///< (dim), where it turns
  std::optional<Bending> bent = {};  ///< trajectories of that normal bent by these, or of itself; the density accepts
};
/// Whether the factor has no off-diagonals.
inline bool is_diagonal(const Metric& metric, Index dim) {
  for (std::size_t i = 0, n = static_cast<std::size_t>(dim); i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (metric.factor[i * n + j] != 0) return false;
  return true;
}

/// Bytes of state and adaptation, of the queries and answers, of what a checkpoint has of it all, and of the sums of
/// pooled signals.
struct ChainBytes {
  std::size_t state, adaptation, exchange, saved, pooled_sums = 0;
};

enum Action : unsigned { action_update = 1, action_propose = 2 };

template <class Real>
class Chains {
 public:
  virtual ~Chains() = default;
  /// Where queries and answers lie, and the most that any chain asks for in this phase.
  virtual Exchange<Real> exchange(Phase phase) const = 0;
  /// Asks for the value at each chain's starting point, x: (chain, dim) on the host.
  virtual void place(const std::vector<Real>& x) = 0;
  /// Takes the answers at the starting points; quarantines chains with zero density there.
  virtual void start(Index first, Index last) = 0;
  /// Updates chains whose query was answered, then proposes for those short of segment.until. Returns how many wait for
  /// an answer, or more: in a stretch they only become fewer.
  virtual Index advance(Index first, Index last, unsigned actions, const Segment<Real>& segment) = 0;
  /// One pooled adaptation step from the signals that all chains left in their last update.
  virtual void pool(const Segment<Real>& segment) = 0;
  /// Runs every chain to segment.until by its own means, pooled adaptation included, if it has any (a captured CUDA
  /// graph): the same bits as rounds of evaluate, advance and pool. Returns the iteration that it has queued when
  /// `stop` came or the end; nothing when it has no such means, so that the caller drives the rounds.
  virtual std::optional<std::int64_t> replay(Target<Real>& /*target*/, const Segment<Real>& /*segment*/,
                                             const std::atomic<bool>& /*stop*/) {
    return std::nullopt;
  }
  /// Whether replay has such means for segments like this one and only queues: a stretch of any length returns at once.
  virtual bool runs_ahead(Target<Real>& /*target*/, const Segment<Real>& /*segment*/) const { return false; }
  virtual std::vector<ChainControl> controls() const = 0;
  /// Whether products with a factor that the chains share are made of all chains at once, where that can be: for tests,
  /// in place of the rule. Only before the chains start.
  virtual void multiply_together(bool) {}
  /// How those products are made, for --verbose; empty where there is no choice.
  virtual std::string products() const { return ""; }
  /// Writes the records that controls() would return to memory of the chains' device, in the order of the queued work.
  virtual void leave_controls(ChainControl* to) const = 0;
  virtual void reset_counts() = 0;
  /// The next iteration of chains that have just started is this one.
  virtual void begin_at(std::int64_t iteration) = 0;
  /// Positions of all chains, (chain, dim).
  virtual std::vector<Real> positions() const = 0;
  /// Gradients there, (chain, dim); empty where the sampler keeps none.
  virtual std::vector<Real> gradients() const { return {}; }
  /// What chain's adaptation (the pooled one: chain 0) has learnt; a copy of it, for reports.
  virtual Learnt learnt(Index /*chain*/) const { return {}; }
  /// Puts `metric` in every copy of the adaptation and begins dual averaging again from its step; false where the
  /// sampler has no mass matrix. No query may be out; the next iteration must be one that adapts.
  virtual bool set_metric(const Metric& /*metric*/) { return false; }
  /// The mean of the steps that dual averaging took since it began; NaN where there is none. Of chain 0 or the pooled
  /// one.
  virtual double averaged_step() const { return std::numeric_limits<double>::quiet_NaN(); }
  /// Chain `to` continues from where `from` stands, with random numbers of its own. No query may be out.
  virtual void relocate(Index /*from*/, Index /*to*/) {}
  /// Everything of the state and adaptation that must survive an interruption, and back.
  virtual std::vector<char> save() const = 0;
  virtual void load(const std::vector<char>& bytes) = 0;
};

}  // namespace kilochain
