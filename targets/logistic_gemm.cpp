#include "targets/logistic_gemm.hpp"

#include <cmath>

#include "kernels/device/gemm.hpp"
#include "targets/logistic_kernels.hpp"

namespace kilochain {

template <class Real>
void GemmLogistic<Real>::evaluate(const Exchange<Real>& exchange, Index first, Index last) const {
  for (const Needs needs : {Needs::gradient, Needs::value, Needs::hessian_vector})
    for (Index base = first / width * width; base < last; base += width) {
      Index chains[width], count = 0;
      for (Index c = std::max(first, base); c < std::min(last, base + width); ++c)
        if (exchange.needs[c] == needs) chains[count++] = c;
      if (count > 0) run(exchange, needs, chains, count);
    }
}

template <class Real>
void GemmLogistic<Real>::run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const {
  constexpr Index lanes = Pack<Real>::size, chunk = logistic::max_packs * lanes;
  const bool hessian = needs == Needs::hessian_vector;
  const Index n = data_.n, row = data_.row;
  const std::size_t size = static_cast<std::size_t>(row) * width;
  thread_local std::vector<Real> scratch;
  scratch.resize(std::max(scratch.size(), 3 * size + 2 * chunk * width));
  Real *w = scratch.data(), *v = w + size, *g = v + size, *t = g + size, *slope = t + chunk * width;
  std::fill_n(w, 2 * size, Real(0));  // chains that are not there
  std::fill_n(t, 2 * chunk * width, Real(0));
  const auto place = [&](Index k) { return static_cast<std::size_t>(chains[k] % width); };
  for (Index k = 0; k < count; ++k) {
    const Query<Real> query = exchange.query(chains[k]);
    std::copy_n(query.point.data, n, w + row * place(k));
    if (hessian) std::copy_n(query.direction.data, n, v + row * place(k));
  }
  double likelihood[width] = {};
  for (Index start = 0; start < data_.num_rows; start += chunk) {
    const Index rows = std::min(chunk, data_.num_rows - start), padded_rows = (rows + lanes - 1) / lanes * lanes;
    const Real* x = data_.x_rows + static_cast<std::size_t>(row) * start;
    gemm(Transpose::yes, Transpose::no, rows, width, n, Real(1), x, row, w, row, Real(0), t, chunk);
    if (hessian) gemm(Transpose::yes, Transpose::no, rows, width, n, Real(1), x, row, v, row, Real(0), slope, chunk);
    for (Index k = 0; k < count; ++k) {
      Real *logit = t + chunk * place(k), *along = slope + chunk * place(k);
      std::fill(logit + rows, logit + padded_rows, Real(0));
      if (hessian) {
        std::fill(along + rows, along + padded_rows, Real(0));
        logistic::curvatures(logit, along, padded_rows);
      } else {
        const logistic::LogLikelihood l = logistic::residuals(logit, data_.sign + start, padded_rows);
        likelihood[k] += l.linear - math::log(std::ldexp(l.product, rows - padded_rows));
      }
    }
    if (needs != Needs::value)
      gemm(Transpose::no, Transpose::no, n, width, rows, Real(1), x, row, t, chunk, Real(start > 0), g, row);
  }
  for (Index k = 0; k < count; ++k) {
    const Real *prior = (hessian ? v : w) + row * place(k), *sum = g + row * place(k);
    const Reply<Real> reply = exchange.reply(chains[k]);
    Real* out = hessian ? reply.hessian_vector : reply.gradient;
    if (needs != Needs::value)
      for (Index j = 0; j < n; ++j) out[j] = sum[j] - Real(data_.inverse_variance) * prior[j];
    if (hessian) continue;
    const double square = HostTeam{}.sum<double>(n, [&](Index j) { return double(prior[j]) * double(prior[j]); });
    *reply.lp = likelihood[k] - 0.5 * data_.inverse_variance * square + data_.log_constant;
  }
}

template class GemmLogistic<float>;
template class GemmLogistic<double>;

}  // namespace kilochain
