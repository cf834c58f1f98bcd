// Softmax regression on the CPU for many chains, by two matrix products of a BLAS: logits T = X W of some chains for a
// chunk of observations, T -> residuals in place, G += X^T T. A BLAS sums in an order that may depend on shapes and on a
// column's place, so both are fixed: chain c is always in place c mod `width`, and chains that are not there are zeros.
// The middle step is O(K) exponentials an observation, a register of observations at a time.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/device/gemm.hpp"
#include "targets/logistic_batches.hpp"
#include "targets/softmax_regression.hpp"

namespace kilochain {
namespace {

constexpr Index chunk = 512;          ///< observations at a time: their logits stay in L2
constexpr Index wanted_columns = 80;  ///< of one product: enough to be worth packing X for
/// Entries of X times classes up to which a chain alone is quicker than the fixed cost of products.
constexpr double team_entries = 4000;

/// T: (classes, chunk) of one chain, logits -> residuals. Returns sum_i log p_{i, y_i}.
template <class Real>
double residuals(Real* t, const Real* y, Index rows, Index classes) {
  alignas(64) Real most[chunk], sum[chunk], own[chunk];
  for (Index i = 0; i < rows; ++i) most[i] = t[i], own[i] = y[i] == Real(0) ? t[i] : Real(0);
  for (Index k = 1; k < classes; ++k) {
    const Real* at = t + k * chunk;
    for (Index i = 0; i < rows; ++i) {
      most[i] = at[i] > most[i] ? at[i] : most[i];
      own[i] = y[i] == Real(k) ? at[i] : own[i];
    }
  }
  for (Index i = 0; i < rows; ++i) sum[i] = 0;
  for (Index k = 0; k < classes; ++k) {
    Real* at = t + k * chunk;
    for (Index i = 0; i < rows; ++i) sum[i] += at[i] = math::exp(at[i] - most[i]);
  }
  double likelihood = 0;
  for (Index i = 0; i < rows; ++i) likelihood += double(own[i] - most[i]) - double(math::log(sum[i]));
  for (Index i = 0; i < rows; ++i) sum[i] = Real(1) / sum[i];
  for (Index k = 0; k < classes; ++k) {
    Real* at = t + k * chunk;
    for (Index i = 0; i < rows; ++i) at[i] = (y[i] == Real(k) ? Real(1) : Real(0)) - at[i] * sum[i];
  }
  return likelihood;
}

template <class Real>
class SoftmaxGemm {
 public:
  using Data = typename SoftmaxRegression<Real>::Data;
  SoftmaxGemm(const Data& data, double prior_sd)
      : data_(data),
        width_(std::clamp<Index>(wanted_columns / data.classes, 1, 32)),
        prior_(prior_sd, data.n * data.classes) {}
  Index width() const { return width_; }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) const {
    for (const Needs needs : {Needs::gradient, Needs::value, Needs::hessian_vector})
      for (Index base = first / width_ * width_; base < last; base += width_) {
        std::vector<Index> chains;
        for (Index c = std::max(first, base); c < std::min(last, base + width_); ++c)
          if (exchange.needs[c] == needs) chains.push_back(c);
        if (!chains.empty()) run(exchange, needs, chains);
      }
  }

 private:
  void run(const Exchange<Real>& exchange, Needs needs, const std::vector<Index>& chains) const {
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
      if (hessian)
        gemm(Transpose::yes, Transpose::no, rows, columns, n, Real(1), x, row, v, row, Real(0), slope, chunk);
      for (std::size_t c = 0; c < chains.size(); ++c) {
        Real *mine = t + place(chains[c]) * chain_logits, *along = slope + place(chains[c]) * chain_logits;
        if (hessian)
          for (Index i = 0; i < rows; ++i) SoftmaxRegression<Real>::curvature(data_, mine + i, along + i, chunk);
        else
          likelihood[c] += residuals(mine, data_.y + start, rows, classes);
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

  Data data_;
  Index width_;
  logistic::Prior prior_;
};

template <class Real>
class SoftmaxCpu final : public Target<Real> {
 public:
  using Model = SoftmaxRegression<Real>;
  SoftmaxCpu(const Context& context, const SoftmaxSettings& settings) : arena_(context) {
    const Design design = read_softmax_design(settings);
    this->info_ = describe_softmax(design, sizeof(Real));
    const bool asked = settings.evaluator != SoftmaxEvaluator::choose;
    const bool team = asked ? settings.evaluator == SoftmaxEvaluator::team : this->info_.flops / 4 <= team_entries;
    data_ = Model::place(design, settings.prior_sd, arena_, team, !team);
    if (!team) many_ = std::make_unique<SoftmaxGemm<Real>>(data_, settings.prior_sd);
    evaluation_ =
        fmt::format("{} ({}): {} observations x {} features x {} classes, {:.1f} MB{}", team ? "team" : "gemm",
                    asked ? "as asked" : "auto", data_.num_rows, data_.n, data_.classes, 1e-6 * this->info_.bytes,
                    team ? "" : fmt::format(", read once for {} chains", many_->width()));
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if (many_) return many_->evaluate(exchange, first, last);
    Real* scratch = logistic::thread_scratch<Real>(Model::scratch(data_));
    for (Index chain = first; chain < last; ++chain)
      if (exchange.needs[chain] != Needs::nothing)
        Model::evaluate(HostTeam{}, data_, exchange.needs[chain], exchange.query(chain), exchange.reply(chain),
                        scratch);
  }
  /// Whole products: a thread's chains begin where a product does.
  Index tile(Index num_chains, int threads) const override {
    if (!many_) return 1;
    const Index share = (num_chains + threads - 1) / threads, width = many_->width();
    return std::clamp<Index>((share + width - 1) / width, 1, std::max<Index>(1, 64 / width)) * width;
  }
  std::string evaluation() const override { return evaluation_; }

 private:
  Arena<Real> arena_;
  std::string evaluation_;
  typename Model::Data data_{};
  std::unique_ptr<SoftmaxGemm<Real>> many_;  // null: one chain at a time
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> SoftmaxRegression<Real>::make_cpu(const Context& context, const Settings& settings) {
  return std::make_unique<SoftmaxCpu<Real>>(context, settings);
}
template std::unique_ptr<Target<float>> SoftmaxRegression<float>::make_cpu(const Context&, const SoftmaxSettings&);
template std::unique_ptr<Target<double>> SoftmaxRegression<double>::make_cpu(const Context&, const SoftmaxSettings&);

}  // namespace kilochain
