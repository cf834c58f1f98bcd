// Replicas of a spin model as chains: what the phases of a run step, record, save and quarantine as any others. A
// replica is a sampler that asks nothing: it needs no target's answer, so one call of advance takes it to the segment's
// end. A draw is (energy, magnetization), the mean spin; lp is -beta E; the spins themselves go beside it where they
// are kept. A chain starts at random on its set, from (seed, chain) alone, or in order (the first spins up, or none of
// a free model).
#pragma once
#include "host/chains/chains.hpp"
#include "host/chains/checkpoint.hpp"
#include "host/chains/replicas.hpp"
#include "targets/discrete/spin_model.hpp"

namespace kilochain::discrete {

/// Where a chain starts, in the turned model: so many up as its slice has, or any number of a free model.
inline std::vector<std::int8_t> starting_spins(const SpinModel& model, const Rng& rng, bool in_order) {
  const Index n = model.n(), up = model.hamming.value_or(-1);
  std::vector<std::int8_t> spins(static_cast<std::size_t>(n));
  Uniforms drawn(rng, Purpose::start);
  for (Index i = 0, left = up; i < n; ++i) {
    const double u = drawn(static_cast<std::uint32_t>(i));
    const bool is_up = up < 0 ? !in_order && u < 0.5 : in_order ? i < up : u * (n - i) < left;
    left -= is_up;
    spins[static_cast<std::size_t>(i)] = is_up ? 1 : -1;
  }
  return spins;
}

template <class Real>
class SpinChains final : public Chains<Real> {
 public:
  SpinChains(std::unique_ptr<Replicas> replicas, Index num_chains, std::shared_ptr<const SpinModel> model,
             int num_stats)
      : replicas_(std::move(replicas)),
        model_(std::move(model)),
        num_stats_(num_stats),
        one_reference_(std::all_of(model_->reference.begin(), model_->reference.end(),
                                   [&](std::int8_t s) { return s == model_->reference[0]; })),
        controls_(static_cast<std::size_t>(num_chains)) {}

  Exchange<Real> exchange(Phase) const override { return {}; }
  void place(const std::vector<Real>& x) override {
    in_order_ = std::all_of(x.begin(), x.end(), [](Real v) { return v == 0; });
    controls_.assign(controls_.size(), {});
  }
  void start(Index, Index) override {}
  Index advance(Index first, Index last, unsigned actions, const Segment<Real>& segment) override {
    if (actions & action_propose)
      for (Index chain = first; chain < last; ++chain) advance(chain, segment);
    return 0;  // no chain waits for a target
  }
  void pool(const Segment<Real>&) override {}
  std::vector<ChainControl> controls() const override { return controls_; }
  void leave_controls(ChainControl* to) const override { std::copy(controls_.begin(), controls_.end(), to); }
  void begin_at(std::int64_t iteration) override {
    for (auto& c : controls_) c.iteration = iteration;
  }
  void reset_counts() override {
    for (ChainControl& c : controls_) c.gradients = c.counted = 0, c.acceptance_sum = c.lp_sum = 0;
  }
  std::vector<Real> positions() const override {
    std::vector<Real> x;
    for (Index chain = 0; chain < static_cast<Index>(controls_.size()); ++chain)
      for (const double v : {replicas_->energy(chain), magnetization(chain)}) x.push_back(static_cast<Real>(v));
    return x;
  }
  std::vector<char> save() const override {
    CheckpointWriter writer(what());
    writer.field("in_order", &in_order_, 1, 1, 1);
    writer.field("control", controls_.data(), 1, controls_.size(), controls_.size());
    const Buffer<char>& memory = replicas_->memory();
    writer.field("replica", memory.data(), 1, memory.size(), memory.size());
    return std::move(writer).bytes();
  }
  void load(const std::vector<char>& bytes) override {
    CheckpointReader reader(bytes, what());
    const char* in_order = reader.field("in_order", 1, 1, sizeof in_order_);
    const char* control = reader.field("control", 1, controls_.size(), sizeof(ChainControl));
    const char* replica = reader.field("replica", 1, replicas_->memory().bytes(), 1);
    reader.end();
    std::memcpy(&in_order_, in_order, sizeof in_order_);
    std::memcpy(controls_.data(), control, controls_.size() * sizeof(ChainControl));
    replicas_->memory().upload(replica);
  }

 private:
  std::string what() const { return model_->target + " of " + std::to_string(model_->n()) + " spins"; }
  /// Spin i of the model as it was given.
  std::int8_t given_spin(Index chain, Index i) const {
    return static_cast<std::int8_t>(-model_->reference[static_cast<std::size_t>(i)] * replicas_->spin(chain, i));
  }
  /// The mean spin.
  double magnetization(Index chain) const {
    const Index n = model_->n();
    if (one_reference_) return -model_->reference[0] * static_cast<double>(2 * replicas_->up(chain) - n) / n;
    Index sum = 0;
    for (Index i = 0; i < n; ++i) sum += given_spin(chain, i);
    return static_cast<double>(sum) / n;
  }
  void advance(Index chain, const Segment<Real>& segment) {
    ChainControl control = controls_[static_cast<std::size_t>(chain)];
    const std::uint32_t number = segment.first_chain + static_cast<std::uint32_t>(chain);
    if (control.status == ChainStatus::running && control.iteration == 0)
      replicas_->assign(chain, starting_spins(*model_, Rng{segment.seed, number, 0}, in_order_).data());
    while (control.status == ChainStatus::running && control.iteration < segment.until) {
      Info info;
      const double energy = replicas_->step(chain, Rng{segment.seed, number, control.iteration}, info);
      if (!math::finite(energy)) {
        control.status = ChainStatus::proposal;
        break;
      }
      info.lp = -model_->beta * energy;
      record(segment.recording, info, energy, control.iteration, chain);
      ++control.iteration, ++control.counted, ++control.gradients;
      control.acceptance_sum += info.acceptance_rate;
      control.lp_sum += info.lp;
    }
    controls_[static_cast<std::size_t>(chain)] = control;
  }
  void record(const Recording<Real>& r, const Info& info, double energy, std::int64_t iteration, Index chain) const {
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
    for (Index i = 0; i < n; ++i) r.spins[at * n + i] = given_spin(chain, i);
  }

  std::unique_ptr<Replicas> replicas_;
  std::shared_ptr<const SpinModel> model_;
  int num_stats_;
  bool one_reference_, in_order_ = false;  ///< one_reference_: all spins of the reference are the same
  std::vector<ChainControl> controls_;
};

}  // namespace kilochain::discrete
