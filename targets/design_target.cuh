// A regression whose log density is sum_i f_i(x_i w_1, ..., x_i w_K) - |W|^2/(2 s^2) + c, of all chains on CUDA as
// matrix products (design_products.cuh): T = X W (observation x chain and class), T -> residuals, G = X^T T; a Hessian
// product takes X V as well. A block of threads for each chain does the rest; log densities are sums in double in a
// fixed order.
// Terms, of one observation, whose K logits stand `column` apart:
//   value(d, t, i, column, write)         log density; write(k, residual) for each class
//   curvature(d, t, a, i, column, write)  write(k, derivative of the residual along the slopes a)
//   classes(d)                            K
// Of samplers that ask often, products are made of the chains that ask, in panels (targets/asking.cuh).
// Promise: the same bits for the same number of chains, whoever asks (another shape may be summed in another order).
// Cost: 4 N n K operations a gradient; T is written and read twice. Chains go in batches, so that T stays within 1 GiB.
#pragma once
#include <algorithm>

#include "targets/asking.cuh"
#include "targets/design_products.cuh"
#include "targets/target.hpp"

namespace kilochain::cuda {

inline constexpr int design_block = 256;

/// One block a chain of `of`: logits -> residuals and lp; for a Hessian product, logits and slopes -> the residuals'
/// derivatives.
template <class Terms, class Data, class Real, class Residuals>
__global__ void __launch_bounds__(design_block, 1)
    design_residuals(const __grid_constant__ Data d, const __grid_constant__ Exchange<Real> exchange,
                     const __grid_constant__ Columns of, Real* logits, const Real* slopes,
                     const __grid_constant__ Residuals residuals) {
  const BlockTeam<design_block> team;
  const Index chain = of.chain(here::block()), classes = Terms::classes(d);
  const std::size_t column = static_cast<std::size_t>(d.num_padded),
                    begin = column * static_cast<std::size_t>(classes) * blockIdx.x;
  Real* const t = logits + begin;
  const auto write_at = [&](Index i) {
    return [&residuals, at = begin + static_cast<std::size_t>(i), column](Index k, Real v) {
      residuals(at + column * static_cast<std::size_t>(k), v);
    };
  };
  const Needs needs = chain < 0 ? Needs::nothing : exchange.needs[chain];
  if (chain < 0)
    team.for_each(d.num_rows, [&](Index i) {
      for (Index k = 0; k < classes; ++k) write_at(i)(k, Real(0));
    });
  if (needs == Needs::nothing) return;
  if (needs == Needs::hessian_vector) {
    team.for_each(d.num_rows, [&](Index i) { Terms::curvature(d, t, slopes + begin, i, column, write_at(i)); });
    return;
  }
  const double likelihood =
      team.template sum<double>(d.num_rows, [&](Index i) { return Terms::value(d, t, i, column, write_at(i)); });
  const Query<Real> query = exchange.query(chain);
  const double square = team.template sum<double>(
      d.n * classes, [&](Index j) { return double(query.point[j]) * double(query.point[j]); });
  team.single([&] { exchange.lp[chain] = likelihood - 0.5 * d.inverse_variance * square + d.log_constant; });
}

/// Adds the prior to the products, (chain and class, row), and hands each chain what it asked for, and nothing else.
template <class Terms, class Data, class Real>
__global__ void __launch_bounds__(design_block, 1)
    design_answers(const __grid_constant__ Data d, const __grid_constant__ Exchange<Real> exchange,
                   const __grid_constant__ Columns of, const Real* products) {
  const Index chain = of.chain(here::block()), classes = Terms::classes(d);
  const Needs needs = chain < 0 ? Needs::nothing : exchange.needs[chain];
  if (needs != Needs::gradient && needs != Needs::hessian_vector) return;
  const Query<Real> query = exchange.query(chain);
  const Reply<Real> reply = exchange.reply(chain);
  const bool hessian = needs == Needs::hessian_vector;
  const Real* at = hessian ? query.direction : query.point;
  Real* out = hessian ? reply.hessian_vector : reply.gradient;
  const Real* sum = products + std::size_t(here::block()) * static_cast<std::size_t>(classes * d.row);
  for (Index k = 0; k < classes; ++k, at += d.n, out += d.n, sum += d.row)
    BlockTeam<design_block>().for_each(d.n, [&](Index j) { out[j] = sum[j] - Real(d.inverse_variance) * at[j]; });
}

template <class Model, class Terms, class Real>
class DesignTarget final : public Target<Real> {
  using Data = typename Model::Data;
  static constexpr std::size_t batch_bytes = std::size_t(1) << 30;

 public:
  /// The log density's info is the model's; scratch is added here.
  DesignTarget(const Context& context, const Design& design, TargetInfo info, double prior_sd, Matmul matmul)
      : context_(context),
        arena_(context),
        data_(Model::place(design, prior_sd, arena_, false, matmul != Matmul::bf16x3)),
        x_(context, design, {data_.x_rows, data_.row, data_.num_padded}, matmul),
        asking_(context),
        matmul_(matmul) {
    this->info_ = std::move(info);
    const std::size_t classes = static_cast<std::size_t>(Terms::classes(data_)),
                      row = static_cast<std::size_t>(data_.row),
                      logits = classes * static_cast<std::size_t>(data_.num_padded) * sizeof(Real),
                      rows = classes * row * sizeof(Real);
    most_ = static_cast<Index>(std::clamp<std::size_t>(batch_bytes / logits, 1, 65536));
    const std::size_t each = 2 * logits + rows + classes * x_.bytes_of_column(), x = x_.bytes_of_x();
    this->info_.scratch_bytes = [x, each, most = most_, rows = data_.num_rows](Index chains) {
      const Index width = panel_width(rows, chains, most), panels = (chains + width - 1) / width,
                  columns = std::min(most / width, panels) * width;  // logits, slopes, products, points
      return x + static_cast<std::size_t>(std::max(std::min(chains, most), columns)) * each +
             AskingChains::bytes(chains);
    };
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if (of_asking(exchange)) {
      const Index width = panel_width(data_.num_rows, last - first, most_), at_once = most_ / width;
      const Panels all = asking_.select(exchange, first, last, width);
      for (Index p = 0; p < all.count; p += at_once)
        answer(exchange, asking_.columns(p * width), {std::min(at_once, all.count - p), width});
      return;
    }
    for (Index from = first; from < last; from += most_)
      answer(exchange, {from, nullptr, nullptr}, {1, std::min(last - from, most_)});
  }
  std::string evaluation() const override {
    return std::string("matrix products over all chains (cuBLAS, ") +
           (matmul_ == Matmul::bf16x3 ? "bf16x3" : "float32") + "), at most " + std::to_string(most_) +
           " chains at a time" + asking_.text();
  }

 private:
  static bool of_asking(const Exchange<Real>& exchange) {
    return exchange.asks == Asks::often && exchange.most <= Needs::gradient;
  }
  void answer(const Exchange<Real>& exchange, const Columns& of, const Panels& chains) {
    const Panels panels{chains.count, chains.width * Terms::classes(data_)};
    const dim3 blocks(static_cast<unsigned>(chains.columns()));
    logits(exchange, exchange.point, of, blocks, panels, logits_);
    if (exchange.most == Needs::hessian_vector) logits(exchange, exchange.direction, of, blocks, panels, slopes_);
    x_.residuals(panels, logits_.data(), [&](auto residuals) {
      launch(context_, design_residuals<Terms, Data, Real, decltype(residuals)>, blocks, design_block, data_, exchange,
             of, logits_.data(), static_cast<const Real*>(slopes_.data()), residuals);
    });
    if (exchange.most == Needs::value) return;
    reserve(products_, entries(panels, data_.row));
    x_.transposed(panels, logits_.data(), products_.data());
    launch(context_, design_answers<Terms, Data, Real>, blocks, design_block, data_, exchange, of,
           static_cast<const Real*>(products_.data()));
  }
  /// out: X times the points in `rows`, which products may overwrite where they were gathered.
  void logits(const Exchange<Real>& exchange, const Real* rows, const Columns& of, dim3 blocks, const Panels& panels,
              Buffer<Real>& out) {
    const Index classes = Terms::classes(data_);
    reserve(out, entries(panels, data_.num_padded));
    if (of.chains || classes > 1) {
      reserve(products_, entries(panels, data_.row));
      launch(context_, gather_points<Real>, blocks, max_block, of, rows, exchange.row, data_.n, classes, data_.row,
             products_.data());
      rows = products_.data();
    } else {
      rows += static_cast<std::size_t>(of.first) * exchange.row;
    }
    x_.logits(rows, panels, out.data());
  }
  static std::size_t entries(const Panels& panels, Index rows) {
    return static_cast<std::size_t>(panels.columns()) * static_cast<std::size_t>(rows);
  }
  void reserve(Buffer<Real>& buffer, std::size_t size) {
    if (buffer.size() < size) buffer = Buffer<Real>(context_, size);
  }

  Context context_;
  Arena<Real> arena_;
  Data data_;
  DesignProducts<Real> x_;
  AskingChains asking_;
  Matmul matmul_;
  Index most_ = 1;
  Buffer<Real> logits_, slopes_, products_;
};

}  // namespace kilochain::cuda
