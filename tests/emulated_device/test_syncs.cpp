// Every place where a kernel of densities synchronises is left out in turn (tests/emulated_device/mutants.hpp):
// samplers and their adaptation, targets and their tiles, summaries.
#include <cmath>
#include <random>

#include "tests/emulated_device/mutants.hpp"
#include "tests/emulated_device/promises.hpp"
#include "tests/gpu/bench.hpp"
#include "tests/gpu/logistic_table.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using EmulatedSyncs = EmulatedDevice;

/// Chains that adapt, then draw and record; the last of them is quarantined at its start.
struct ChainsTrial {
  std::string sampler;
  SettingTexts settings = {};
  Scope scope = Scope::chain;
  std::string target = "gaussian";
  SettingTexts of = {{"preset", "gp51_gaussian"}};  // more than a panel of the factor
  std::int64_t warmup = 3;
  Index chains = 4;
  bool together = false;   ///< products of all chains at once
  bool too_steep = false;  ///< the last chain's start has a density, and a gradient that no float holds (funnel)
  bool turns = false;      ///< steps that are exact for a normal law (kernels/samplers/ensemble_hmc.hpp)
  bool bends = false;      ///< of a normal law that observations bend: of a logistic regression

  std::string text() const {
    std::string out = sampler;
    for (const auto& [name, value] : settings) out += " " + name + "=" + value;
    out += scope == Scope::pooled ? ", pooled" : "";
    out += turns ? ", turning" : "";
    out += bends ? ", bent" : "";
    return out + (together ? ", together, on " : ", on ") + target;
  }
  void operator()(const Context& context) const {
    constexpr std::int64_t kept = 3, divergences = 2;
    auto made = target == "own_gradient" ? make_own_gradient(context) : make_target<float>(context, target, of);
    Bench<float> bench(context, sampler, std::move(made), chains, scope, settings);
    if (together) bench.sampler->multiply_together(true);
    const std::size_t slots = static_cast<std::size_t>(chains * kept),
                      all = static_cast<std::size_t>(chains * divergences), dim = static_cast<std::size_t>(bench.dim);
    const Buffer<float> draws(context, slots * dim), acceptance(context, slots),
        stats(context, slots * Info::max_stats), diverged_at(context, all * dim);
    const Buffer<double> lp(context, slots);
    const Buffer<std::uint8_t> diverging(context, slots);
    const Buffer<std::int64_t> diverged(context, all);
    Recording<float> r;
    r.draws = draws.data(), r.lp = lp.data(), r.acceptance_rate = acceptance.data(), r.diverging = diverging.data();
    r.stats = stats.data(), r.stat_stride = static_cast<std::int64_t>(slots);
    r.diverged = diverged.data(), r.diverged_at = diverged_at.data(), r.kept_divergences = divergences;
    r.capacity = kept, r.first_iteration = warmup, r.active = true;
    bench.num_warmup = warmup;
    std::vector<float> start(static_cast<std::size_t>(chains) * dim);
    for (std::size_t k = 0; k < start.size(); ++k) start[k] = 0.3f * std::sin(1.0f + 0.7f * static_cast<float>(k));
    float* const last = start.data() + start.size() - dim;
    last[0] = too_steep ? -60 : std::numeric_limits<float>::quiet_NaN();
    if (too_steep) last[1] = 1e20f;
    bench.rounds.start(start);
    if (turns) {
      Metric metric = {std::vector<double>(dim * dim), 0.5, 2, 0.25, 1, true, 1, std::vector<double>(dim)};
      for (std::size_t i = 0; i < dim; ++i) metric.factor[i * dim + i] = 1;
      if (bends) {
        metric.bent = Bending{{},
                              std::vector<double>(33, 0.1),
                              std::vector<double>(33, 1),
                              std::vector<double>(33, 0.2),
                              std::vector<double>(33, -0.1)};
        for (std::size_t k = 0; k < 33 * dim; ++k) metric.bent->lines.push_back(std::sin(1.0 + double(k)));
      }
      ASSERT_TRUE(bench.sampler->set_metric(metric));
    }
    bench.run(warmup, true);
    bench.run(kept, false, r);
    bench.outcome();
  }
};

/// A warp for each chain, and rounds.
Context apart(Context c) {
  c.shared_bytes = 0;
  return c;
}

std::vector<SyncTrial> trials_of(const Context& context, const std::vector<ChainsTrial>& runs) {
  std::vector<SyncTrial> trials;
  for (const ChainsTrial& r : runs) trials.push_back({r.text(), [=] { r(context); }});
  return trials;
}

TEST_F(EmulatedSyncs, OfSamplersAreFoundOut) {
  const testing_support::ScratchFiles files;
  const std::string table = write_logistic_table(files.path("bends.csv"), 3072, 35, false);
  std::vector<ChainsTrial> runs;
  for (const Scope scope : {Scope::chain, Scope::pooled}) {
    const auto add = [&](const std::string& sampler, const SettingTexts& settings,
                         std::int64_t warmup = 3) -> ChainsTrial& {
      ChainsTrial r{sampler, settings, scope};
      r.warmup = warmup;
      runs.push_back(r);
      return runs.back();
    };
    for (const std::string& name : sampler_names()) add(name, {});
    for (const char* rule : {"rmsprop", "relative", "adam", "natural"}) add("gad_mala_fast", {{"optimizer", rule}});
    add("gad_mala_fast", {{"factor", "diagonal"}});
    add("fisher_mala", {{"initial_iterations", "0"}});
    add("gad_mala_low_rank", {{"rank", "3"}});
    add("entropy_hmc", {{"factor", "diagonal"}, {"num_steps", "2"}});
    add("adaptive_metropolis", {{"variant", "paper"}});
    add("adaptive_metropolis", {{"factor", "diagonal"}});
    for (const char* factor : {"dense", "diagonal"}) {
      add("adaptive_metropolis_haario", {{"initial_period", "2"}, {"factor", factor}});
      add("adaptive_proposal", {{"history", "3"}, {"refresh", "2"}, {"factor", factor}});
      add("gaussian_adaptation", {{"factor", factor}});
      add("cma", {{"normalised", "false"}, {"factor", factor}});
    }
    // A target without density nearly everywhere.
    for (const char* sampler : {"gad_rwm", "gad_mala_fast", "gad_mala_exact"})
      for (const char* rule : {"natural", "rmsprop"}) {
        ChainsTrial& r = add(sampler, {{"optimizer", rule}, {"initial_scale", "1e4"}});
        r.target = "funnel", r.of = {{"dim", "33"}}, r.too_steep = true;
      }
    add("gad_mala_low_rank", {{"initial_scale", "1e4"}});
    runs.back().target = "funnel", runs.back().of = {{"dim", "33"}}, runs.back().too_steep = true;
    // Windows of the mass that end; steps that diverge.
    for (const char* mass : {"unit", "diagonal", "dense"}) {
      add("hmc", {{"mass", mass}, {"num_steps", "2"}}, 20);
      add("nuts", {{"mass", mass}, {"max_tree_depth", "3"}}, 20);
      add("mams", {{"mass", mass}}, 20);
      for (std::size_t back : {1, 2, 3}) {
        ChainsTrial& r = runs[runs.size() - back];
        r.target = "gaussian_mixture", r.of = {{"dim", "33"}, {"means", "0.5"}};
      }
    }
    add("hmc", {{"step_rule", "fixed"}, {"step_size", "30"}, {"num_steps", "2"}});
    add("hmc", {{"step_rule", "multiplicative"}, {"num_steps", "2"}});
    add("nuts", {{"step_size", "1e9"}}, 0);
    add("rwm", {{"long_axis", "first"}});
    add("rwm", {{"long_axis", "diagonal"}});
    for (const char* mass : {"dense", "diagonal"}) {
      add("ensemble_hmc", {{"mass", mass}}).turns = true;
      ChainsTrial& bent = add("ensemble_hmc", {{"mass", mass}});
      bent.turns = bent.bends = true, bent.warmup = 0;
      bent.target = "logistic_regression", bent.of = {{"data", table}, {"evaluator", "team"}};
    }
  }
  for (const char* sampler : {"gad_mala_fast", "gad_mala_exact", "gad_rwm", "adaptive_metropolis", "adaptive_proposal",
                              "adaptive_metropolis_haario", "gaussian_adaptation", "cma"}) {
    ChainsTrial r{sampler, {}, Scope::pooled};
    r.together = true;
    runs.push_back(r);
  }
  ChainsTrial entropy{"entropy_hmc", {{"num_steps", "2"}}, Scope::pooled};
  entropy.together = true;
  runs.push_back(entropy);
  for (const char* sampler : {"hmc", "nuts"}) {
    ChainsTrial r{sampler, {{"mass", "dense"}}, Scope::pooled};
    r.settings.emplace(sampler[0] == 'h' ? "num_steps" : "max_tree_depth", "2");
    r.together = true;
    runs.push_back(r);
  }
  ChainsTrial many{"gad_mala_exact", {}, Scope::pooled};  // more chains than a batch of the pooled sum
  many.chains = 37;
  runs.push_back(many);

  std::vector<SyncTrial> trials = trials_of(apart(device()), runs);
  for (const char* sampler : {"rwm", "gad_mala_fast", "hmc"}) {  // whole iterations in one kernel: of blocks, of warps
    for (const SyncTrial& t : trials_of(device(), {{sampler}})) trials.push_back(t);
    ChainsTrial alone{sampler};
    alone.target = "funnel", alone.of = {{"dim", "33"}};
    for (const SyncTrial& t : trials_of(device(), {alone})) trials.push_back(t);
  }
  for (const FactorShape shape : {FactorShape::dense, FactorShape::diagonal})
    trials.push_back({"promises", [shape] {
                        for (const double seen : keep_promises(device(), shape)) ASSERT_TRUE(std::isfinite(seen));
                      }});
  SyncMutants({"kernels", "host/chains"}, {"host/chains/cuda_blocks.cuh"}).expect_found_out(trials, {});
}

TEST_F(EmulatedSyncs, OfTargetsAreFoundOut) {
  const testing_support::ScratchFiles files;
  std::string table = "a,b,c,y\n", counts = "a,site,y\n", rows = "";
  std::mt19937_64 bits(8);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 1100; ++i) {
    for (int j = 0; j < 9; ++j) rows += std::to_string(static_cast<float>(normal(bits))) + ",";
    rows += std::to_string(bits() % 2) + "\n";
    if (i >= 70) continue;
    table += std::to_string(0.1 * i) + "," + std::to_string(std::sin(i)) + ",1," + std::to_string(i % 2) + "\n";
    counts += std::to_string(std::cos(i)) + ",s" + std::to_string(i % 3) + "," + std::to_string(i % 4) + "\n";
  }
  const std::string small = files.write("small.csv", table),
                    large = files.write("large.csv", "a,b,c,d,e,f,g,h,i,y\n" + rows);
  const auto regression = [](const std::string& data, const char* evaluator) {
    return SettingTexts{{"data", data}, {"standardise", "false"}, {"bias", "false"}, {"evaluator", evaluator}};
  };
  std::vector<ChainsTrial> warps, tiles;
  // Hessian products, gradients and values.
  for (const char* sampler : {"gad_mala_exact", "rwm"}) {
    const auto add = [&](std::vector<ChainsTrial>& to, const std::string& target, const SettingTexts& of,
                         Index chains = 4) {
      ChainsTrial r{sampler, {}, Scope::chain, target, of};
      r.chains = chains;
      to.push_back(r);
    };
    add(warps, "gaussian", {{"preset", "gp51_gaussian"}});
    add(warps, "gaussian", {{"preset", "neal_gaussian"}});
    add(warps, "gaussian_mixture", {{"dim", "33"}, {"means", "0.5,-0.5"}});
    add(warps, "funnel", {{"dim", "33"}});
    add(warps, "twisted_gaussian", {{"dim", "33"}, {"rotated", "true"}});
    add(warps, "twisted_gaussian", {{"dim", "33"}});
    add(warps, "logistic_regression", regression(small, "team"));
    add(warps, "softmax_regression", regression(small, "team"));
    add(tiles, "logistic_regression", regression(large, "auto"), 130);
    for (const char* preset : {"gp51_gaussian", "neal_gaussian"}) add(tiles, "gaussian", {{"preset", preset}}, 9);
  }
  for (ChainsTrial& r : tiles)
    if (r.sampler == "gad_mala_exact") r.sampler = "gad_mala_fast";        // tiles make no Hessian products
  ChainsTrial groups{"mala", {}, Scope::chain, "poisson_regression", {}};  // no Hessian products either
  groups.of = {{"data", files.write("counts.csv", counts)}, {"groups", "site"}};
  warps.push_back(groups);
  for (const char* target : {"own_gradient", "eight_schools"}) {  // models as users write them
    ChainsTrial r{"mala", {}, Scope::chain, target, {}};
    if (target[0] == 'e') r.of = {{"data", KILOCHAIN_SOURCE_DIR "/data/eight_schools.json"}};
    warps.push_back(r);
  }
  std::vector<SyncTrial> trials = trials_of(apart(device()), warps);
  for (const bool fuse : {false, true}) {
    Context c = device();
    c.shared_bytes = 80 << 10;  // so that the stages of X come one after another
    c.fuse = fuse;
    for (const SyncTrial& t : trials_of(c, tiles)) trials.push_back(t);
  }
  trials.push_back({"a list of those that ask", [] {
                      const std::vector<Index> list = select_thirds(device());
                      ASSERT_EQ(list[0], 50);
                      for (Index k = 0; k < 50; ++k) ASSERT_EQ(list[static_cast<std::size_t>(k) + 1], 3 * k);
                    }});
  SyncMutants({"targets", "model", "host/chains/cuda_blocks.cuh"}, {"targets/discrete"}).expect_found_out(trials, {});
}

}  // namespace
}  // namespace kilochain
