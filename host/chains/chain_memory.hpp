// The memory of one sampler's chains on any backend, bound from the sampler's tables, and what the host copies of it.
#pragma once
#include <cstring>

#include "host/chains/advance.hpp"
#include "kernels/linalg/triangular.hpp"

namespace kilochain {

/// Bytes of state and adaptation (P: rows of a panel), and of the queries and answers.
struct ChainBytes {
  std::size_t state, adaptation, exchange;
};

template <class Sampler, class Real, int P>
ChainBytes chain_bytes(Index num_chains, Index dim, Scope scope, const typename Sampler::Settings& settings) {
  typename Sampler::State st;
  typename Sampler::Adaptation a;
  FieldBinder<P> states(nullptr, dim, std::size_t(num_chains), 0);
  FieldBinder<P> adaptations(nullptr, dim, scope == Scope::pooled ? 1 : std::size_t(num_chains), 0);
  Sampler::state(states, st, settings);
  Sampler::adaptation(adaptations, a, settings);
  const std::size_t rows = padded(static_cast<std::size_t>(dim)) * sizeof(Real) * 4 + 3 * sizeof(double);
  return {states.offset, adaptations.offset, static_cast<std::size_t>(num_chains) * (rows + sizeof(ChainControl))};
}

template <class Sampler, class Real, int P>
class ChainMemory {
 public:
  ChainMemory(const Context& context, Index num_chains, Index dim, Scope scope,
              const typename Sampler::Settings& settings)
      : context_(context), dim_(dim), num_chains_(num_chains), row_(padded(std::size_t(dim))) {
    const ChainBytes bytes = chain_bytes<Sampler, Real, P>(num_chains, dim, scope, settings);
    const std::size_t chains = static_cast<std::size_t>(num_chains);
    states_ = Buffer<char>(context, bytes.state);
    adaptations_ = Buffer<char>(context, bytes.adaptation);
    rows_ = Buffer<Real>(context, chains * row_ * 4);
    scalars_ = Buffer<double>(context, chains * 2);
    needs_ = Buffer<Needs>(context, chains);
    control_ = Buffer<ChainControl>(context, chains);
    Real* r = rows_.data();
    view_.settings = settings;
    view_.exchange = {r,
                      r + chains * row_,
                      r + 2 * chains * row_,
                      r + 3 * chains * row_,
                      scalars_.data(),
                      scalars_.data() + chains,
                      needs_.data(),
                      row_};
    view_.control = control_.data();
    view_.states = states_.data();
    view_.adaptations = adaptations_.data();
    view_.num_chains = num_chains;
    view_.dim = dim;
    view_.scope = scope;
  }
  const ChainsView<Sampler, Real>& view() const { return view_; }
  Exchange<Real> exchange(Phase phase) const {
    Exchange<Real> e = view_.exchange;
    e.most = Sampler::about.needs.in(phase);
    return e;
  }
  Index adaptations() const { return view_.scope == Scope::pooled ? 1 : num_chains_; }

  void place(const std::vector<Real>& x) {
    const std::size_t n = static_cast<std::size_t>(dim_);
    std::vector<Real> rows(row_ * static_cast<std::size_t>(num_chains_));
    for (std::size_t c = 0; c < static_cast<std::size_t>(num_chains_); ++c)
      std::memcpy(rows.data() + c * row_, x.data() + c * n, n * sizeof(Real));
    copy_to_device(context_, rows_.data(), rows.data(), rows.size() * sizeof(Real));
    std::vector<Needs> needs(static_cast<std::size_t>(num_chains_), Sampler::about.needs.start);
    needs_.upload(needs.data());
    std::vector<ChainControl> control(static_cast<std::size_t>(num_chains_));
    control_.upload(control.data());
  }
  std::vector<ChainControl> controls() const { return control_.host(); }
  void reset_counts() {
    auto control = control_.host();
    for (auto& c : control) c.gradients = c.counted = 0, c.acceptance_sum = c.lp_sum = 0;
    control_.upload(control.data());
  }
  std::vector<Real> positions() const {
    std::vector<char> host = states_.host();
    std::vector<Real> out(static_cast<std::size_t>(num_chains_) * static_cast<std::size_t>(dim_));
    for (std::size_t c = 0; c < static_cast<std::size_t>(num_chains_); ++c) {
      typename Sampler::State st;
      Sampler::state(FieldBinder<P>(host.data(), dim_, std::size_t(num_chains_), c), st, view_.settings);
      std::memcpy(out.data() + c * static_cast<std::size_t>(dim_), st.x.data,
                  static_cast<std::size_t>(dim_) * sizeof(Real));
    }
    return out;
  }
  Learnt learnt(Index chain) const {
    Learnt out;
    using Adaptation = typename Sampler::Adaptation;
    if constexpr (requires(Adaptation a) { a.L; }) {
      std::vector<char> host = adaptations_.host();
      Adaptation a;
      Sampler::adaptation(FieldBinder<P>(host.data(), dim_, std::size_t(adaptations()), std::size_t(chain)), a,
                          view_.settings);
      const std::size_t n = static_cast<std::size_t>(dim_);
      const bool diagonal = a.L.shape == FactorShape::diagonal;
      out.factor.assign(n * n, 0.0);
      for (Index i = 0; i < dim_; ++i)
        for (Index j = diagonal ? i : 0; j <= i; ++j)
          out.factor[static_cast<std::size_t>(i) * n + static_cast<std::size_t>(j)] =
              static_cast<double>(a.L[diagonal ? static_cast<std::size_t>(i) : factor_index<P>(i, j)]);
      if constexpr (requires { a.beta; }) out.beta = *a.beta;
    }
    return out;
  }
  std::vector<char> save() const {
    std::vector<char> out;
    each_buffer([&](auto& buffer) {
      const auto host = buffer.host();
      const char* bytes = reinterpret_cast<const char*>(host.data());
      out.insert(out.end(), bytes, bytes + host.size() * sizeof(host[0]));
    });
    return out;
  }
  void load(const std::vector<char>& bytes) {
    const char* from = bytes.data();
    each_buffer([&](auto& buffer) {
      const std::size_t size = buffer.size() * sizeof(*buffer.data());
      copy_to_device(context_, buffer.data(), from, size);
      from += size;
    });
  }

 private:
  template <class F>
  void each_buffer(F&& f) const {
    f(states_), f(adaptations_), f(rows_), f(scalars_), f(needs_), f(control_);
  }
  const Context& context_;
  Index dim_, num_chains_;
  std::size_t row_;
  Buffer<char> states_, adaptations_;
  Buffer<Real> rows_;
  Buffer<double> scalars_;
  Buffer<Needs> needs_;
  Buffer<ChainControl> control_;
  ChainsView<Sampler, Real> view_;
};

}  // namespace kilochain
