#include "targets/softmax_gemm.hpp"

#include <algorithm>

#include "kernels/device/gemm.hpp"
#include "targets/softmax_kernels.hpp"

namespace kilochain {
namespace {

constexpr Index chunk = softmax::most_rows;  ///< observations at a time: their logits stay in L2
constexpr Index wanted_columns = 80;         ///< of one product: enough to be worth packing X for

}  // namespace

template <class Real>
GemmSoftmax<Real>::GemmSoftmax(const Data& data, double prior_sd)
    : data_(data),
      width_(std::clamp<Index>(wanted_columns / data.classes, 1, 32)),
      prior_(prior_sd, data.n * data.classes) {}

template <class Real>
void GemmSoftmax<Real>::evaluate(const Exchange<Real>& exchange, Index first, Index last) const {
  for (const Needs needs : {Needs::gradient, Needs::value, Needs::hessian_vector})
    for (Index base = first / width_ * width_; base < last; base += width_) {
      std::vector<Index> chains;
      for (Index c = std::max(first, base); c < std::min(last, base + width_); ++c)
        if (exchange.needs[c] == needs) chains.push_back(c);
      if (!chains.empty()) run(exchange, needs, chains);
    }
}

template <class Real>
void GemmSoftmax<Real>::run(const Exchange<Real>& exchange, Needs needs, const std::vector<Index>& chains) const {
  const bool hessian = needs == Needs::hessian_vector;
  const Index n = data_.n, row = data_.row, classes = data_.classes, columns = width_ * classes;
  const std::size_t weights = static_cast<std::size_t>(row) * static_cast<std::size_t>(columns),
                    logits = static_cast<std::size_t>(chunk) * static_cast<std::size_t>(columns),
                    chain_weights = static_cast<std::size_t>(row) * static_cast<std::size_t>(classes),
                    chain_logits = static_cast<std::size_t>(chunk) * static_cast<std::size_t>(classes);
  Real* w = logistic::thread_scratch<Real>(3 * weights + 2 * logits);
  Real *v = w + weights, *g = v + weights, *t = g + weights, *slope = t + logits;
  std::fill_n(w, 3 * weights, Real(0));  // chains that are not there
  const auto place = [&](Index chain) { return static_cast<std::size_t>(chain % width_); };
  const auto lay = [&](const Real* from, Real* to) {
    for (Index k = 0; k < classes; ++k) std::copy_n(from + k * n, n, to + k * row);
  };
  for (const Index chain : chains) {
    lay(exchange.query(chain).point, w + place(chain) * chain_weights);
    if (hessian) lay(exchange.query(chain).direction, v + place(chain) * chain_weights);
  }
  std::vector<double> likelihood(chains.size());
  for (Index start = 0; start < data_.num_rows; start += chunk) {
    const Index rows = std::min(chunk, data_.num_rows - start);
    const Real* x = data_.x_rows + static_cast<std::size_t>(row) * static_cast<std::size_t>(start);
    gemm(Transpose::yes, Transpose::no, rows, columns, n, Real(1), x, row, w, row, Real(0), t, chunk);
    if (hessian) gemm(Transpose::yes, Transpose::no, rows, columns, n, Real(1), x, row, v, row, Real(0), slope, chunk);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      Real *mine = t + place(chains[c]) * chain_logits, *along = slope + place(chains[c]) * chain_logits;
      if (hessian)
        softmax::curvatures(mine, along, chunk, rows, classes);
      else
        likelihood[c] += softmax::residuals(mine, chunk, data_.y + start, rows, classes);
    }
    if (needs != Needs::value)
      gemm(Transpose::no, Transpose::no, n, columns, rows, Real(1), x, row, t, chunk, Real(1), g, row);
  }
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const Real* sums = g + place(chains[c]) * chain_weights;
    prior_.answer(needs, n * classes, exchange.query(chains[c]), exchange.reply(chains[c]), likelihood[c],
                  [&](Index j) { return sums[j / n * row + j % n]; });
  }
}

template class GemmSoftmax<float>;
template class GemmSoftmax<double>;

}  // namespace kilochain
