// A test's model as a target that stops its run at a call: where a run may be stopped it must be resumed with its bits.
#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <atomic>

#include "host/run/run_state.hpp"
#include "kilochain/run.hpp"
#include "tests/support/file_draws.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain::testing_support {

/// Model: `dim()`, and `lp(x, gradient)` of Eigen vectors; `names()` where it has any. The target's name is `mine`.
template <class Model>
struct StoppedTarget {
  Model model;
  std::atomic<std::int64_t> calls{0}, at{-1};  ///< so far; that which stops the run
  std::atomic<bool> stop{false};
  OwnTarget mine{"mine", function()};

  FunctionDensity function() {
    FunctionDensity f;
    f.one = density, f.user_data = this, f.dim = static_cast<std::size_t>(model.dim());
    if constexpr (requires { model.names(); }) f.names = model.names();
    return f;
  }
  static int density(std::size_t n, const double* x, double* gradient, double* lp, void* self) {
    auto& me = *static_cast<StoppedTarget*>(self);
    if (++me.calls == me.at) me.stop = true;
    Eigen::VectorXd g;
    *lp = me.model.lp(Eigen::Map<const Eigen::VectorXd>(x, static_cast<Eigen::Index>(n)), g);
    std::copy(g.begin(), g.end(), gradient);
    return 0;
  }

  /// A run in learnt coordinates, stopped at each of these shares of its calls, is resumed with its bits.
  void expect_resumed(const Options& whole, std::initializer_list<double> parts) {
    const Result all = expect_same_bits(whole, parts);
    EXPECT_NE(all.evaluation.find("learnt coordinates"), std::string::npos) << all.evaluation;
  }
  /// The same of any run, which is returned.
  Result expect_same_bits(Options whole, std::initializer_list<double> parts) {
    const ScratchFiles files;
    whole.output = files.path("whole.nc");
    Result all = run_quietly(whole);
    const auto of_whole = static_cast<double>(calls);
    for (const double part : parts) {
      Options o = whole;
      o.output = files.path("part.nc");
      o.overwrite = true;
      calls = 0, at = static_cast<std::int64_t>(part * of_whole), stop = false;
      const Result first = run(o, nullptr, stop);
      at = -1, stop = false;
      EXPECT_TRUE(first.interrupted && first.resumable) << part;
      if (!first.resumable) continue;
      o.resume = read_run_state(o.output);
      EXPECT_FALSE(run(o, nullptr, stop).interrupted);
      EXPECT_TRUE(everything(o.output) == everything(whole.output)) << part;
    }
    return all;
  }
};

inline Options options_of_mine(std::int64_t num_chains) {
  Options o;
  o.target = "mine";
  o.num_chains = num_chains, o.seed = 4, o.threads = 1;
  o.device = "cpu";
  return o;
}

}  // namespace kilochain::testing_support
