// Expected improvement of an unknown f ~ N(mean, sd^2) over a value that is had already (Schonlau, Welch & Jones 1998).
//   EI = E max(0, f - best) = sd (phi(z) + z Phi(z)),  z = (mean - best)/sd
// Its logarithm is computed without cancellation, so that far from every promise it still says which way to go:
//   phi(z) + z Phi(z) = phi(z) c/(t + c), t = -z, c = 1/(t + 2/(t + 3/(t + ...)))   (Mills' ratio)
#pragma once

namespace kilochain {

/// sd = 0: max(0, mean - best).
double expected_improvement(double mean, double sd, double best);
/// log EI; minus infinity where EI is 0 exactly (sd = 0 and mean <= best).
double log_expected_improvement(double mean, double sd, double best);

}  // namespace kilochain
