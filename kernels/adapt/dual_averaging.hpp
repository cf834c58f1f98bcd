// Nesterov's dual averaging of a log step size (Hoffman & Gelman 2014, sec. 3.2.1): at update k, with acceptance a,
//   h <- (1 - 1/(k + t0)) h + (target - a)/(k + t0)
//   log e = mu - sqrt(k)/gamma h,   log ebar <- k^-kappa log e + (1 - k^-kappa) log ebar
// gamma 0.05, t0 10, kappa 0.75; mu = log(10 e_0), or log e_0 where e_0 is known to be about right. Adapting chains use
// e, finished ones ebar. Memory: dual_size doubles.
#pragma once
#include "kernels/contract.hpp"

namespace kilochain {

enum DualSlot { dual_mu, dual_h, dual_log_mean, dual_count, dual_size = 4 };

/// Begins again from `step`, and goes to `bold` times it while nothing speaks against that.
template <class Team>
KC_HD void restart_dual_averaging(const Team& team, double step, Numbers<double> memory, double bold = 10) {
  team.single([&] {
    memory[dual_mu] = math::log(bold * step);
    memory[dual_h] = 0;
    memory[dual_log_mean] = math::log(step);
    memory[dual_count] = 0;
  });
}

/// One update; `last` leaves the average in step instead of the newest value.
template <class Team>
KC_HD void adapt_dual_averaging(const Team& team, double target, double acceptance, bool last, Numbers<double> memory,
                                Scalar<double> step) {
  team.single([&] {
    const double k = memory[dual_count] + 1, eta = 1 / (k + 10), weight = math::exp(-0.75 * math::log(k));
    const double h = (1 - eta) * memory[dual_h] + eta * (target - acceptance);
    const double log_step = memory[dual_mu] - sqrt(k) / 0.05 * h;
    memory[dual_count] = k;
    memory[dual_h] = h;
    memory[dual_log_mean] = weight * log_step + (1 - weight) * memory[dual_log_mean];
    *step = math::exp(last ? memory[dual_log_mean] : log_step);
  });
  team.sync();
}

}  // namespace kilochain
