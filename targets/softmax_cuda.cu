// Softmax regression of all chains on CUDA as matrix products (design_target.cuh): K columns of W for each chain.
#include "targets/design_target.cuh"
#include "targets/softmax_regression.hpp"

namespace kilochain {
namespace {

/// Logits become residuals in place, and go from there where they are wanted.
template <class Real>
struct SoftmaxTerms {
  using Model = SoftmaxRegression<Real>;
  using Data = typename Model::Data;
  static KC_INLINE Index classes(const Data& d) { return d.classes; }
  template <class Write>
  static KC_INLINE double value(const Data& d, Real* t, Index i, std::size_t column, Write&& write) {
    const double lp = Model::residual(d, t, i, column);
    for (Index k = 0; k < d.classes; ++k) write(k, t[column * static_cast<std::size_t>(k) + i]);
    return lp;
  }
  template <class Write>
  static KC_INLINE void curvature(const Data& d, Real* t, const Real* a, Index i, std::size_t column, Write&& write) {
    Model::curvature(d, t + i, a + i, column);
    for (Index k = 0; k < d.classes; ++k) write(k, t[column * static_cast<std::size_t>(k) + i]);
  }
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> SoftmaxRegression<Real>::make_cuda(const Context& context, const Settings& settings) {
  check_matmul<Real>("softmax_regression", settings.matmul, context);
  if (settings.evaluator == SoftmaxEvaluator::team) return nullptr;
  const Design& design = read_softmax_design(settings);
  // Data that are read once for each class, by every chain: within what a multiprocessor's own memory holds.
  const std::size_t read = design.rows * design.columns * design.classes.size() * sizeof(Real);
  if (settings.matmul == Matmul::automatic && read <= context.shared_bytes) return nullptr;
  return std::make_unique<cuda::DesignTarget<SoftmaxRegression<Real>, SoftmaxTerms<Real>, Real>>(
      context, design, describe_softmax(design, settings, sizeof(Real)), settings.prior_sd,
      cuda::matmul_for<Real>(settings.matmul, design, context));
}
template std::unique_ptr<Target<float>> SoftmaxRegression<float>::make_cuda(const Context&, const SoftmaxSettings&);
template std::unique_ptr<Target<double>> SoftmaxRegression<double>::make_cuda(const Context&, const SoftmaxSettings&);

}  // namespace kilochain
