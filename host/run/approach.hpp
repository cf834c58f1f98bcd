// Leads chains that accept nothing to where the density is. A start far out in the tail, where gradients are huge, holds a
// sampler whose proposal all chains share: its scale would have to fit two places at once. NUTS alone on each chain finds its
// own step there by dual averaging; trees are kept short. Part of an automatic warm-up only: no draw of the answer is near it.
#pragma once
#include <algorithm>

#include "host/chains/rounds.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {

inline constexpr std::int64_t approach_iterations = 100;
inline constexpr Index approach_chains = 64;  ///< at a time: their trees must not need memory that no estimate counted

/// Moves x, (chain, dim) of chains `first` and on, in place; returns the gradients that it took. Chains that cannot start stay
/// where they are.
template <class Real>
std::int64_t approach_some(const Context& context, Target<Real>& target, std::uint64_t seed, Index first,
                           std::vector<Real>& x, const std::atomic<bool>& stop) {
  const Index dim = target.info().dim, chains = static_cast<Index>(x.size() / static_cast<std::size_t>(dim));
  const auto sampler =
      make_chains<Real>(context, "nuts", {{"mass", "unit"}, {"max_tree_depth", "6"}}, chains, dim, Scope::chain);
  Rounds<Real> rounds(context, target, *sampler, chains);
  rounds.start(x);
  Segment<Real> segment;
  segment.seed = ~seed;
  segment.first_chain = static_cast<std::uint32_t>(first);
  segment.until = segment.schedule.num_warmup = approach_iterations;
  segment.schedule.adapting = true;
  rounds.run(segment, stop);
  const std::vector<Real> led = sampler->positions();
  const auto controls = sampler->controls();
  std::int64_t gradients = 0;
  for (std::size_t c = 0; c < controls.size(); ++c) {
    gradients += controls[c].gradients;
    if (controls[c].status == ChainStatus::running)
      std::copy_n(led.begin() + static_cast<std::ptrdiff_t>(c) * dim, dim,
                  x.begin() + static_cast<std::ptrdiff_t>(c) * dim);
  }
  return gradients;
}

/// The same for any number of chains, a few at a time.
template <class Real>
std::int64_t approach(const Context& context, Target<Real>& target, std::uint64_t seed, std::vector<Real>& x,
                      const std::atomic<bool>& stop) {
  const std::size_t n = static_cast<std::size_t>(target.info().dim), slice = approach_chains * n;
  std::int64_t gradients = 0;
  for (std::size_t at = 0; at < x.size() && !stop; at += slice) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(at),
               end = x.begin() + static_cast<std::ptrdiff_t>(std::min(at + slice, x.size()));
    std::vector<Real> some(begin, end);
    gradients += approach_some(context, target, seed, static_cast<Index>(at / n), some, stop);
    std::copy(some.begin(), some.end(), begin);
  }
  return gradients;
}

}  // namespace kilochain
