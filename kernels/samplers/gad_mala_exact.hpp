// gadMALAe: gadMALAf with the full derivative in L, g(y) moving with y included (Titsias & Dellaportas 2019, sec. 3.1).
// While adapting and log r < 0 it asks once more at y, for k = H(y) L d, d = h + L^T g(y)/2, and the gradient in L is
//   [g(x) (L^T g(y)/2 - d/2 - L^T k/4)^T + g(y) (h - d/2)^T - k (h/2)^T]_low + beta diag(1/L_ii)
// which is the formula of the paper's supplement sorted by its left vectors. Everything else is gadMALAf.
// Cost: gadMALAf's, and while adapting one Hessian-vector product, two more passes over L and two more outer products.
#pragma once
#include "kernels/samplers/gad_mala_fast.hpp"

namespace kilochain {

template <class Real>
struct GadMalaExact : GadMalaFast<Real> {
  using Fast = GadMalaFast<Real>;
  using Settings = typename Fast::Settings;
  using Adaptation = typename Fast::Adaptation;
  static constexpr About about = {
      .meaning = "MALA with a full Cholesky factor learnt by gradient, Hessian term kept (Titsias & Dellaportas 2019)",
      .stats = {},
      .needs = {.start = Needs::gradient, .warmup = Needs::hessian_vector, .sampling = Needs::gradient},
      .asks = Asks::often,
      .adaptive = true,
      .signals_vector = false,
  };

  struct State : Fast::State {
    Row<Real> a1, a2, b1, b2;     ///< the other two outer products of the signal
    Scalar<double> stage, log_r;  ///< 1 while the Hessian product is out; log r of the move under way
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    Fast::state(visit, st, s);
    visit("signal_a1", st.a1, Keep::no);
    visit("signal_a2", st.a2, Keep::no);
    visit("signal_b1", st.b1, Keep::no);
    visit("signal_b2", st.b2, Keep::no);
    visit("stage", st.stage, Keep::no);
    visit("log_r", st.log_r, Keep::no);
  }

  template <class V>
  static KC_HD void products(V&& visit, const Settings& s, bool adapting, const State& st, const Query<Real>& query,
                             const Reply<Real>& reply) {
    Fast::products(visit, s, adapting, st, query, reply);
    if (!adapting) return;
    visit(Before::update, Times::transposed, reply.hessian_vector, query.direction);
    visit(Before::evaluation, Times::lower, st.a, query.direction);
  }
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                         State& st, const Query<Real>& query, Index n) {
    team.single([&] { *st.stage = 0; });
    Fast::draw(team, rng, s, at, a, st, query, n);
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const bool second = *st.stage != 0;
    const double log_r = second ? *st.log_r : Fast::log_ratio(team, a, st, reply, n);
    const Decision move = decide(rng, log_r);
    if (at.adapting && !second && move.finite && log_r < 0) {
      team.for_each(n, [&](Index i) { st.a[i] = st.h[i] + Real(0.5) * st.ltgy[i]; });
      team.sync();
      multiply_lower(team, a.L, st.a, query.direction, n);
      team.single([&] {
        *st.stage = 1;
        *st.log_r = log_r;
      });
      ask(team, query, Needs::hessian_vector);
      return Step::ask;
    }
    if (at.adapting) write_signal(team, s, a, st, query, reply, second && all_finite(team, reply.hessian_vector, n), n);
    if (at.adapting && !move.finite) Fast::signal_retreat(team, s, a, st, n);
    return Fast::finish(team, move, st, query, reply, info, n);
  }

  /// The three outer products of the move under way, or zeros when it teaches nothing.
  template <class Team>
  static KC_HD void write_signal(const Team& team, const Settings& s, const Adaptation& a, State& st,
                                 const Query<Real>& query, const Reply<Real>& reply, bool learn, Index n) {
    const Row<Real> k = reply.hessian_vector;
    if (learn) multiply_transposed(team, a.L, k, query.direction, n);
    const bool whiten = wants_whitened(s);
    team.for_each(n, [&](Index i) {
      const Real ltk = learn ? query.direction[i] : Real(0), half_d = Real(0.5) * (st.h[i] + Real(0.5) * st.ltgy[i]);
      st.a[i] = !learn ? Real(0) : whiten ? st.ltg[i] : st.g[i];
      st.b[i] = !learn ? Real(0) : Real(0.5) * st.ltgy[i] - half_d - Real(0.25) * ltk;
      st.a1[i] = !learn ? Real(0) : whiten ? st.ltgy[i] : reply.gradient[i];
      st.b1[i] = !learn ? Real(0) : st.h[i] - half_d;
      st.a2[i] = !learn ? Real(0) : whiten ? ltk : k[i];
      st.b2[i] = !learn ? Real(0) : Real(-0.5) * st.h[i];
    });
  }

  static KC_HD Signal<Real> signal(const Settings&, const State& st, double accepted) {
    Signal<Real> out = outer_signal(accepted, st.a, st.b);
    out.rank = 3;
    out.a[1] = st.a1, out.a[2] = st.a2;
    out.b[1] = st.b1, out.b[2] = st.b2;
    return out;
  }
};

}  // namespace kilochain
