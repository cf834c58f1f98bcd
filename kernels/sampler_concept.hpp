// The contract of kernels/contract.hpp as concepts, and check_sampler, which says what a sampler lacks. Asserted
// wherever a sampler is bound to memory, so a misspelt member is a compile error and never a slow path. A model for one
// chain at a time (targets/funnel.hpp is a short one) has its own concept.
#pragma once
#include <concepts>

#include "kernels/iteration.hpp"

namespace kilochain {

namespace contract_probe {
/// Stands for every visitor of a table of products.
struct ProductsVisitor {
  template <class Real>
  void operator()(Before, Times, Row<Real>, Row<Real>) const {}
};
/// Stands for every visitor of a table of settings.
struct SettingsVisitor {
  template <class... T>
  void operator()(const char*, T&&...) const {}
};
}  // namespace contract_probe

template <class S>
concept DescribesItself = std::same_as<decltype(S::about), const About>;

template <class S>
concept HasSettings = std::default_initializable<typename S::Settings> &&
    requires(typename S::Settings& s, contract_probe::SettingsVisitor visit) {
  S::settings(visit, s);
  S::resolve(s, Scope::pooled);
};

template <class S, class Real>
concept HasState = std::derived_from<typename S::State, Position<Real>> &&
    requires(FieldBinder<32>& visit, typename S::State& st, const typename S::Settings& s) {
  S::state(visit, st, s);
};

template <class S, class Real>
concept HasAdaptation = requires(FieldBinder<32>& visit, typename S::Adaptation& a, const typename S::Settings& s) {
  S::adaptation(visit, a, s);
  S::start_adaptation(HostTeam{}, s, a, Index{1});
};

template <class S, class Real>
concept Starts = requires(const typename S::Settings& s, const typename S::Adaptation& a, typename S::State& st,
                          const Query<Real>& query, const Reply<Real>& reply) {
  S::start(HostTeam{}, s, a, st, query, reply, Index{1});
};

template <class S>
concept SaysHowItMoves = std::same_as<decltype(S::moves), const Moves>;

/// Its proposal is one body.
template <class S, class Real>
concept Proposes = requires(const Rng& rng, const typename S::Settings& s, const Schedule& at,
                            const typename S::Adaptation& a, typename S::State& st, const Query<Real>& query) {
  requires S::moves == Moves::freely;
  S::propose(HostTeam{}, rng, s, at, a, st, query, Index{1});
};

/// In halves around a product, with a table of all products.
template <class S, class Real>
concept MovesByFactor = requires(const Rng& rng, const typename S::Settings& s, const Schedule& at,
                                 const typename S::Adaptation& a, typename S::State& st, const Query<Real>& query,
                                 const Reply<Real>& reply, contract_probe::ProductsVisitor visit) {
  requires S::moves != Moves::freely;
  factor_of(a);
  S::products(visit, s, true, st, query, reply);
  S::draw(HostTeam{}, rng, s, at, a, st, query, Index{1});
  S::place(HostTeam{}, s, at, a, st, query, Index{1});
};

template <class S, class Real>
concept MovesAsItSays = Proposes<S, Real> || MovesByFactor<S, Real>;

template <class S, class Real>
concept Updates = requires(const Rng& rng, const typename S::Settings& s, const Schedule& at,
                           const typename S::Adaptation& a, typename S::State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info) {
  { S::update(HostTeam{}, rng, s, at, a, st, query, reply, info, Index{1}) } -> std::same_as<Step>;
};

template <class S, class Real>
concept Adapts = !bool(S::about.adaptive) ||
                 requires(const typename S::Settings& s, const typename S::State& st, typename S::Adaptation& a,
                          const Schedule& at, const ChainSource<Real>& one, const PooledSource<Real>& all) {
  { S::signal_shape(s) } -> std::same_as<FactorShape>;
  { S::signal(s, st, 0.5) } -> std::same_as<Signal<Real>>;
  S::adapt(HostTeam{}, s, at, one, a, Index{1});
  S::adapt(HostTeam{}, s, at, all, a, Index{1});
};

template <class S, class Real>
concept SamplerOf = DescribesItself<S> && HasSettings<S> && HasState<S, Real> && HasAdaptation<S, Real> &&
    Starts<S, Real> && SaysHowItMoves<S> && MovesAsItSays<S, Real> && Updates<S, Real> && Adapts<S, Real>;

/// True, or does not compile and says what is missing.
template <class S, class Real>
consteval bool check_sampler() {
  static_assert(DescribesItself<S>, "a sampler says what it is: static constexpr About about = {.meaning = ...}");
  static_assert(HasSettings<S>, "a sampler has Settings, their table settings(visit, s), and resolve(s, scope)");
  static_assert(HasState<S, Real>,
                "State derives from Position or PositionAndGradient; its table is state(visit, st, s)");
  static_assert(HasAdaptation<S, Real>,
                "Adaptation has a table adaptation(visit, a, s) and start_adaptation(team, s, a, n)");
  static_assert(Starts<S, Real>, "start(team, settings, adaptation, state, query, reply, n)");
  static_assert(SaysHowItMoves<S>, "a sampler says how it moves: static constexpr Moves moves = ...");
  static_assert(S::moves != Moves::freely || Proposes<S, Real>,
                "what moves freely has propose(team, rng, settings, schedule, adaptation, state, query, n)");
  static_assert(
      MovesAsItSays<S, Real>,
      "what moves by a factor has Adaptation::L or F, products(visit, settings, adapting, state, query, reply), "
      "draw(team, rng, settings, schedule, adaptation, state, query, n) and "
      "place(team, settings, schedule, adaptation, state, query, n)");
  static_assert(Updates<S, Real>,
                "update(team, rng, settings, schedule, adaptation, state, query, reply, info, n) returns a Step");
  static_assert(Adapts<S, Real>,
                "what is adaptive has signal_shape(settings), signal(settings, state, accepted), and "
                "adapt(team, settings, schedule, source, adaptation, n)");
  static_assert(S::about.needs.most() <= Needs::hessian_vector && S::about.needs.start != Needs::nothing &&
                    S::about.needs.start != Needs::hessian_vector,
                "a chain starts with a value or a gradient");
  return true;
}

/// A density for one chain at a time: evaluate(team, data, needs, query, reply, scratch); scratch(data): numbers of
/// Real.
template <class M, class Real>
concept PointwiseModel = std::default_initializable<typename M::Settings> &&
    requires(typename M::Settings& s, contract_probe::SettingsVisitor visit, const typename M::Data& data,
             const Query<Real>& query, const Reply<Real>& reply, Real* scratch) {
  { M::meaning } -> std::convertible_to<const char*>;
  M::settings(visit, s);
  { M::scratch(data) } -> std::convertible_to<std::size_t>;
  M::evaluate(HostTeam{}, data, Needs::gradient, query, reply, scratch);
};

}  // namespace kilochain
