// The memory of one sampler's chains on any backend, bound from the sampler's tables, and what the host copies of it.
#pragma once
#include <cstring>

#include "host/chains/advance.hpp"
#include "host/chains/checkpoint.hpp"
#include "kernels/adapt/bent_normal.hpp"
#include "kernels/adapt/dual_averaging.hpp"
#include "kernels/adapt/mass.hpp"
#include "kernels/linalg/triangular.hpp"

namespace kilochain {

/// P: rows of a panel.
template <class Sampler, class Real, int P>
ChainBytes chain_bytes(Index num_chains, Index dim, Scope scope, const typename Sampler::Settings& settings) {
  typename Sampler::State st;
  typename Sampler::Adaptation a;
  FieldBinder<P> states(nullptr, dim, std::size_t(num_chains), 0);
  FieldBinder<P> adaptations(nullptr, dim, scope == Scope::pooled ? 1 : std::size_t(num_chains), 0);
  Sampler::state(states, st, settings);
  Sampler::adaptation(adaptations, a, settings);
  const std::size_t rows = padded(std::size_t(dim)) * sizeof(Real) * 4 + sizeof(double) * 2 + sizeof(Needs);
  SavedBytes<P> of_state(dim), of_adaptation(dim);
  Sampler::state(of_state, st, settings);
  Sampler::adaptation(of_adaptation, a, settings);
  return {states.offset, adaptations.offset, static_cast<std::size_t>(num_chains) * (rows + sizeof(ChainControl)),
          states.chains * (of_state.bytes + sizeof(ChainControl)) + adaptations.chains * of_adaptation.bytes};
}

template <class Sampler, class Real, int P>
class ChainMemory {
 public:
  ChainMemory(const Context& context, Index num_chains, Index dim, Scope scope,
              const typename Sampler::Settings& settings)
      : place_(context), dim_(dim), num_chains_(num_chains), row_(padded(std::size_t(dim))) {
    const ChainBytes bytes = chain_bytes<Sampler, Real, P>(num_chains, dim, scope, settings);
    const std::size_t chains = static_cast<std::size_t>(num_chains);
    const char* const exchange = "queries and answers";  // names of rows of `kilochain estimate`
    states_ = Buffer<char>(context, bytes.state, "state of the chains");
    adaptations_ = Buffer<char>(context, bytes.adaptation, "adaptation");
    rows_ = Buffer<Real>(context, chains * row_ * 4, exchange);
    scalars_ = Buffer<double>(context, chains * 2, exchange);
    needs_ = Buffer<Needs>(context, chains, exchange);
    control_ = Buffer<ChainControl>(context, chains, exchange);
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
    e.asks = Sampler::about.asks;
    return e;
  }
  /// Copies of the adaptation: one for each chain, or one for all.
  Index copies() const { return view_.scope == Scope::pooled ? 1 : num_chains_; }

  void place(const std::vector<Real>& x) {
    std::vector<Real> rows(row_ * std::size_t(num_chains_));
    const View2<Real> to{rows.data(), num_chains_, static_cast<Count>(row_)};
    for (Count c = 0; c < num_chains_; ++c) std::copy_n(x.data() + c * dim_, dim_, to.row(c).data);
    copy_to_device(place_, rows_.data(), rows.data(), rows.size() * sizeof(Real));
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
  void begin_at(std::int64_t iteration) {
    auto control = control_.host();
    for (auto& c : control) c.iteration = iteration;
    control_.upload(control.data());
  }
  std::vector<Real> positions() const {
    return rows_of([](const typename Sampler::State& st) { return st.x; });
  }
  std::vector<Real> gradients() const {
    if constexpr (requires(typename Sampler::State st) { st.g; })
      return rows_of([](const typename Sampler::State& st) { return st.g; });
    return {};
  }
  Learnt learnt(Index chain) const {
    Learnt out;
    using Adaptation = typename Sampler::Adaptation;
    if constexpr (requires(Adaptation a) { a.L; }) {
      const Image adaptations(place_, adaptations_);
      Adaptation a;
      Sampler::adaptation(FieldBinder<P>(adaptations.data(), dim_, std::size_t(copies()), std::size_t(chain)), a,
                          view_.settings);
      const bool diagonal = a.L.shape == FactorShape::diagonal;
      out.factor.assign(std::size_t(dim_) * std::size_t(dim_), 0.0);
      const View2<double> factor{out.factor.data(), dim_, dim_};
      for (Index i = 0; i < dim_; ++i)
        for (Index j = diagonal ? i : 0; j <= i; ++j)
          factor(i, j) = static_cast<double>(a.L[diagonal ? std::size_t(i) : factor_index<P>(i, j)]);
      if constexpr (requires { a.beta; }) out.beta = *a.beta;
    }
    return out;
  }
  bool set_metric(const Metric& metric) {
    using Adaptation = typename Sampler::Adaptation;
    if constexpr (requires(Adaptation a) { a.F, a.step, a.dual; }) {
      std::vector<char> bytes = adaptations_.host();
      for (Index k = 0; k < copies(); ++k) {
        Adaptation a;
        Sampler::adaptation(FieldBinder<P>(bytes.data(), dim_, std::size_t(copies()), std::size_t(k)), a,
                            view_.settings);
        *a.step = metric.step_size;
        if constexpr (requires { a.num_steps; })
          *a.num_steps = metric.num_steps, *a.spread = metric.spread, *a.stages = metric.stages,
          *a.turns = metric.turns, *a.finer_every = metric.finer_every;
        if constexpr (requires { a.law; }) write_bent(metric, a.law);
        restart_dual_averaging(HostTeam{}, metric.step_size, a.dual, 1);
        write_factor(metric, a.F);
        if constexpr (requires { a.plain; })
          if (a.plain.data) write_diagonal(metric, a.diagonal), *a.plain = is_diagonal(metric, dim_);
      }
      adaptations_.upload(bytes.data());
      if constexpr (requires(typename Sampler::State st) { st.turned; })
        if (metric.turns) write_whitened(metric);
      return true;
    }
    return false;
  }
  double averaged_step() const {
    using Adaptation = typename Sampler::Adaptation;
    if constexpr (requires(Adaptation a) { a.F, a.step, a.dual; }) {
      const Image adaptations(place_, adaptations_);
      Adaptation a;
      Sampler::adaptation(FieldBinder<P>(adaptations.data(), dim_, std::size_t(copies()), 0), a, view_.settings);
      return std::exp(a.dual[dual_log_mean]);
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
  void relocate(Index from, Index to) {
    std::vector<char> states = states_.host(), adaptations = adaptations_.host();
    each_field(states.data(), adaptations.data(),
               [&](const char*, auto* first, std::size_t copies, std::size_t length, std::size_t row, Keep keep) {
                 if (keep == Keep::yes && copies == std::size_t(num_chains_))
                   std::copy_n(first + std::size_t(from) * row, length, first + std::size_t(to) * row);
               });
    states_.upload(states.data()), adaptations_.upload(adaptations.data());
  }
  /// The fields that chains keep between iterations, and the host's record of each chain (checkpoint.hpp). Every chain
  /// must be between iterations: no query is out.
  std::vector<char> save() const {
    CheckpointWriter out(what());
    const Image states(place_, states_), adaptations(place_, adaptations_);
    each_field(states.data(), adaptations.data(),
               [&](const char* name, auto* first, std::size_t copies, std::size_t length, std::size_t row, Keep keep) {
                 if (keep == Keep::yes) out.field(name, first, copies, length, row);
               });
    const auto control = control_.host();
    for ([[maybe_unused]] const auto& c : control) KC_CHECK(!c.waiting);
    out.field("control", control.data(), control.size(), 1, 1);
    return std::move(out).bytes();
  }
  /// Throws Error (data), and changes nothing, when `bytes` are not those of such chains. Workspace is left as it is,
  /// or poisoned where promises are checked: no iteration may rely on it.
  void load(const std::vector<char>& bytes) {
    std::vector<char> states(states_.size()), adaptations(adaptations_.size());
    std::vector<ChainControl> control(control_.size());
    CheckpointReader in(bytes, what());
    each_field(states.data(), adaptations.data(),
               [&](const char* name, auto* first, std::size_t copies, std::size_t length, std::size_t row, Keep keep) {
                 using T = std::remove_pointer_t<decltype(first)>;
                 if (keep == Keep::yes) {
                   const char* from = in.field(name, copies, length, sizeof(T));
                   for (std::size_t c = 0; c < copies; ++c)
                     std::memcpy(first + c * row, from + c * length * sizeof(T), length * sizeof(T));
                 } else if constexpr (checked) {
                   for (std::size_t c = 0; c < copies; ++c) std::fill_n(first + c * row, length, poison<T>());
                 }
               });
    std::memcpy(control.data(), in.field("control", control.size(), 1, sizeof(ChainControl)),
                control.size() * sizeof(ChainControl));
    in.end();
    states_.upload(states.data()), adaptations_.upload(adaptations.data()), control_.upload(control.data());
    needs_.upload(std::vector<Needs>(needs_.size(), Needs::nothing).data());
  }

 private:
  /// Of a diagonal factor the standard deviations; of none (unit mass) nothing.
  /// pick(state): a row of it. (chain, dim), on the host.
  template <class Pick>
  std::vector<Real> rows_of(Pick&& pick) const {
    std::vector<Real> out(std::size_t(num_chains_) * std::size_t(dim_));
    const View2<Real> to{out.data(), num_chains_, dim_};
    const Image states(place_, states_);
    for (Index c = 0; c < num_chains_; ++c) {
      typename Sampler::State st;
      Sampler::state(FieldBinder<P>(states.data(), dim_, std::size_t(num_chains_), std::size_t(c)), st, view_.settings);
      std::copy_n(pick(st).data, dim_, to.row(c).data);
    }
    return out;
  }
  void write_factor(const Metric& metric, Factor<Real> F) const {
    if (!F.data) return;
    for (Index i = 0; i < dim_; ++i) {
      if (F.shape == FactorShape::dense)
        for (Index j = 0; j <= i; ++j) F[factor_index<P>(i, j)] = static_cast<Real>(metric.factor[i * dim_ + j]);
      else
        F[std::size_t(i)] = static_cast<Real>(sd_of(metric, i));
    }
  }
  void write_bent(const Metric& metric, BentNormal<Real> law) const {
    *law.bent = metric.bent.has_value();
    *law.count = metric.bent ? static_cast<double>(metric.bent->logit.size()) : 0;
    const auto count = static_cast<Index>(*law.count);
    if (count == 0) return;
    KC_CHECK(count <= view_.settings.bends);
    const Bending& of = *metric.bent;
    std::fill_n(law.towards.data, static_cast<std::size_t>(view_.settings.bends) * padded(dim_), Real(0));
    std::fill_n(law.back.data, static_cast<std::size_t>(view_.settings.bends) * padded(dim_), Real(0));
    for (Index k = 0; k < count; ++k) {
      for (Index i = 0; i < dim_; ++i) {
        const Real a = static_cast<Real>(of.lines[k * dim_ + i]);
        law.towards.data[lines_index<P>(k, i, dim_)] = law.back.data[lines_index<P>(i, k, count)] = a;
      }
      law.logit[k] = static_cast<Real>(of.logit[k]), law.sign[k] = static_cast<Real>(of.sign[k]);
      law.offset[k] = static_cast<Real>(of.offset[k]), law.slope[k] = static_cast<Real>(of.slope[k]);
    }
  }
  void write_diagonal(const Metric& metric, Row<Real> diagonal) const {
    for (Index i = 0; i < dim_; ++i) diagonal[i] = static_cast<Real>(metric.factor[i * dim_ + i]);
  }
  double sd_of(const Metric& metric, Index i) const {
    double variance = 0;
    for (Index j = 0; j <= i; ++j) variance += metric.factor[i * dim_ + j] * metric.factor[i * dim_ + j];
    return std::sqrt(variance);
  }
  /// Where chains are in the metric's scale about its mean, F^-1 (x - m), of 16 at once.
  void write_whitened(const Metric& metric) {
    constexpr Index wide = 16;
    const View2<const double> F{metric.factor.data(), dim_, dim_};
    const Mass mass = view_.settings.mass;
    const bool plain = mass != Mass::dense || is_diagonal(metric, dim_);
    std::vector<char> states = states_.host();
    std::vector<typename Sampler::State> at(wide);
    std::vector<double> z(std::size_t(dim_) * wide);
    for (Index first = 0; first < num_chains_; first += wide) {
      const Index count = std::min(wide, num_chains_ - first);
      for (Index c = 0; c < count; ++c)
        Sampler::state(FieldBinder<P>(states.data(), dim_, std::size_t(num_chains_), std::size_t(first + c)), at[c],
                       view_.settings);
      for (Index i = 0; i < dim_; ++i) {
        double* const own = z.data() + i * wide;
        const double scale = mass == Mass::unit ? 1 : plain ? sd_of(metric, i) : F(i, i);
        for (Index c = 0; c < count; ++c) own[c] = static_cast<double>(at[c].x[i]) - metric.mean[i];
        for (Index j = plain ? i : 0; j < i; ++j)
          for (Index c = 0; c < wide; ++c) own[c] -= F(i, j) * z[j * wide + c];
        for (Index c = 0; c < wide; ++c) own[c] /= scale;
        for (Index c = 0; c < count; ++c) at[c].z[i] = static_cast<Real>(own[c]);
      }
    }
    states_.upload(states.data());
  }
#if defined(KILOCHAIN_CHECKED)
  static constexpr bool checked = true;
#else
  static constexpr bool checked = false;
#endif
  /// A buffer's bytes where the host can read them: themselves on the CPU, a copy of a device's.
  class Image {
   public:
    Image(const Place& place, const Buffer<char>& buffer) {
      if (place.backend == Backend::cpu) {
        data_ = buffer.data();
      } else {
        copy_ = buffer.host();
        data_ = copy_.data();
      }
    }
    char* data() const { return data_; }

   private:
    std::vector<char> copy_;
    char* data_;
  };
  /// What these chains are, as the header of a checkpoint says it.
  std::string what() const {
    return std::string(Sampler::about.meaning) + ", " + std::to_string(num_chains_) + " chains, dimension " +
           std::to_string(dim_) + ", " + name_of(precision_of<Real>) + ", " + name_of(view_.scope) + ", panels of " +
           std::to_string(P);
  }
  template <class F>
  void each_field(char* states, char* adaptations, F&& f) const {
    const auto walk = [&](char* base, std::size_t chains) {
      const auto one = [&f, chains](const char* name, auto* first, std::size_t length, std::size_t row, Keep keep) {
        f(name, first, chains, length, row, keep);
      };
      return FieldWalker<P, decltype(one)>(base, dim_, chains, one);
    };
    typename Sampler::State st;
    typename Sampler::Adaptation a;
    Sampler::state(walk(states, std::size_t(num_chains_)), st, view_.settings);
    Sampler::adaptation(walk(adaptations, std::size_t(copies())), a, view_.settings);
  }

  Place place_;
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
