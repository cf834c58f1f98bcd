// A target as the host sees it: many chains' points in, log densities and gradients out. Models are written one chain
// at a time (targets/funnel.hpp is the shortest example) and wrapped by host/chains (cpu_target.hpp, cuda_target.cuh);
// a target that is faster for many chains at once (logistic regression) overrides evaluate itself.
#pragma once
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract.hpp"
#include "kernels/device/context.hpp"

namespace kilochain {

struct Design;  // targets/data/dataset.hpp

namespace discrete {
struct SpinModel;  // targets/discrete/spin_model.hpp
}

/// The points and answers of all chains: rows of `row` elements, chain after chain.
template <class Real>
struct Exchange {
  Real *point, *direction, *gradient, *hessian_vector;
  double *lp, *adaptation_signal;  ///< (chain); the latter: acceptance in the last signal, read by pooled adaptation
  Needs* needs;
  std::size_t row;
  Needs most = Needs::hessian_vector;  ///< no chain asks for more: lets a target of many chains leave work out
  Asks asks = Asks::once;              ///< often: chains wait for others, and a target may leave those out
  Index asking = std::numeric_limits<Index>::max();  ///< no more chains than these ask in this round

  KC_INLINE Query<Real> query(Index chain) const {
    return {{point + row * chain, row}, {direction + row * chain, row}, needs + chain};
  }
  KC_INLINE Reply<Real> reply(Index chain) const {
    return {lp + chain, {gradient + row * chain, row}, {hessian_vector + row * chain, row}};
  }
};

/// What is known exactly about a target, for tests and for `kilochain targets`.
struct Exact {
  std::vector<double> mean, variance;  ///< (n), empty when unknown
  /// An exact draw from n independent standard normals (and one uniform), empty when none is known.
  std::function<std::vector<double>(const std::vector<double>& normals, double uniform)> draw;
};

/// A data array that is stored beside the draws.
struct Constant {
  std::string name;
  std::vector<std::string> dims;
  std::vector<std::size_t> shape;
  std::vector<double> values;
  std::string group = "constant_data";
};

/// A variable of the posterior: some of the names, in their order, as an array.
struct Variable {
  std::string name;
  std::vector<std::size_t> shape;   ///< empty: a number
  std::string group = "posterior";  ///< of the file; those of others stand behind the posterior's
};

/// A target's parameters, as its users know them, without what is made of them: one value for each name, row-major.
struct ParameterValues {
  std::vector<Variable> variables;
  std::function<void(const double* x, double* values)> of_point;
  std::function<bool(const double* values, double* x)> to_point;  ///< false: there is no such point
};

/// Which draw is recorded: what random numbers among its recorded values depend on.
struct DrawId {
  std::uint64_t seed;
  std::int64_t chain, draw;
};

/// What does not depend on precision or device.
struct TargetInfo {
  Index dim = 0;                    ///< coordinates that are sampled, all real
  std::string variable = "x";       ///< name of the posterior variable, where `variables` is empty
  std::vector<Variable> variables;  ///< how the names divide into variables
  std::vector<std::string> names;   ///< one per recorded value; per coordinate where `constrain` is empty
  /// How many of the names are the posterior's, the first ones: what is summarised and judged.
  std::size_t num_posterior = std::numeric_limits<std::size_t>::max();
  /// The first so many of them decide how long an automatic run is; the others are made of these afterwards.
  std::size_t num_deciding = std::numeric_limits<std::size_t>::max();
  /// What is recorded in place of the coordinates: (dim) to (names.size()), on the host. Empty: the coordinates.
  std::function<void(const double* x, const DrawId& draw, double* recorded)> constrain;
  /// The first of the names, with the way back, where both are known. Null: the coordinates, where nothing constrains.
  std::shared_ptr<const ParameterValues> parameters;
  std::vector<std::string> fixed;  ///< names of recorded values that are the same in every draw: not judged
  std::function<std::vector<std::string>()> notes;  ///< what a user should know after a run; empty: nothing
  bool is_prior = false;                            ///< the prior alone, of a context that asks for it
  double prior_sd = 0;  ///< of every coordinate, where that is their prior: N(0, prior_sd^2) each; 0: another one
  /// Of a logistic regression: the log density is sum_i log sigma((2 y_i - 1) x_i.w), and that prior. Else null.
  std::shared_ptr<const Design> logistic;
  /// Evaluates once at x (dim) on the host and throws an Error for what is wrong there: an index out of range, other
  /// parameters than at first. Empty: nothing can be.
  std::function<void(const double* x)> check;
  /// Whether a call may end without a value where it takes far longer than others: in a warm-up. Empty: none does.
  std::function<void(bool does)> gives_up;
  Needs offers = Needs::hessian_vector;  ///< the most that it can be asked for
  bool in_one_call = false;              ///< code of others takes all chains at a time: the more, the less each costs
  std::vector<Constant> constants;
  Exact exact;
  /// Bytes of working memory for `chains` chains at a time, on the device where they run; empty: none to speak of.
  std::function<std::size_t(Index chains)> scratch_bytes;
  double flops = 0, bytes = 0;     ///< of one gradient of one chain: multiply-adds count two; data read once
  std::vector<std::size_t> spins;  ///< shape of a spin model's state, stored beside its draws; empty: there is none
  std::shared_ptr<const discrete::SpinModel> spin_model;  ///< what samplers of spins meet in place of evaluate
};

/// While this lives, calls of a density may give up: chains on their way come to places where one takes minutes.
class MayGiveUp {
 public:
  explicit MayGiveUp(const TargetInfo& info) : info_(info) {
    if (info_.gives_up) info_.gives_up(true);
  }
  ~MayGiveUp() {
    if (info_.gives_up) info_.gives_up(false);
  }
  MayGiveUp(const MayGiveUp&) = delete;

 private:
  const TargetInfo& info_;
};

/// Puts a model's arrays where the chains run, in their precision.
template <class Real>
class Arena {
 public:
  explicit Arena(const Context& context) : context_(context) {}
  const Real* put(const std::vector<double>& values) {
    return place(values.size(), [&](Real* to) {
      for (std::size_t k = 0; k < values.size(); ++k) to[k] = static_cast<Real>(values[k]);
    });
  }
  /// Room for `count` numbers, zeros but for what fill(to) writes: where they stay on the CPU, to be copied to a
  /// device.
  template <class Fill>
  const Real* place(std::size_t count, Fill&& fill) {
    count = padded(count + 1);  // rows may be read a whole register at a time
    buffers_.emplace_back(context_, count);
    const Buffer<Real>& buffer = buffers_.back();
    const bool on_device = context_.backend != Backend::cpu;
    std::vector<Real> copy(on_device ? count : 0);
    Real* const to = on_device ? copy.data() : buffer.data();
    std::fill_n(to, count, Real(0));
    fill(to);
    if (on_device) buffers_.back().upload(to);
    return buffer.data();
  }
  const Context& context() const { return context_; }
  /// The same for arrays that stay in double whatever the precision of the run.
  Arena<double>& doubles() {
    if constexpr (std::is_same_v<Real, double>) {
      return *this;
    } else {
      if (!doubles_) doubles_ = std::make_unique<Arena<double>>(context_);
      return *doubles_;
    }
  }

 private:
  Context context_;
  std::vector<Buffer<Real>> buffers_;
  std::unique_ptr<Arena<double>> doubles_;
};

template <class Real>
struct Iterations;  // host/chains/cuda_blocks.cuh

template <class Real>
class Target {
 public:
  virtual ~Target() = default;
  const TargetInfo& info() const { return info_; }
  /// Answers the queries of chains first..last-1 whose needs are not `nothing`. On the CPU threads call it together.
  virtual void evaluate(const Exchange<Real>& exchange, Index first, Index last) = 0;
  /// Called at a chain's starting point (dim) before a run. Throws an Error where TargetInfo::check does.
  void check_evaluation(const Real* point) const {
    if (info_.check) info_.check(std::vector<double>(point, point + info_.dim).data());
  }
  /// How many chains a CPU thread should bring to one call.
  virtual Index tile(Index /*num_chains*/, int /*threads*/) const { return 1; }
  /// Queues whole iterations of a sampler's chains as one launch on a CUDA device; false where it cannot.
  virtual bool iterate(const Iterations<Real>&) { return false; }
  /// Whether what evaluate queues on a CUDA device may be captured in a graph and replayed.
  virtual bool can_be_captured() const { return true; }
  /// How evaluate works and why, for --verbose.
  virtual std::string evaluation() const { return "one chain at a time"; }

 protected:
  TargetInfo info_;
};

}  // namespace kilochain
