// Replicas of a spin model as chains: what the phases of a run step, record, save and quarantine as any others.
// A draw is (energy, magnetization), the mean spin; lp is -beta E; the spins themselves go beside it where they are kept.
// A chain starts at its first iteration: at random on its set, from (seed, chain) alone, or in order with `--init zeros`
// (the first spins up, or none of a free model).
#pragma once
#include "host/chains/chains.hpp"
#include "host/chains/checkpoint.hpp"
#include "host/chains/replicas.hpp"
#include "targets/discrete/spin_model.hpp"

namespace kilochain::discrete {

/// Spins (n) of the turned model: `up` of them up, or any number when it is negative.
inline void starting_spins(const Rng& rng, bool in_order, Index up, std::vector<std::int8_t>& spins) {
  const auto n = static_cast<Index>(spins.size());
  Uniforms drawn(rng, Purpose::start);
  for (Index i = 0, left = up; i < n; ++i) {
    const double u = drawn(static_cast<std::uint32_t>(i));
    const bool is_up = up < 0 ? !in_order && u < 0.5 : in_order ? i < up : u * (n - i) < left;
    left -= is_up;
    spins[static_cast<std::size_t>(i)] = is_up ? 1 : -1;
  }
}

template <class Real>
class SpinChains final : public Chains<Real> {
 public:
  SpinChains(std::unique_ptr<Replicas> replicas, Index num_chains, std::shared_ptr<const SpinModel> model,
             int num_stats)
      : replicas_(std::move(replicas)),
        model_(std::move(model)),
        num_stats_(num_stats),
        controls_(static_cast<std::size_t>(num_chains)) {
    const auto& r = model_->reference;
    one_reference_ = std::all_of(r.begin(), r.end(), [&](std::int8_t s) { return s == r[0]; });
  }

  Exchange<Real> exchange(Phase) const override { return {}; }
  void place(const std::vector<Real>& x) override {
    in_order_ = std::all_of(x.begin(), x.end(), [](Real v) { return v == 0; });
    for (ChainControl& c : controls_) c = {};
  }
  void start(Index, Index) override {}
  Index advance(Index first, Index last, unsigned actions, const Segment<Real>& segment) override {
    if (actions & action_propose)
      for (Index chain = first; chain < last; ++chain) run(chain, segment);
    return 0;  // nobody waits for a target
  }
  void pool(const Segment<Real>&) override {}
  std::vector<ChainControl> controls() const override { return controls_; }
  void leave_controls(ChainControl* to) const override { std::copy(controls_.begin(), controls_.end(), to); }
  void reset_counts() override {
    for (ChainControl& c : controls_) c.gradients = c.counted = 0, c.acceptance_sum = c.lp_sum = 0;
  }
  std::vector<Real> positions() const override {
    std::vector<Real> x;
    for (Index c = 0; c < static_cast<Index>(controls_.size()); ++c)
      x.push_back(static_cast<Real>(replicas_->energy(c))), x.push_back(static_cast<Real>(magnetization(c)));
    return x;
  }
  std::vector<char> save() const override {
    CheckpointWriter writer(what());
    writer.field("in_order", &in_order_, 1, 1, 1);
    writer.field("control", controls_.data(), 1, controls_.size(), controls_.size());
    writer.field("replica", replicas_->memory(), 1, memory_bytes(), memory_bytes());
    return std::move(writer).bytes();
  }
  void load(const std::vector<char>& bytes) override {
    CheckpointReader reader(bytes, what());
    const char* in_order = reader.field("in_order", 1, 1, sizeof in_order_);
    const char* control = reader.field("control", 1, controls_.size(), sizeof(ChainControl));
    const char* replica = reader.field("replica", 1, memory_bytes(), 1);
    reader.end();
    std::memcpy(&in_order_, in_order, sizeof in_order_);
    std::memcpy(controls_.data(), control, controls_.size() * sizeof(ChainControl));
    std::memcpy(replicas_->memory(), replica, memory_bytes());
  }

 private:
  std::size_t memory_bytes() const { return replicas_->bytes() * controls_.size(); }
  std::string what() const { return model_->target + " of " + std::to_string(model_->n()) + " spins"; }
  /// Of the model as it was given.
  std::int8_t spin(Index chain, Index i) const {
    return static_cast<std::int8_t>(-model_->reference[static_cast<std::size_t>(i)] * replicas_->spin(chain, i));
  }
  double magnetization(Index chain) const {
    const Index n = model_->n();
    double sum = 0;
    if (one_reference_)
      sum = -model_->reference[0] * static_cast<double>(2 * replicas_->up(chain) - n);
    else
      for (Index i = 0; i < n; ++i) sum += spin(chain, i);
    return sum / n;
  }

  void run(Index chain, const Segment<Real>& segment) {
    ChainControl& control = controls_[static_cast<std::size_t>(chain)];
    const std::uint32_t number = segment.first_chain + static_cast<std::uint32_t>(chain);
    if (control.status != ChainStatus::running) return;
    if (control.iteration == 0) {
      std::vector<std::int8_t> spins(static_cast<std::size_t>(model_->n()));
      starting_spins(Rng{segment.seed, number, 0}, in_order_, model_->hamming.value_or(-1), spins);
      replicas_->assign(chain, spins.data());
    }
    while (control.iteration < segment.until) {
      Info info;
      replicas_->step(chain, Rng{segment.seed, number, control.iteration}, info);
      const double energy = replicas_->energy(chain);
      if (!math::finite(energy)) {
        control.status = ChainStatus::proposal;
        return;
      }
      info.lp = -model_->beta * energy;
      record(chain, segment.recording, info, energy, control.iteration);
      ++control.iteration, ++control.counted, ++control.gradients;
      control.acceptance_sum += info.acceptance_rate;
      control.lp_sum += info.lp;
    }
  }
  void record(Index chain, const Recording<Real>& r, const Info& info, double energy, std::int64_t iteration) const {
    const std::int64_t k = iteration - r.first_iteration;
    if (!r.active || k < 0 || (k + 1) % r.thin != 0) return;
    const std::int64_t at = chain * r.capacity + k / r.thin;
    if (r.draws) {
      r.draws[2 * at] = static_cast<Real>(energy);
      r.draws[2 * at + 1] = static_cast<Real>(magnetization(chain));
    }
    r.lp[at] = info.lp;
    r.acceptance_rate[at] = static_cast<float>(info.acceptance_rate);
    r.diverging[at] = 0;
    for (int s = 0; s < num_stats_; ++s) r.stats[s * r.stat_stride + at] = static_cast<float>(info.stats[s]);
    if (!r.spins) return;
    const Index n = model_->n();
    for (Index i = 0; i < n; ++i) r.spins[at * n + i] = spin(chain, i);
  }

  std::unique_ptr<Replicas> replicas_;
  std::shared_ptr<const SpinModel> model_;
  int num_stats_;
  std::vector<ChainControl> controls_;
  bool in_order_ = false, one_reference_ = true;
};

}  // namespace kilochain::discrete
