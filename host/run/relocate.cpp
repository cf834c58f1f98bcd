#include "host/run/relocate.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "host/run/run_summary.hpp"
#include "host/run/target_gradients.hpp"
#include "host/statistics/chain_figures.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t nuts_iterations = 100;
constexpr std::size_t most_on_device = std::size_t(1) << 30;  // bytes
const SettingTexts settings_of_nuts = {{"mass", "unit"}, {"max_tree_depth", "6"}};

/// Moves x in place, the points of chains `first` and on; returns the gradients that it took. Chains that cannot start
/// stay where they are.
template <class Real>
std::int64_t run_nuts(const Phases<Real>& run, std::int64_t first, View2<Real> x) {
  Reporter silent;
  Ensemble<Real> chains(run.context, run.target,
                        {"nuts", settings_of_nuts, x.rows, x.rows, Scope::chain, ~run.options.seed, first}, silent,
                        run.stop);
  chains.start([&](Index, Index) { return std::vector<Real>(x.data, x.data + x.rows * x.columns); });
  chains.run(chains.adapting(nuts_iterations), 0, nuts_iterations);
  const std::vector<Real> moved = chains.first_positions();
  std::int64_t gradients = 0;
  for (Count c = 0; const ChainControl& control : chains.controls()) {
    gradients += control.gradients;
    if (control.status == ChainStatus::running) std::copy_n(moved.data() + c * x.columns, x.columns, x.row(c).data);
    ++c;
  }
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

Relocation relocation_of(const Options& o, const Context& context, const TargetInfo& info, Precision precision) {
  constexpr Index few = 64;
  const auto bytes = [&](Index chains) {
    const ChainBytes b = bytes_of_chains(context, "nuts", settings_of_nuts, chains, info, Scope::chain, precision);
    return b.state + b.adaptation + b.exchange + b.pooled_sums;
  };
  const auto all = static_cast<Index>(batch_size(o));
  if (context.backend == Backend::cpu || all <= few) return {std::min(all, few), bytes(std::min(all, few))};
  const std::size_t most = few * most_on_device / std::max<std::size_t>(1, bytes(few));
  const Index chains =
      std::clamp(static_cast<Index>(std::min<std::size_t>(most, static_cast<std::size_t>(all))), few, all);
  return {chains, bytes(chains)};
}

bool may_relocate(const Options& o) {
  if (o.superchains > 1) return false;  // they would no longer be independent
  return !o.num_warmup || (o.adapt_scope == Scope::pooled && *o.num_warmup >= 2 * relocate_at);
}

template <class Real>
Relocated relocate(const Phases<Real>& run, std::span<const double> acceptance) {
  Relocated out;
  if (run.target.info().offers < Needs::gradient) return out;
  const Count dim = run.dim(),
              most = relocation_of(run.options, run.context, run.target.info(), precision_of<Real>).chains;
  std::vector<Real> starts;  // of all chains
  run.chains.each([&](Index first, Chains<Real>& chains) {
    std::vector<Real> x = chains.positions();
    const auto stuck = stuck_chains(chains.controls(), acceptance.data() + first);
    std::vector<Real> moved;
    for (const Count c : stuck) moved.insert(moved.end(), x.data() + c * dim, x.data() + (c + 1) * dim);
    for (Count k = 0; k < std::ssize(stuck) && !run.stop; k += most)
      out.gradients += run_nuts<Real>(run, k, {moved.data() + k * dim, std::min(most, std::ssize(stuck) - k), dim});
    for (Count k = 0; k < std::ssize(stuck); ++k)
      std::copy_n(moved.data() + k * dim, dim, x.data() + stuck.data()[k] * dim);
    out.chains += std::ssize(stuck);
    starts.insert(starts.end(), x.begin(), x.end());
  });
  if (out.chains == 0) return out;
  out.gradients += run.chains.take_gradients();
  run.chains.start([&](Index first, Index count) {
    return std::vector<Real>(starts.data() + first * dim, starts.data() + (first + count) * dim);
  });
  return out;
}

LogMass mass_of_gaussian(double lp, double log_volume, std::int64_t dim) {
  const auto n = static_cast<double>(dim);
  const double mass = lp + log_volume + 0.5 * n * (1 + std::log(2 * std::numbers::pi));
  return {std::isnan(mass) ? INFINITY : mass, std::sqrt(0.5 * n)};
}

template <class Real>
std::vector<DrawsAbout> draws_about(const Phases<Real>& run, const std::vector<Real>& points, std::int64_t draws,
                                    std::int64_t& gradients) {
  constexpr Count together = 16;  // no more memory than scouts had
  const Count dim = run.dim(), all = std::ssize(points) / dim;
  std::vector<DrawsAbout> out(static_cast<std::size_t>(all));
  for (Count first = 0; first < all && !run.stop; first += together) {
    const Count count = std::min(together, all - first);
    Reporter silent;
    Ensemble<Real> chains(run.context, run.target,
                          {"nuts", settings_of_nuts, count, count, Scope::chain, ~run.options.seed, first}, silent,
                          run.stop);
    const auto from = points.begin() + first * dim;
    chains.start([&](Index, Index) { return std::vector<Real>(from, from + count * dim); });
    const Segment<Real> segment = chains.adapting(2 * draws);
    chains.run(segment, 0, draws);
    Windows<Real> windows = chains.windows(chains.shape(draws));
    windows.origin = draws;
    chains.run(segment, draws, 2 * draws, windows, [&](const Window<Real>& window) {  // one window, or many
      for (Count c = 0; c < count; ++c)
        for (Count s = 0; s < window.count; ++s) {
          DrawsAbout& of = out[static_cast<std::size_t>(first + c)];
          of.lp.push_back(window.lp(c, s));
          of.x.insert(of.x.end(), window.draws.row(c, s).data, window.draws.row(c, s).data + dim);
        }
    });
    gradients += chains.take_gradients();
    for (Count c = first; const ChainControl& control : chains.controls())
      out[static_cast<std::size_t>(c++)].running = control.status == ChainStatus::running;
  }
  for (DrawsAbout& of : out) of.running &= std::ssize(of.lp) == draws;
  return out;
}

template <class Real>
std::vector<SeenPlace> places_about(const Phases<Real>& run, const std::vector<Real>& points, std::int64_t& gradients) {
  const Count dim = run.dim(), draws = dim > most_bridged ? 50 : std::clamp<Count>(16 * dim, 50, 320);
  TargetGradients<Real> gradients_at(run);
  std::vector<SeenPlace> out;
  for (const DrawsAbout& of : draws_about(run, points, draws, gradients)) {
    if (!of.running) {
      out.emplace_back();
      continue;
    }
    const Eigen::Map<const Eigen::MatrixXd> at(of.x.data(), dim, draws);
    const Eigen::VectorXd variances = (at.colwise() - at.rowwise().mean()).rowwise().squaredNorm() / double(draws - 1);
    LogMass mass = mass_of_gaussian(Eigen::Map<const Eigen::ArrayXd>(of.lp.data(), draws).mean(),
                                    0.5 * variances.array().log().sum(), dim);
    if (dim <= most_bridged) {
      gradients += draws / 2;
      const LogMass bridged = log_mass<Real>(of.x, of.lp, std::ref(gradients_at));
      if (bridged.error < mass.error) mass = bridged;
    }
    const auto late = of.lp.end() - draws / 4;
    out.push_back({mass, std::accumulate(late, of.lp.end(), 0.0) / static_cast<double>(draws / 4)});
  }
  return out;
}

template std::vector<DrawsAbout> draws_about(const Phases<float>&, const std::vector<float>&, std::int64_t,
                                             std::int64_t&);
template std::vector<DrawsAbout> draws_about(const Phases<double>&, const std::vector<double>&, std::int64_t,
                                             std::int64_t&);
template std::vector<SeenPlace> places_about(const Phases<float>&, const std::vector<float>&, std::int64_t&);
template std::vector<SeenPlace> places_about(const Phases<double>&, const std::vector<double>&, std::int64_t&);
template Relocated relocate(const Phases<float>&, std::span<const double>);
template Relocated relocate(const Phases<double>&, std::span<const double>);

}  // namespace kilochain
