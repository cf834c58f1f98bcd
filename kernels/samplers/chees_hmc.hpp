// ChEES-HMC as published (Hoffman, Radul, Sountsov 2021): HMC with unit mass, whose step and mean length T of
// trajectories all chains learn.
//   leapfrog steps of iteration t: 1 + floor(h(t) (T/e - 1)), h the base-2 van der Corput sequence (learnt_length.hpp)
//   step: dual averaging of the harmonic mean of the chains' acceptances to 0.651
//   T: ascent of ChEES = E (|x' - m|^2 - |x - m|^2)^2/4: Adam (0.025; 0, 0.95) on log T, with the mean over chains of
//     a t (|x' - m|^2 - |x - m|^2) (x' - m)^T r', t the trajectory's length; kept draws take the average of log T
// m is the mean of the draws of all chains so far, late ones most (the paper's: of this iteration's), so that few
// chains learn too. Team-uniform; bitwise the same under any batch split. Cost: T/2e gradients an iteration.
#pragma once
#include "kernels/samplers/hmc.hpp"

namespace kilochain {

struct CheesLength : LearntLength {
  static constexpr const char* meaning =
      "HMC with unit mass whose step and trajectory length all chains learn by ChEES (Hoffman et al. 2021)";
};

template <class Real>
struct CheesHmc : Hmc<Real, CheesLength> {
  using Base = Hmc<Real, CheesLength>;
  static constexpr double most_steps = 1000;

  struct Settings : Base::Settings {
    double learning_rate = 0.025;
    Settings() {
      this->target_accept = 0.651;
      this->mass = Mass::unit;
    }
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("harmonic_accept", s.target_accept, inside(0, 1),
          "harmonic mean of the chains' acceptances that the step is steered to");
    visit("learning_rate", s.learning_rate, between(1e-6, 1), "of Adam on the logarithm of the trajectory's length");
    visit("step_size", s.step_size, at_least(0), "leapfrog step at the start; 0 takes 0.5/n");
    visit("max_energy_error", s.max_energy_error, positive(), "a larger energy error counts as a divergence");
  }

  struct State : Base::State {
    Scalar<double> from;  ///< |x - m|^2 at the start
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    Base::state(visit, st, s);
    visit("from", st.from, Keep::no);
  }
  struct Adaptation : Base::Adaptation {
    Row<Real> centre;
    Scalar<double> log_length, mean_log_length, square;
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    Base::adaptation(visit, a, s);
    visit("centre", a.centre, Keep::yes);
    visit("log_length", a.log_length, Keep::yes);
    visit("mean_log_length", a.mean_log_length, Keep::yes);
    visit("length_moment", a.square, Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    Base::start_adaptation(team, s, a, n);
    team.single([&] { *a.log_length = *a.mean_log_length = math::log(*a.step), *a.square = 0; });
  }

  template <class Team>
  static KC_HD double from_centre(const Team& team, const Adaptation& a, Row<Real> x, Index n) {
    return team.template sum<double>(n, [&](Index i) {
      const double d = double(x[i]) - double(a.centre[i]);
      return d * d;
    });
  }
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                         State& st, const Query<Real>& query, Index n) {
    if (at.adapting) {
      const double from = from_centre(team, a, st.x, n);
      team.single([&] { *st.from = from; });
    }
    Base::draw(team, rng, s, at, a, st, query, n);
  }
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    if (Base::update(team, rng, s, at, a, st, query, reply, info, n) == Step::ask) return Step::ask;
    if (!at.adapting) return Step::done;
    double gain = 0;
    if (info.acceptance_rate > 0) {
      const double to = from_centre(team, a, query.point, n), along = team.template sum<double>(n, [&](Index i) {
        return (double(query.point[i]) - double(a.centre[i])) * double(st.r[i]);
      });
      gain = info.acceptance_rate * info.stats[2] * info.stats[3] * (to - *st.from) * along;
      gain = gain > 1e30 ? 1e30 : gain > -1e30 ? gain : math::finite(gain) ? -1e30 : 0.0;
    }
    team.for_each(n, [&](Index i) {
      st.d[i] = i == 0 ? Real(gain) : Real(0);
      st.work[i] = Real(1);
    });
    team.single([&] { *st.probability = info.acceptance_rate > 1e-10 ? 1 / info.acceptance_rate : 1e10; });
    return Step::done;
  }

  /// The first entry of the matrix is the gradient in log T, the vector the draw, the acceptance its inverse.
  static KC_INLINE bool reads_matrix(const Settings&, const Schedule&) { return true; }
  static KC_HD Signal<Real> signal(const Settings&, const State& st, double) {
    Signal<Real> out = outer_signal(*st.probability, st.d, st.work);
    out.vector = st.x;
    return out;
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const double t = double(at.t) + 1, weight = 3 / (t + 2), gain = source(0, 0, 0);
    const bool last = at.t + 1 == at.num_warmup;
    team.for_each(n, [&](Index i) { a.centre[i] += Real(weight) * (source.vector(i) - a.centre[i]); });
    adapt_dual_averaging(team, s.target_accept, 1 / source.acceptance(), last, a.dual, a.step);
    const double square = 0.95 * *a.square + 0.05 * gain * gain, step = *a.step,
                 unbiased = square / (1 - math::exp(-0.05129329438755058 * t)),
                 wanted = *a.log_length + s.learning_rate * gain / (sqrt(unbiased) + 1e-30), least = math::log(step),
                 most = least + math::log(most_steps);
    const double log_length = wanted < least  ? least
                              : wanted < most ? wanted
                                              : most,
                 share = 1 / sqrt(t), mean = *a.mean_log_length + share * (log_length - *a.mean_log_length);
    const double taken = last && mean > least ? mean : log_length;
    team.sync();  // all have read
    team.single([&] {
      *a.square = square, *a.log_length = log_length, *a.mean_log_length = mean;
      *a.num_steps = 0.5 * math::exp(taken - least);
    });
  }
};

}  // namespace kilochain
