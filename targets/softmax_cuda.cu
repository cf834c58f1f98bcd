// Softmax regression of all chains on CUDA as two matrix products (cuBLAS): T = X W, (observation, chain and class), T ->
// residuals in place, G = X^T T; a Hessian product takes X V as well. W is all chains' weights side by side.
// A block of threads for each chain does the rest; log densities are sums in double in a fixed order.
// Promise: the same bits for the same number of chains (cuBLAS may sum in another order for another shape).
// Cost: 4 N n K operations a gradient; T is written and read twice. Chains go in batches, so that T stays within 1 GiB.
#include <algorithm>

#include "kernels/device/gemm_cublas.cuh"
#include "targets/softmax_regression.hpp"

namespace kilochain {
namespace {

constexpr int block = 256;
/// Entries of X times classes up to which a warp for each chain reads them again from the L1 cache.
constexpr double team_entries = 40e3;
constexpr std::size_t batch_bytes = std::size_t(1) << 30;

/// One block a chain: logits -> residuals and lp; for a Hessian product, logits and slopes -> -p (a - sum p a).
template <class Real>
__global__ void __launch_bounds__(block, 1)
    softmax_residuals(const __grid_constant__ typename SoftmaxRegression<Real>::Data d,
                      const __grid_constant__ Exchange<Real> exchange, Index first, Real* logits, const Real* slopes) {
  const BlockTeam<block> team;
  const Index chain = first + static_cast<Index>(blockIdx.x);
  const Needs needs = exchange.needs[chain];
  if (needs == Needs::nothing) return;
  const std::size_t column = static_cast<std::size_t>(d.num_padded),
                    mine = column * static_cast<std::size_t>(d.classes) * static_cast<std::size_t>(blockIdx.x);
  Real* t = logits + mine;
  if (needs == Needs::hessian_vector) {
    team.for_each(d.num_rows,
                  [&](Index i) { SoftmaxRegression<Real>::curvature(d, t + i, slopes + mine + i, column); });
    return;
  }
  const double likelihood = team.template sum<double>(
      d.num_rows, [&](Index i) { return SoftmaxRegression<Real>::residual(d, t, i, column); });
  const Query<Real> query = exchange.query(chain);
  const double square = team.template sum<double>(
      d.n * d.classes, [&](Index j) { return double(query.point[j]) * double(query.point[j]); });
  team.single([&] { exchange.lp[chain] = likelihood - 0.5 * d.inverse_variance * square + d.log_constant; });
}

/// Adds the prior to the products and hands each chain what it asked for, and nothing else.
template <class Real>
__global__ void __launch_bounds__(block, 1)
    softmax_answers(const __grid_constant__ typename SoftmaxRegression<Real>::Data d,
                    const __grid_constant__ Exchange<Real> exchange, Index first, const Real* products) {
  const Index chain = first + static_cast<Index>(blockIdx.x), size = d.n * d.classes;
  const Needs needs = exchange.needs[chain];
  if (needs != Needs::gradient && needs != Needs::hessian_vector) return;
  const Query<Real> query = exchange.query(chain);
  const Reply<Real> reply = exchange.reply(chain);
  const bool hessian = needs == Needs::hessian_vector;
  const Real* at = hessian ? query.direction : query.point;
  Real* out = hessian ? reply.hessian_vector : reply.gradient;
  const Real* sum = products + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(size);
  BlockTeam<block>().for_each(size, [&](Index j) { out[j] = sum[j] - Real(d.inverse_variance) * at[j]; });
}

/// The chains' rows without their padding: the columns of one matrix W, (n, chain and class).
template <class Real>
__global__ void __launch_bounds__(block, 1)
    softmax_weights(Index size, std::size_t row, const Real* rows, Real* weights) {
  const std::size_t chain = blockIdx.x;
  BlockTeam<block>().for_each(
      size, [&](Index j) { weights[chain * static_cast<std::size_t>(size) + j] = rows[chain * row + j]; });
}

template <class Real>
class SoftmaxCuda final : public Target<Real> {
 public:
  using Model = SoftmaxRegression<Real>;
  SoftmaxCuda(const Context& context, const Design& design, double prior_sd)
      : context_(context), arena_(context), data_(Model::place(design, prior_sd, arena_, false, true)) {
    this->info_ = describe_softmax(design, sizeof(Real));
    const std::size_t chain = Model::scratch(data_) / 2 * sizeof(Real);
    most_ = static_cast<Index>(std::clamp<std::size_t>(batch_bytes / chain, 1, 65536));
    const std::size_t weights = static_cast<std::size_t>(data_.n * data_.classes) * sizeof(Real);
    this->info_.scratch_bytes = [chain, weights, most = most_](Index chains) {  // logits, slopes, weights
      return static_cast<std::size_t>(std::min(chains, most)) * (2 * chain + weights);
    };
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    for (Index from = first; from < last; from += most_) batch(exchange, from, std::min(last, from + most_));
  }
  std::string evaluation() const override {
    return "matrix products over all chains (cuBLAS), at most " + std::to_string(most_) + " chains at a time";
  }

 private:
  void batch(const Exchange<Real>& exchange, Index first, Index last) {
    const std::size_t chains = static_cast<std::size_t>(last - first), begin = static_cast<std::size_t>(first),
                      entries = chains * Model::scratch(data_) / 2;
    const Index size = data_.n * data_.classes, columns = (last - first) * data_.classes;
    const bool hessian = exchange.most == Needs::hessian_vector;
    const dim3 blocks(static_cast<unsigned>(chains));
    reserve(weights_, chains * static_cast<std::size_t>(size));
    const auto logits = [&](const Real* rows, Buffer<Real>& out) {
      reserve(out, entries);
      cuda::launch(context_, softmax_weights<Real>, blocks, block, size, exchange.row, rows, weights_.data());
      cuda::product(context_, CUBLAS_OP_T, data_.num_rows, columns, data_.n, data_.x_rows, data_.row,
                    static_cast<const Real*>(weights_.data()), data_.n, out.data(), data_.num_padded);
    };
    logits(exchange.point + begin * exchange.row, logits_);
    if (hessian) logits(exchange.direction + begin * exchange.row, slopes_);
    cuda::launch(context_, softmax_residuals<Real>, blocks, block, data_, exchange, first, logits_.data(),
                 static_cast<const Real*>(slopes_.data()));
    if (exchange.most == Needs::value) return;
    cuda::product(context_, CUBLAS_OP_N, data_.n, columns, data_.num_rows, data_.x_rows, data_.row,
                  static_cast<const Real*>(logits_.data()), data_.num_padded, weights_.data(), data_.n);
    cuda::launch(context_, softmax_answers<Real>, blocks, block, data_, exchange, first,
                 static_cast<const Real*>(weights_.data()));
  }
  void reserve(Buffer<Real>& buffer, std::size_t size) {
    if (buffer.size() < size) buffer = Buffer<Real>(context_, size);
  }

  Context context_;
  Arena<Real> arena_;
  typename Model::Data data_;
  Index most_ = 1;
  Buffer<Real> weights_, logits_, slopes_;  ///< weights_: W, and then the products X^T T in its place
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> SoftmaxRegression<Real>::make_cuda(const Context& context, const Settings& settings) {
  if (settings.evaluator == SoftmaxEvaluator::team) return nullptr;
  const Design design = read_softmax_design(settings);
  const double entries = static_cast<double>(design.rows) * static_cast<double>(design.columns * design.classes.size());
  if (settings.evaluator == SoftmaxEvaluator::choose && entries <= team_entries) return nullptr;
  return std::make_unique<SoftmaxCuda<Real>>(context, design, settings.prior_sd);
}
template std::unique_ptr<Target<float>> SoftmaxRegression<float>::make_cuda(const Context&, const SoftmaxSettings&);
template std::unique_ptr<Target<double>> SoftmaxRegression<double>::make_cuda(const Context&, const SoftmaxSettings&);

}  // namespace kilochain
