// Chains of a spin sampler on either device, with all that they record of every iteration.
#pragma once
#include <gtest/gtest.h>

#include "host/registry/registry.hpp"
#include "targets/discrete/spin_model.hpp"
#include "tests/discrete/small_models.hpp"

namespace kilochain::discrete::testing_support {

/// What was recorded, (chain, iteration), and where chains stand.
struct SpinOutcome {
  std::vector<double> draws, lp;
  std::vector<float> acceptance_rate, stats;
  std::vector<std::int8_t> spins;
  std::vector<ChainControl> controls;
  std::vector<double> positions;
};

class SpinBench {
 public:
  SpinBench(const Context& context, const std::string& sampler, const SettingTexts& settings, const SpinModel& model,
            Index num_chains)
      : context_(context),
        target_(model),
        num_chains_(num_chains),
        num_stats_(static_cast<int>(find_sampler(sampler).stats.size())),
        chains_(make_chains<double>(context, sampler, settings, num_chains, target_.info(), Scope::chain)) {
    place(false);
  }
  void place(bool in_order) {
    chains_->place(std::vector<double>(2 * static_cast<std::size_t>(num_chains_), in_order ? 0 : 1));
    reached_ = 0;
  }
  /// Chains numbered from first_chain on.
  SpinOutcome run(std::int64_t iterations, std::uint32_t first_chain = 0) {
    const auto slots = static_cast<std::size_t>(num_chains_ * iterations),
               n = static_cast<std::size_t>(target_.info().spin_model->n());
    const Buffer<double> draws(context_, 2 * slots), lp(context_, slots);
    const Buffer<float> acceptance(context_, slots), stats(context_, slots * 3);
    const Buffer<std::uint8_t> diverging(context_, slots);
    const Buffer<std::int8_t> spins(context_, slots * n);
    Segment<double> s;
    s.seed = 17, s.first_chain = first_chain, s.until = reached_ + iterations;
    Recording<double>& r = s.recording;
    r.draws = draws.data(), r.lp = lp.data(), r.acceptance_rate = acceptance.data(), r.diverging = diverging.data(),
    r.stats = stats.data(), r.spins = spins.data();
    r.stat_stride = static_cast<std::int64_t>(slots);
    r.capacity = iterations, r.first_iteration = reached_, r.active = true;
    EXPECT_EQ(chains_->advance(0, num_chains_, action_propose, s), 0);
    reached_ = s.until;
    auto recorded = stats.host();
    recorded.resize(slots * static_cast<std::size_t>(num_stats_));
    return {draws.host(), lp.host(),           acceptance.host(),   recorded,
            spins.host(), chains_->controls(), chains_->positions()};
  }
  /// Without a record.
  void advance(std::int64_t iterations) {
    Segment<double> s;
    s.seed = 17, s.until = reached_ += iterations;
    EXPECT_EQ(chains_->advance(0, num_chains_, action_propose, s), 0);
    chains_->controls();
  }
  Chains<double>& chains() { return *chains_; }
  std::int64_t reached_ = 0;

 private:
  Context context_;
  SpinTarget<double> target_;
  Index num_chains_;
  int num_stats_;
  std::unique_ptr<Chains<double>> chains_;
};

struct SpinCase {
  std::string sampler, what;
  SettingTexts settings;
  SpinModel model;
  bool integers;  ///< energies are sums of integers: exact
};

/// Two layers, one of more units than a block of sums, one of fewer.
inline SpinModel wide_rbm(std::optional<std::int64_t> hamming) {
  const Index visible = 70, hidden = 33;
  std::vector<double> w, b, c;
  const Rng rng{3, 0, 0};
  std::uint32_t k = 0;
  const auto number = [&] { return uniform(rng, Purpose::start, k++) - 0.5; };
  for (Index i = 0; i < visible * hidden; ++i) w.push_back(number());
  for (Index i = 0; i < visible; ++i) b.push_back(number());
  for (Index i = 0; i < hidden; ++i) c.push_back(number());
  SpinModel m = Rbm::from(visible, hidden, w, b, c);
  SpinSettings s;
  s.hamming = hamming;
  finish(m, s);
  return m;
}

/// Every sampler on models that take it to each of its boards, of awkward sizes.
inline std::vector<SpinCase> spin_cases() {
  std::vector<SpinCase> cases;
  struct Model {
    std::string name;
    SpinModel model;
    bool integers;
  };
  std::vector<Model> models;
  for (const bool slice : {true, false}) {
    const auto up = [&](std::int64_t k) { return slice ? std::optional<std::int64_t>(k) : std::nullopt; };
    const std::string where = slice ? " slice" : " free";
    models.push_back({"5x7 torus" + where, torus("5x7", 0.4, up(16)), true});
    models.push_back({"3x3x3 torus" + where, torus("3x3x3", 0.2, up(13), -1, 0.1), false});
    models.push_back({"glass of 65" + where, glass(65, false, 0.5, up(33)), true});
    models.push_back({"glass of 33 reals" + where, glass(33, true, 0.5, up(11)), false});
    models.push_back({"RBM of 70 + 33" + where, wide_rbm(up(50)), false});
    models.push_back({"two spins" + where, torus("2", 0.4, up(1)), true});
  }
  models.push_back({"6x10 torus in words", torus("6x10", 0.4, {}), true});
  models.push_back({"20x60 torus in words, J < 0", torus("20x60", 0.4, {}, -1), true});
  models.push_back({"6x10 torus in words, all ties", torus("6x10", 0, {}), true});
  models.push_back({"ties but for rounding", rounded_ties(0.5), false});
  const auto add = [&](const std::string& sampler, const SettingTexts& settings, const Model& m) {
    std::string what = sampler;
    for (const auto& [name, text] : settings) what += " " + name + "=" + text;
    cases.push_back({sampler, what + " on " + m.name, settings, m.model, m.integers});
  };
  for (const Model& m : models) {
    const bool slice = m.model.hamming.has_value(), words = m.name.find("words") != std::string::npos;
    if (slice) {
      add("intracluster", {{"walk_max", "3"}, {"gamma_max", "0.9"}, {"choice", "lists"}}, m);
      if (m.name.find("5x7") == 0)
        add("intracluster", {{"walk_max", "3"}, {"gamma_max", "0.9"}, {"choice", "rows"}}, m);
      add("tempering", {{"of", "intracluster"}, {"walk_max", "2"}, {"gamma_max", "0.9"}, {"rungs", "3"}}, m);
    } else {
      add("metropolis", {{"sweeps", "2"}}, m);
      if (!words) add("gibbs", {}, m);
      if (m.model.beta > 0) add("tempering", {{"of", words ? "metropolis" : "gibbs"}, {"rungs", "2"}}, m);
    }
    if (words) continue;
    add("gibbs_with_gradients", {{"moves", "3"}}, m);
    add("dmala", {{"step_size", "1"}}, m);
  }
  return cases;
}

}  // namespace kilochain::discrete::testing_support
