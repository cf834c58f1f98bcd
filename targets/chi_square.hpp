// The chi-square distribution of n degrees of freedom, by finite sums from e^(-q/2) (n even) or erfc(sqrt(q/2)) (odd):
//   P(chi^2_n > q) = P(chi^2_{n-2} > q) + (q/2)^(n/2-1) e^(-q/2) / Gamma(n/2).
// For region probabilities of (transformed) Gaussians. Cost: n/2 terms.
#pragma once
#include <cmath>

namespace kilochain {

/// P(chi^2_n <= q).
inline double chi_square_probability(double q, int n) {
  if (!(q > 0)) return 0;
  const double h = 0.5 * q;
  double above = n % 2 == 0 ? std::exp(-h) : std::erfc(std::sqrt(h));
  double term =
      n % 2 == 0 ? h * std::exp(-h) : std::exp(-h) * std::sqrt(h) * 1.1283791670955126;  // h^(m/2)/Gamma(m/2+1)
  for (int m = n % 2 == 0 ? 4 : 3; m <= n; m += 2) {
    above += term;
    term *= h / (0.5 * m);
  }
  return 1 - above;
}

/// q with P(chi^2_n <= q) = p, for 0 < p < 1, by bisection to the last bit.
inline double chi_square_quantile(double p, int n) {
  double low = 0, high = n + 10;
  while (chi_square_probability(high, n) < p) high *= 2;
  for (int k = 0; k < 200 && low < high; ++k) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (chi_square_probability(middle, n) < p ? low : high) = middle;
  }
  return high;
}

}  // namespace kilochain
