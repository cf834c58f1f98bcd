#include "targets/logistic_sparse.hpp"

#include <cmath>

#include "targets/logistic_kernels.hpp"

namespace kilochain {

using namespace logistic;

template <class Real, class Stored>
SparseLogistic<Real, Stored>::SparseLogistic(const Context& context, const Design& design, const Panels& panels,
                                             double unit, double prior_sd)
    : products_(context, design, panels, unit),
      sign_(context, (panels.begin.size() - 1) * panel_rows<Real>()),
      prior_(prior_sd, static_cast<Index>(design.columns)) {
  for (std::size_t i = 0; i < design.rows; ++i) sign_.data()[i] = Real(2 * design.y[panels.order[i]] - 1);
}

template <class Real, class Stored>
void SparseLogistic<Real, Stored>::evaluate(const Exchange<Real>& exchange, Index first, Index last) const {
  in_batches(exchange, first, last,
             [&](Needs needs, const Index* chains, Index count) { run(exchange, needs, chains, count); });
}

template <class Real, class Stored>
void SparseLogistic<Real, Stored>::run(const Exchange<Real>& exchange, Needs needs, const Index* chains,
                                       Index count) const {
  const bool hessian = needs == Needs::hessian_vector;
  std::vector<const Real*> point, direction;
  for (Index c = 0; c < count; ++c) {
    const Query<Real> query = exchange.query(chains[c]);
    point.push_back(query.point);
    if (hessian) direction.push_back(query.direction);
  }
  const Sets all{count};
  typename SparseProducts<Real, Stored>::Columns columns;
  for (Index set = 0; set <= all.sets; ++set) columns.sets.push_back(all.first(set));
  for (Index set = 0; set < all.sets; set += 2) columns.groups.push_back(set);
  columns.groups.push_back(all.sets);

  double linear[batch] = {}, logarithm[batch] = {};
  const auto sums = products_.run(point, direction, columns, needs != Needs::value, [&](const auto& part) {
    double product[group];
    for (Index c = 0; c < part.count; ++c) {
      Real* const t = part.t + part.ld * c;
      if (hessian) {
        curvatures(t, part.slope + part.ld * c, part.length);
      } else {
        const LogLikelihood l = residuals(t, sign_.data() + part.from, part.length);
        linear[part.first + c] += l.linear, product[c] = std::ldexp(l.product, -part.padding);
      }
    }
    if (!hessian) add_logs(product, logarithm + part.first, part.count);
  });
  for (Index c = 0; c < count; ++c)
    prior_.answer(needs, products_.n(), exchange.query(chains[c]), exchange.reply(chains[c]), linear[c] - logarithm[c],
                  [&](Index j) { return sums(c, j); });
}

template class SparseLogistic<float, float>;
template class SparseLogistic<double, double>;
template class SparseLogistic<float, std::uint8_t>;
template class SparseLogistic<double, std::uint8_t>;

}  // namespace kilochain
