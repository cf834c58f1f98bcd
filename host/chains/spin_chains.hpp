// Replicas of a spin model as chains: what the phases of a run step, record, save and quarantine as any others, on either
// device. A draw is (energy, magnetization), the mean spin; lp is -beta E; the spins themselves go beside it where they
// are kept.
#pragma once
#include "host/chains/checkpoint.hpp"
#include "host/chains/replicas.hpp"
#include "targets/discrete/spin_model.hpp"

namespace kilochain::discrete {

template <class Real>
class SpinChains final : public Chains<Real> {
 public:
  SpinChains(const Context& context, std::unique_ptr<Replicas> replicas, Index num_chains,
             std::shared_ptr<const SpinModel> model, int num_stats)
      : place_(context),
        replicas_(std::move(replicas)),
        model_(std::move(model)),
        controls_(context, static_cast<std::size_t>(num_chains), "queries and answers"),
        reference_(context, model_->reference.size()) {
    const auto& r = model_->reference;
    reference_.upload(r.data());
    view_.control = controls_.data();
    view_.reference = reference_.data();
    view_.beta = model_->beta;
    view_.n = model_->n();
    view_.up = model_->hamming.value_or(-1);
    view_.num_stats = num_stats;
    view_.one_reference = std::all_of(r.begin(), r.end(), [&](std::int8_t s) { return s == r[0]; });
  }

  Exchange<Real> exchange(Phase) const override { return {}; }
  void place(const std::vector<Real>& x) override {
    view_.in_order = std::all_of(x.begin(), x.end(), [](Real v) { return v == 0; });
    put(std::vector<ChainControl>(controls_.size()));
  }
  void start(Index, Index) override {}
  Index advance(Index first, Index last, unsigned actions, const Segment<Real>& segment) override {
    if (actions & action_propose) replicas_->advance(view_, spin_segment(segment), first, last);
    return 0;  // nobody waits for a target
  }
  void pool(const Segment<Real>&) override {}
  std::vector<ChainControl> controls() const override { return controls_.host(); }
  void leave_controls(ChainControl* to) const override {
    begin_copy_to_host(place_, to, controls_.data(), controls_.bytes());  // or to where the device's windows are
  }
  void reset_counts() override {
    auto controls = controls_.host();
    for (ChainControl& c : controls) c.gradients = c.counted = 0, c.acceptance_sum = c.lp_sum = 0;
    put(controls);
  }
  std::vector<Real> positions() const override {
    const Buffer<double> told(place_, 2 * controls_.size());
    replicas_->tell(view_, told.data());
    const auto x = told.host();
    return {x.begin(), x.end()};
  }
  std::vector<char> save() const override {
    CheckpointWriter writer(what());
    writer.field("in_order", &view_.in_order, 1, 1, 1);
    const auto controls = controls_.host();
    writer.field("control", controls.data(), 1, controls.size(), controls.size());
    const auto memory = replicas_->memory().host();
    writer.field("replica", memory.data(), 1, memory.size(), memory.size());
    return std::move(writer).bytes();
  }
  void load(const std::vector<char>& bytes) override {
    CheckpointReader reader(bytes, what());
    const char* in_order = reader.field("in_order", 1, 1, sizeof view_.in_order);
    const char* control = reader.field("control", 1, controls_.size(), sizeof(ChainControl));
    const char* replica = reader.field("replica", 1, replicas_->memory().bytes(), 1);
    reader.end();
    std::memcpy(&view_.in_order, in_order, sizeof view_.in_order);
    std::vector<ChainControl> controls(controls_.size());
    std::memcpy(controls.data(), control, controls_.bytes());
    put(controls);
    replicas_->memory().upload(replica);
  }

 private:
  void put(const std::vector<ChainControl>& controls) { controls_.upload(controls.data()); }
  std::string what() const { return model_->target + " of " + std::to_string(model_->n()) + " spins"; }

  Place place_;
  std::unique_ptr<Replicas> replicas_;
  std::shared_ptr<const SpinModel> model_;
  Buffer<ChainControl> controls_;
  Buffer<std::int8_t> reference_;
  SpinsView view_{};
};

}  // namespace kilochain::discrete
