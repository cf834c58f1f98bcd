#include "targets/softmax_products.hpp"

#include <algorithm>

#include "targets/softmax_kernels.hpp"

namespace kilochain {
namespace {

constexpr Index batch_columns = 640;  ///< whose weights and sums are kept at once: a few MB, in L3
constexpr Index group_columns = 10;   ///< whose logits stay in L1, unless one chain has more

}  // namespace

template <class Real, class Stored>
SoftmaxProducts<Real, Stored>::SoftmaxProducts(const Context& context, const Design& design, const Panels& panels,
                                               double unit, double prior_sd)
    : products_(context, design, panels, unit),
      y_(context, design.rows),
      classes_(static_cast<Index>(design.classes.size())),
      prior_(prior_sd, products_.n() * classes_) {
  for (std::size_t i = 0; i < design.rows; ++i) y_.data()[i] = Real(design.y[panels.order[i]]);
}

template <class Real, class Stored>
void SoftmaxProducts<Real, Stored>::evaluate(const Exchange<Real>& exchange, Index first, Index last) const {
  logistic::in_batches(
      exchange, first, last,
      [&](Needs needs, const Index* chains, Index count) { run(exchange, needs, chains, count); },
      std::clamp<Index>(batch_columns / classes_, 1, logistic::batch));
}

template <class Real, class Stored>
void SoftmaxProducts<Real, Stored>::run(const Exchange<Real>& exchange, Needs needs, const Index* chains,
                                        Index count) const {
  const bool hessian = needs == Needs::hessian_vector;
  const Index n = products_.n(), together = std::max<Index>(1, group_columns / classes_);
  std::vector<const Real*> point, direction;
  for (Index c = 0; c < count; ++c) {
    const Query<Real> query = exchange.query(chains[c]);
    for (Index k = 0; k < classes_; ++k) {
      point.push_back(query.point + n * k);
      if (hessian) direction.push_back(query.direction + n * k);
    }
  }
  typename SparseProducts<Real, Stored>::Columns columns;
  for (Index c = 0; c < count; c += together) {
    columns.groups.push_back(std::ssize(columns.sets));
    const logistic::Sets sets{std::min(together, count - c) * classes_};
    for (Index set = 0; set < sets.sets; ++set) columns.sets.push_back(c * classes_ + sets.first(set));
  }
  columns.groups.push_back(std::ssize(columns.sets));
  columns.sets.push_back(count * classes_);

  std::vector<double> likelihood(static_cast<std::size_t>(count));
  const auto sums = products_.run(point, direction, columns, needs != Needs::value, [&](const auto& part) {
    const Index rows = part.length - part.padding;
    for (Index c = 0; c < part.count; c += classes_) {
      Real *const t = part.t + part.ld * c, *const slope = part.slope + part.ld * c;
      if (hessian)
        softmax::curvatures(t, slope, part.ld, rows, classes_);
      else
        likelihood[static_cast<std::size_t>((part.first + c) / classes_)] +=
            softmax::residuals(t, part.ld, y_.data() + part.from, rows, classes_);
      for (Index k = 0; k < classes_; ++k) std::fill_n(t + part.ld * k + rows, part.padding, Real(0));
    }
  });
  for (Index c = 0; c < count; ++c)
    prior_.answer(needs, n * classes_, exchange.query(chains[c]), exchange.reply(chains[c]),
                  likelihood[static_cast<std::size_t>(c)], [&](Index j) { return sums(c * classes_ + j / n, j % n); });
}

template class SoftmaxProducts<float, float>;
template class SoftmaxProducts<double, double>;
template class SoftmaxProducts<float, std::uint8_t>;
template class SoftmaxProducts<double, std::uint8_t>;

}  // namespace kilochain
