// Whether chains have converged, from draws made after adaptation was frozen, with chains as the independent units.
//   moves       every chain accepts something
//   level       the mean log density of a chain's second half less that of its first: t over chains below 4
//   together    no chain's mean log density is far below the others' (10 robust standard deviations)
//   forgetting  over chains, the mean of a coordinate in the last third is not correlated with where the chain began
//               (Fisher's z below the normal quantile that all coordinates together pass once in 1 000 times)
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "host/chains/window.hpp"

namespace kilochain {

/// Draws of all chains, copied from windows as they come.
template <class Real>
struct FrozenDraws {
  Count chains = 0, count = 0, dim = 0, thin = 1;  ///< count: of each chain, of every thin-th iteration
  std::vector<Real> x;                             ///< (chain, count, dim)
  std::vector<double> lp, accepted;                ///< (chain, count); (chain): mean acceptance
  std::vector<float> steps;                        ///< (chain, count): ensemble_hmc's n_steps
  std::vector<std::int64_t> running;               ///< chains that are not quarantined

  FrozenDraws() = default;
  FrozenDraws(Count chains, Count count, Count dim, Count thin);
  void take(const Window<Real>& window);
  Real at(std::int64_t chain, Count draw, Count i) const {
    return x[static_cast<std::size_t>((chain * count + draw) * dim + i)];
  }
  const Real* row(std::int64_t chain, Count draw) const { return x.data() + (chain * count + draw) * dim; }
  const double* lp_of(std::int64_t chain) const { return lp.data() + chain * count; }
  double mean_steps() const;
  template <class Visitor, class Self>
  static void visit(const Visitor& visit, Self& self) {
    visit("drawn_chains", self.chains), visit("drawn_count", self.count), visit("drawn_dim", self.dim);
    visit("drawn_thin", self.thin), visit("drawn_x", self.x), visit("drawn_lp", self.lp);
    visit("drawn_accepted", self.accepted), visit("drawn_steps", self.steps);
  }
};

struct AuditFigures {
  bool passed = false;
  std::string note;  ///< what failed, with its figures
  double ess_per_iteration =
      0;  ///< of the slowest coordinate, over all chains: of means and of squares, whichever is less
  double acceptance = 0;
  std::vector<std::int64_t> stuck;  ///< chains that accept nothing, or are far below the others
  double lp = 0, lp_width = 0;      ///< median over chains of their means; 10 robust standard deviations of these
};

/// `began`: (chain, dim), where the chains stood when adaptation was frozen. name_of: a coordinate, for people.
template <class Real>
AuditFigures audit_of(const FrozenDraws<Real>& draws, std::span<const Real> began, int threads,
                      const std::function<std::string(Count)>& name_of);

}  // namespace kilochain
