// Logistic regression of all chains on CUDA as two matrix products (cuBLAS), for data that no cache near a core holds:
//   T = X W (observation x chain), T -> residuals in place, G = X^T T; a Hessian product takes X V as well.
// A block of threads for each chain does the rest; log densities are sums in double in a fixed order.
// Of samplers that ask often, products are made of the chains that ask, in panels (targets/asking.cuh).
// Promise: the same bits for the same number of chains (cuBLAS may sum in another order for another shape), whoever asks.
// Cost: 4 N n operations a gradient; T is written and read twice. Chains go in batches, so that T stays within 1 GiB.
#include <algorithm>
#include <cmath>

#include "targets/design_products.cuh"
#include "targets/tiles.cuh"

namespace kilochain {
namespace {

constexpr int block = 256;
constexpr std::size_t batch_bytes = std::size_t(1) << 30;

/// One block a column: logits -> residuals and lp; for a Hessian product, logits and slopes -> -p (1 - p) slope.
template <class Real, class Residuals>
__global__ void __launch_bounds__(block, 1)
    logistic_residuals(const __grid_constant__ typename LogisticRegression<Real>::Data d,
                       const __grid_constant__ Exchange<Real> exchange, const __grid_constant__ cuda::Columns of,
                       const Real* logits, const Real* slopes, const __grid_constant__ Residuals residuals) {
  const BlockTeam<block> team;
  const Index chain = of.chain(static_cast<Index>(blockIdx.x));
  const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(d.num_padded);
  const Needs needs = chain < 0 ? Needs::nothing : exchange.needs[chain];
  if (chain < 0) team.for_each(d.num_rows, [&](Index i) { residuals(begin + static_cast<std::size_t>(i), Real(0)); });
  if (needs == Needs::nothing) return;
  const Real* t = logits + begin;
  if (needs == Needs::hessian_vector) {
    team.for_each(d.num_rows, [&](Index i) {
      residuals(begin + static_cast<std::size_t>(i),
                -logistic_term(t[i], d.sign[i]).weight * slopes[begin + static_cast<std::size_t>(i)]);
    });
    return;
  }
  const double likelihood = team.template sum<double>(d.num_rows, [&](Index i) {
    const LogisticTerm<Real> term = logistic_term(t[i], d.sign[i]);
    residuals(begin + static_cast<std::size_t>(i), term.residual);
    return double(term.linear) - double(math::log(term.factor));
  });
  const Query<Real> query = exchange.query(chain);
  const double square =
      team.template sum<double>(d.n, [&](Index j) { return double(query.point[j]) * double(query.point[j]); });
  team.single([&] { exchange.lp[chain] = likelihood - 0.5 * d.inverse_variance * square + d.log_constant; });
}

/// Adds the prior to the products and hands each chain what it asked for, and nothing else.
template <class Real>
__global__ void __launch_bounds__(block, 1)
    logistic_answers(const __grid_constant__ typename LogisticRegression<Real>::Data d,
                     const __grid_constant__ Exchange<Real> exchange, const __grid_constant__ cuda::Columns of,
                     const Real* products) {
  const Index chain = of.chain(static_cast<Index>(blockIdx.x));
  const Needs needs = chain < 0 ? Needs::nothing : exchange.needs[chain];
  if (needs != Needs::gradient && needs != Needs::hessian_vector) return;
  const Query<Real> query = exchange.query(chain);
  const Reply<Real> reply = exchange.reply(chain);
  const bool hessian = needs == Needs::hessian_vector;
  const Real* at = hessian ? query.direction : query.point;
  Real* out = hessian ? reply.hessian_vector : reply.gradient;
  const Real* sum = products + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(d.row);
  BlockTeam<block>().for_each(d.n, [&](Index j) { out[j] = sum[j] - Real(d.inverse_variance) * at[j]; });
}

template <class Real>
class LogisticCuda final : public Target<Real> {
 public:
  using Model = LogisticRegression<Real>;
  LogisticCuda(const Context& context, const Design& design, double prior_sd, Matmul matmul)
      : context_(context),
        arena_(context),
        data_(Model::place(design, prior_sd, arena_, false, matmul != Matmul::bf16x3)),
        x_(context, design, data_, matmul),
        asking_(context),
        matmul_(matmul) {
    this->info_ = describe_logistic(design, sizeof(Real));
    const std::size_t column = static_cast<std::size_t>(data_.num_padded) * sizeof(Real);
    most_ = static_cast<Index>(std::clamp<std::size_t>(batch_bytes / column, 1, 65536));
    const std::size_t products = static_cast<std::size_t>(data_.row) * sizeof(Real);
    const bool of_bytes = matmul == Matmul::bf16x3 && byte_unit(design) > 0;
    const std::size_t parts = cuda::DesignProducts<Real>::bytes_of_chain(matmul, data_, of_bytes),
                      x = cuda::DesignProducts<Real>::bytes_of_x(
                          matmul, design.rows * static_cast<std::size_t>(data_.row), of_bytes);
    this->info_.scratch_bytes = [column, products, parts, x, most = most_, rows = data_.num_rows](Index chains) {
      const Index width = cuda::panel_width(rows, chains, most), panels = (chains + width - 1) / width,
                  columns = std::min(most / width, panels) * width;  // logits, slopes, products
      return x + static_cast<std::size_t>(std::max(std::min(chains, most), columns)) * (2 * column + products + parts) +
             cuda::AskingChains::bytes(chains);
    };
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if (exchange.asks == Asks::often && exchange.most <= Needs::gradient) return evaluate_asking(exchange, first, last);
    for (Index from = first; from < last; from += most_) {
      const cuda::Panels all{1, std::min(last - from, most_)};
      const std::size_t begin = static_cast<std::size_t>(from) * exchange.row;
      answer(exchange, {from, nullptr, nullptr}, all, exchange.point + begin, exchange.direction + begin);
    }
  }
  std::string evaluation() const override {
    return std::string("matrix products over all chains (cuBLAS, ") + matmul_names[static_cast<int>(matmul_)] +
           "), at most " + std::to_string(most_) + " chains at a time" + asking_.text();
  }

 private:
  void evaluate_asking(const Exchange<Real>& exchange, Index first, Index last) {
    const Index width = cuda::panel_width(data_.num_rows, last - first, most_), at_once = most_ / width;
    const cuda::Panels all = asking_.select(exchange, first, last, width);
    for (Index p = 0; p < all.count; p += at_once) {
      const cuda::Panels panels{std::min(at_once, all.count - p), width};
      const cuda::Columns of = asking_.columns(p * width);
      reserve(products_, entries(panels, data_.row));
      cuda::launch(context_, cuda::gather_points<Real>, dim3(static_cast<unsigned>(panels.columns())), cuda::max_block,
                   of, static_cast<const Real*>(exchange.point), data_.row, products_.data());
      answer(exchange, of, panels, products_.data(), nullptr);
    }
  }
  /// points, directions: of the columns; points may lie where products go.
  void answer(const Exchange<Real>& exchange, const cuda::Columns& of, const cuda::Panels& panels, const Real* points,
              const Real* directions) {
    reserve(logits_, entries(panels, data_.num_padded));
    x_.logits(points, panels, logits_.data());
    if (exchange.most == Needs::hessian_vector) {
      reserve(slopes_, entries(panels, data_.num_padded));
      x_.logits(directions, panels, slopes_.data());
    }
    const dim3 blocks(static_cast<unsigned>(panels.columns()));
    x_.residuals(panels, logits_.data(), [&](auto residuals) {
      cuda::launch(context_, logistic_residuals<Real, decltype(residuals)>, blocks, block, data_, exchange, of,
                   static_cast<const Real*>(logits_.data()), static_cast<const Real*>(slopes_.data()), residuals);
    });
    if (exchange.most == Needs::value) return;
    reserve(products_, entries(panels, data_.row));
    x_.transposed(panels, logits_.data(), products_.data());
    cuda::launch(context_, logistic_answers<Real>, blocks, block, data_, exchange, of,
                 static_cast<const Real*>(products_.data()));
  }
  static std::size_t entries(const cuda::Panels& panels, Index rows) {
    return static_cast<std::size_t>(panels.columns()) * static_cast<std::size_t>(rows);
  }
  void reserve(Buffer<Real>& buffer, std::size_t size) {
    if (buffer.size() < size) buffer = Buffer<Real>(context_, size);
  }

  Context context_;
  Arena<Real> arena_;
  typename Model::Data data_;
  cuda::DesignProducts<Real> x_;
  cuda::AskingChains asking_;
  Matmul matmul_;
  Index most_ = 1;
  Buffer<Real> logits_, slopes_, products_;
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
  require(!tensor || (!team && !tiles && std::is_same_v<Real, float>), ExitStatus::usage,
          std::string("logistic_regression: matmul = ") + matmul_names[static_cast<int>(settings.matmul)],
          team    ? "evaluator = team makes no matrix products"
          : tiles ? "evaluator = tiles makes no matrix products"
                  : "the run is in double",
          team || tiles ? "Try evaluator = gemm?" : "Try --real float?");
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
  return std::make_unique<LogisticCuda<Real>>(context, design, settings.prior_sd, settings.matmul);
}
template std::unique_ptr<Target<float>> LogisticRegression<float>::make_cuda(const Context&, const LogisticSettings&);
template std::unique_ptr<Target<double>> LogisticRegression<double>::make_cuda(const Context&, const LogisticSettings&);

}  // namespace kilochain
