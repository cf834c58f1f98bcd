// Logistic regression of all chains on CUDA as matrix products (design_target.cuh), for data that no block's shared
// memory holds, or where products are asked for; and what is refused. A float's terms come from the device's own units,
// as those of blocks: with the polynomials of all machines the kernel between the products waits for arithmetic, not
// for memory.
#include "targets/design_target.cuh"
#include "targets/logistic_block.cuh"

namespace kilochain {
namespace {

template <class Real>
struct LogisticTerms {
  using Data = typename LogisticRegression<Real>::Data;
  static KC_INLINE Index classes(const Data&) { return 1; }
  template <class Write>
  static __device__ __forceinline__ double value(const Data& d, const Real* t, Index i, std::size_t, Write&& write) {
    Real residual, linear, factor;
    cuda::device_term(t[i], d.sign[i], residual, linear, factor);
    write(0, residual);
    return double(linear) - double(cuda::device_log(factor));
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
  const auto asked = settings.evaluator;
  require(asked == Evaluator::automatic || asked == Evaluator::team, ExitStatus::usage,
          std::string("logistic_regression: evaluator = ") + logistic_evaluator_names.value[static_cast<int>(asked)],
          "it is the CPU's, and the device is CUDA", "Try evaluator = auto?");
  check_matmul<Real>("logistic_regression", settings.matmul, context);
  if (asked == Evaluator::team) return nullptr;
  const Design& design = read_logistic_design(settings);
  Data shape{};
  shape.n = static_cast<Index>(design.columns), shape.num_rows = static_cast<Index>(design.rows);
  BlockModel<LogisticRegression<Real>, Real> block;
  if (settings.matmul == Matmul::automatic && fit_block(shape, block.K, context, block)) return nullptr;
  return std::make_unique<cuda::DesignTarget<LogisticRegression<Real>, LogisticTerms<Real>, Real>>(
      context, design, describe_logistic(design, settings, sizeof(Real)), settings.prior_sd,
      cuda::matmul_for<Real>(settings.matmul, design, context));
}
template std::unique_ptr<Target<float>> LogisticRegression<float>::make_cuda(const Context&, const LogisticSettings&);
template std::unique_ptr<Target<double>> LogisticRegression<double>::make_cuda(const Context&, const LogisticSettings&);

}  // namespace kilochain
