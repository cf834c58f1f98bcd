#include "host/run/lead_in.hpp"

#include <algorithm>

#include "host/run/run_summary.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t nuts_iterations = 100;
constexpr std::size_t most_on_device = std::size_t(1) << 30;  // bytes
const SettingTexts nuts = {{"mass", "unit"}, {"max_tree_depth", "6"}};

/// Moves x in place, the points of chains `first` and on; returns the gradients that it took. Chains that cannot start stay
/// where they are.
template <class Real>
std::int64_t run_nuts(const Phases<Real>& run, std::int64_t first, View2<Real> x) {
  const auto num_chains = static_cast<Index>(x.rows), dim = static_cast<Index>(x.columns);
  const auto chains = make_chains<Real>(run.context, "nuts", nuts, num_chains, dim, Scope::chain);
  Rounds<Real> rounds(run.context, run.target, *chains, num_chains);
  rounds.start({x.data, x.data + x.rows * x.columns});
  Segment<Real> segment;
  segment.seed = ~run.options.seed;
  segment.first_chain = static_cast<std::uint32_t>(first);
  segment.until = segment.schedule.num_warmup = nuts_iterations;
  segment.schedule.adapting = true;
  rounds.run(segment, run.stop);
  const std::vector<Real> led = chains->positions();
  std::int64_t gradients = 0;
  for (Count c = 0; const ChainControl& control : chains->controls()) {
    gradients += control.gradients;
    if (control.status == ChainStatus::running) std::copy_n(led.data() + c * x.columns, x.columns, x.row(c).data);
    ++c;
  }
  return gradients;
}

/// The same for any number of chains, some at a time.
template <class Real>
std::int64_t run_nuts_by_parts(const Phases<Real>& run, View2<Real> x) {
  std::int64_t gradients = 0;
  const Count most = leading_in(run.options, run.context, run.target.info(), precision_of<Real>).chains;
  for (Count first = 0; first < x.rows && !run.stop; first += most)
    gradients += run_nuts<Real>(run, first, {x.data + first * x.columns, std::min(most, x.rows - first), x.columns});
  return gradients;
}

/// Chains of a batch whose acceptance is next to nothing, counted from the batch's first.
std::vector<Count> stuck_chains(const std::vector<ChainControl>& controls, const double* acceptance) {
  std::vector<Count> stuck;
  for (Count c = 0; const ChainControl& control : controls) {
    if (control.status == ChainStatus::running && accepts_nothing(acceptance[c])) stuck.push_back(c);
    ++c;
  }
  return stuck;
}

}  // namespace

LeadingIn leading_in(const Options& o, const Context& context, const TargetInfo& info, Precision precision) {
  constexpr Index few = 64;
  const auto bytes = [&](Index chains) {
    const ChainBytes b = bytes_of_chains(context, "nuts", nuts, chains, info, Scope::chain, precision);
    return b.state + b.adaptation + b.exchange + b.pooled_sums;
  };
  const auto all = static_cast<Index>(batch_size(o));
  if (context.backend == Backend::cpu || all <= few) return {std::min(all, few), bytes(std::min(all, few))};
  const std::size_t most = few * most_on_device / std::max<std::size_t>(1, bytes(few));
  const Index chains =
      std::clamp(static_cast<Index>(std::min<std::size_t>(most, static_cast<std::size_t>(all))), few, all);
  return {chains, bytes(chains)};
}

bool may_lead_in(const Options& o) {
  return !o.num_warmup || (o.adapt_scope == Scope::pooled && *o.num_warmup >= 2 * lead_in_at);
}

template <class Real>
LedIn lead_in(const Phases<Real>& run, std::span<const double> acceptance) {
  LedIn led;
  if (run.target.info().offers < Needs::gradient) return led;
  const Count dim = run.dim();
  std::vector<std::vector<Real>> starts;
  run.batches.each([&](Index first, Chains<Real>& chains) {
    std::vector<Real> x = chains.positions();
    const auto stuck = stuck_chains(chains.controls(), acceptance.data() + first);
    std::vector<Real> moved;
    for (const Count c : stuck) moved.insert(moved.end(), x.data() + c * dim, x.data() + (c + 1) * dim);
    led.gradients += run_nuts_by_parts<Real>(run, {moved.data(), std::ssize(stuck), dim});
    for (Count k = 0; k < std::ssize(stuck); ++k)
      std::copy_n(moved.data() + k * dim, dim, x.data() + stuck.begin()[k] * dim);
    led.chains += std::ssize(stuck);
    starts.push_back(std::move(x));
  });
  if (led.chains == 0) return led;
  led.gradients += run.batches.take_gradients();
  run.batches.restart(starts);
  return led;
}

template LedIn lead_in(const Phases<float>&, std::span<const double>);
template LedIn lead_in(const Phases<double>&, std::span<const double>);

}  // namespace kilochain
