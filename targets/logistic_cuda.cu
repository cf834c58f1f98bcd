// Logistic regression of all chains on CUDA as matrix products (design_target.cuh), for data that no cache near a core holds
// and no block's shared memory; which way is taken, and what is refused. A float's terms come from the device's own units, as
// those of tiles: with the polynomials of all machines the kernel between the products waits for arithmetic, not for memory.
#include <cmath>

#include "targets/design_target.cuh"
#include "targets/logistic_regression.hpp"
#include "targets/tiles.cuh"

namespace kilochain {
namespace {

template <class Real>
struct LogisticTerms {
  using Data = typename LogisticRegression<Real>::Data;
  static KC_INLINE Index classes(const Data&) { return 1; }
  template <class Write>
  static __device__ __forceinline__ double value(const Data& d, const Real* t, Index i, std::size_t, Write&& write) {
    Real residual, linear, factor;
    cuda::tile_term(t[i], d.sign[i], residual, linear, factor);
    write(0, residual);
    return double(linear) - double(cuda::tile_log(factor));
  }
  template <class Write>
  static KC_INLINE void curvature(const Data& d, const Real* t, const Real* a, Index i, std::size_t, Write&& write) {
    write(0, -logistic_term(t[i], d.sign[i]).weight * a[i]);
  }
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> LogisticRegression<Real>::make_cuda(const Context& context, const Settings& settings) {
  using Evaluator = LogisticEvaluator;
  const bool sparse = settings.evaluator == Evaluator::sparse;
  require(!sparse && settings.evaluator != Evaluator::blocked, ExitStatus::usage,
          sparse ? "logistic_regression: evaluator = sparse" : "logistic_regression: evaluator = blocked",
          "it is the CPU's, and the device is CUDA", "Try evaluator = auto?");
  const bool tensor = settings.matmul != Matmul::float32, team = settings.evaluator == Evaluator::team,
             tiles = settings.evaluator == Evaluator::tiles;
  check_matmul_of_cuda<Real>("logistic_regression", settings.matmul, team ? "team" : tiles ? "tiles" : "", context);
  if (team) return nullptr;
  const Design design = read_logistic_design(settings);
  if (settings.evaluator != Evaluator::gemm && !tensor) {
    Data shape{};
    shape.n = static_cast<Index>(design.columns), shape.num_rows = static_cast<Index>(design.rows);
    const EngineCosts all = costs_of_ways<LogisticTile<Real>, Real>(shape, context, true);
    require(!tiles || std::isfinite(all.of(Engine::tiles)), ExitStatus::usage, "logistic_regression: evaluator = tiles",
            std::to_string(design.rows) + " x " + std::to_string(design.columns) +
                " numbers do not fit into the shared memory of a block, " + std::to_string(context.shared_bytes >> 10) +
                " KiB",
            "Try evaluator = auto?");
    if (tiles || all.best() != Engine::products) return nullptr;
  }
  return std::make_unique<cuda::DesignTarget<LogisticRegression<Real>, LogisticTerms<Real>, Real>>(
      context, design, describe_logistic(design, sizeof(Real)), settings.prior_sd, settings.matmul);
}
template std::unique_ptr<Target<float>> LogisticRegression<float>::make_cuda(const Context&, const LogisticSettings&);
template std::unique_ptr<Target<double>> LogisticRegression<double>::make_cuda(const Context&, const LogisticSettings&);

}  // namespace kilochain
