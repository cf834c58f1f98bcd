// A sampler's chains on the CPU: the kernel bodies in loops. Threads bring their own ranges of chains; only pool uses
// many.
#pragma once
#include "host/chains/chain_memory.hpp"
#include "kernels/linalg/triangular.hpp"

namespace kilochain {

template <class Sampler, class Real>
class CpuChains final : public Chains<Real> {
  static constexpr int P = HostTeam::panel<Real>;

 public:
  CpuChains(const Context& context, Index num_chains, Index dim, Scope scope,
            const typename Sampler::Settings& settings)
      : context_(context), memory_(context, num_chains, dim, scope, settings) {
    const auto& c = memory_.view();
    for (Index k = 0; k < memory_.copies(); ++k) {
      auto a = c.template adaptation<P>(k);
      Sampler::start_adaptation(team_, c.settings, a, dim);
    }
    if constexpr (Sampler::about.adaptive)
      if (c.scope == Scope::pooled) {
        matrix_.resize(factor_size<P>(dim, shape()));
        vector_.resize(padded(static_cast<std::size_t>(vector_length<Sampler>(settings, dim))));
      }
  }

  static ChainBytes bytes(Index num_chains, Index dim, Scope scope, const typename Sampler::Settings& settings) {
    ChainBytes b = chain_bytes<Sampler, Real, P>(num_chains, dim, scope, settings);
    if constexpr (Sampler::about.adaptive)
      if (scope == Scope::pooled)
        b.pooled_sums =
            (factor_size<P>(dim, Sampler::signal_shape(settings)) + padded(vector_length<Sampler>(settings, dim))) *
            sizeof(Real);
    return b;
  }
  Exchange<Real> exchange(Phase phase) const override { return memory_.exchange(phase); }
  void place(const std::vector<Real>& x) override { memory_.place(x); }
  void start(Index first, Index last) override {
    for (Index chain = first; chain < last; ++chain) start_chain(team_, memory_.view(), chain);
  }
  Index advance(Index first, Index last, unsigned actions, const Segment<Real>& segment) override {
    Index waiting = 0;
    for (Index chain = first; chain < last; ++chain)
      waiting += advance_chain(team_, memory_.view(), segment, actions, chain);
    return waiting;
  }

  void pool(const Segment<Real>& segment) override {
    if constexpr (Sampler::about.adaptive) {
      const auto& c = memory_.view();
      std::vector<Signal<Real>> signals;
      double accepted = 0;
      Schedule at = segment.schedule;
      for (Index chain = 0; chain < c.num_chains; ++chain) {
        if (c.control[chain].status != ChainStatus::running) continue;
        signals.push_back(Sampler::signal(c.settings, c.template state<P>(chain), c.exchange.adaptation_signal[chain]));
        accepted += c.exchange.adaptation_signal[chain];
        at = schedule_at(segment, c.control[chain].iteration - 1);
      }
      if (signals.empty()) return;
      bool read = true;
      if constexpr (requires { Sampler::reads_matrix(c.settings, at); }) read = Sampler::reads_matrix(c.settings, at);
      if (read) mean_matrix(signals, c.dim);
      if constexpr (Sampler::about.signals_vector) mean_vector(signals, vector_length<Sampler>(c.settings, c.dim));
      auto a = c.template adaptation<P>(0);
      Sampler::adapt(
          team_, c.settings, at,
          PooledSource<Real>{matrix_.data(), vector_.data(), accepted / double(signals.size()), double(signals.size())},
          a, c.dim);
    }
  }
  std::vector<ChainControl> controls() const override { return memory_.controls(); }
  void leave_controls(ChainControl* to) const override {
    std::copy_n(memory_.view().control, memory_.view().num_chains, to);
  }
  void reset_counts() override { memory_.reset_counts(); }
  void begin_at(std::int64_t iteration) override { memory_.begin_at(iteration); }
  std::vector<Real> positions() const override { return memory_.positions(); }
  std::vector<Real> gradients() const override { return memory_.gradients(); }
  Learnt learnt(Index chain) const override { return memory_.learnt(chain); }
  bool set_metric(const Metric& metric) override { return memory_.set_metric(metric); }
  double averaged_step() const override { return memory_.averaged_step(); }
  void relocate(Index from, Index to) override { memory_.relocate(from, to); }
  std::vector<char> save() const override { return memory_.save(); }
  void load(const std::vector<char>& bytes) override { memory_.load(bytes); }
  const ChainsView<Sampler, Real>& view() const { return memory_.view(); }

 private:
  FactorShape shape() const { return Sampler::signal_shape(memory_.view().settings); }

  // Chains are added in their order whatever the number of threads: threads split the columns of the matrix.
  void mean_matrix(const std::vector<Signal<Real>>& signals, Index n) {
    const Real scale = Real(1) / static_cast<Real>(signals.size());
    if (shape() == FactorShape::diagonal) {
      std::fill(matrix_.begin(), matrix_.end(), Real(0));
      for (const auto& s : signals)
        for (int k = 0; k < s.rank; ++k)
          for (Index i = 0; i < n; ++i) matrix_[static_cast<std::size_t>(i)] += s.a[k][i] * s.b[k][i];
      for (auto& v : matrix_) v *= scale;
    } else {
      using Vec = Pack<Real>;
      const Index panels = (n + P - 1) / P;
#pragma omp parallel for schedule(dynamic) num_threads(context_.threads) if (n > 128)
      for (Index back = 0; back < panels; ++back) {
        const Index p = panels - 1 - back, columns = panel_columns<P>(p, n);
        Real* out = matrix_.data() + panel_offset<P>(p);
        constexpr Index block = 8;  // columns that stay in registers over all chains
        Index j = 0;
        for (; j + block <= columns; j += block) {
          typename Vec::Type sum[block];
          KC_UNROLL
          for (Index q = 0; q < block; ++q) sum[q] = Vec::all(Real(0));
          for (const auto& s : signals)
            for (int k = 0; k < s.rank; ++k) {
              const auto rows = Vec::load(s.a[k].data + p * P);
              const Real* b = s.b[k].data + j;
              KC_UNROLL
              for (Index q = 0; q < block; ++q) sum[q] = sum[q] + rows * b[q];
            }
          for (Index q = 0; q < block; ++q) Vec::store(out + (j + q) * P, sum[q] * scale);
        }
        for (; j < columns; ++j) {
          typename Vec::Type sum = {};
          for (const auto& s : signals)
            for (int k = 0; k < s.rank; ++k) sum = sum + Vec::load(s.a[k].data + p * P) * s.b[k][j];
          Vec::store(out + j * P, sum * scale);
        }
      }
    }
  }
  /// `length` numbers, in blocks that stay in registers over all chains.
  void mean_vector(const std::vector<Signal<Real>>& signals, Index length) {
    constexpr Index block = 32;  // rows have room for as many
    const Real number = static_cast<Real>(signals.size());
#pragma omp parallel for num_threads(context_.threads) if (length > 1024)
    for (Index first = 0; first < length; first += block) {
      Real sum[block] = {};
      for (const auto& s : signals)
        for (Index k = 0; k < block; ++k) sum[k] += s.vector.data[first + k];
      for (Index k = 0; k < block; ++k) vector_[static_cast<std::size_t>(first + k)] = sum[k] / number;
    }
  }

  Context context_;
  HostTeam team_;
  ChainMemory<Sampler, Real, P> memory_;
  std::vector<Real> matrix_, vector_;
};

}  // namespace kilochain
