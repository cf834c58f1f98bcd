// What the phases of a run share. Each phase owns what it needs besides and hands on a value: WarmedUp, then Sampled.
#pragma once
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <map>

#include "host/run/ensemble.hpp"
#include "host/run/flat.hpp"
#include "host/run/output_file.hpp"
#include "host/run/start.hpp"
#include "host/run/target_in_coordinates.hpp"
#include "host/run/time_limit.hpp"

namespace kilochain {

/// OpenMP regions, and with them Eigen's products, take as many threads as the run was given, while one lives.
class ThreadsOf {
 public:
  explicit ThreadsOf(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  explicit ThreadsOf(const Context& context) : ThreadsOf(context.threads) {}
  /// For products of n x n: threads that wait for each other spin, which small ones do not repay where cores are busy.
  ThreadsOf(const Context& context, Index n) : ThreadsOf(n < 256 ? 1 : context.threads) {}
  ~ThreadsOf() { omp_set_num_threads(before_); }
  ThreadsOf(const ThreadsOf&) = delete;

 private:
  int before_;
};

template <class Real>
struct Scouted;  // host/run/scouts.hpp

template <class Real>
struct Phases {
  const Options& options;
  const Context& context;
  Target<Real>& target;
  Ensemble<Real>& chains;
  OutputFile& file;
  Reporter& reporter;
  const std::atomic<bool>& stop;
  TimeLimit* limit = nullptr;                         ///< what raises `stop`, where the run has it
  std::shared_ptr<Scouted<Real>>* scouted = nullptr;  ///< of a run of more chains, or what one of fewer shall have
  TargetInCoordinates<Real>* coordinates = nullptr;   ///< `target`, where chains may move in learnt coordinates

  Index dim() const { return target.info().dim; }
  /// Values recorded of each draw: the coordinates, or what the target makes of them.
  Index recorded() const { return static_cast<Index>(target.info().names.size()); }
  /// The first of them, which are summarised and judged: predictions and log likelihoods are not.
  std::size_t num_judged() const { return std::min(target.info().names.size(), target.info().num_posterior); }
  /// Draws in a window of this run.
  std::int64_t window(std::int64_t num_draws) const {
    return window_draws(options.num_chains, window_values(options, target.info(), precision_of<Real>), num_draws,
                        precision_of<Real>);
  }
  /// Points without a finite density or gradient are drawn again. Throws Error (data) when no chain can start.
  void start(const StartingPoints<Real>& points) const {
    std::map<Index, std::vector<Real>> again;
    for (std::int64_t attempt = 1;; ++attempt) {
      chains.start([&](Index first, Index count) {
        std::vector<Real> x = points.of(first, count);
        for (const auto& [chain, point] : again)
          if (chain >= first && chain < first + count)
            std::copy(point.begin(), point.end(), x.begin() + (chain - first) * dim());
        return x;
      });
      if (chains.quarantine().size() == 0 || !points.are_drawn() || attempt > most_starts) break;
      for (const std::int64_t chain : chains.quarantine().chains())
        again[static_cast<Index>(chain)] = points.again(static_cast<Index>(chain), attempt);
    }
    if (chains.any_left()) return;
    const QuarantinedChain& first = chains.quarantine().list()[0];
    const auto tried = again.find(static_cast<Index>(first.chain));
    std::vector<Real> x = tried == again.end() ? points.of(static_cast<Index>(first.chain), 1) : tried->second;
    const bool whole = x.size() <= 8;
    x.resize(std::min<std::size_t>(x.size(), 8));
    throw Error(ExitStatus::data, "no chain can start",
                fmt::format("all {} starting points are refused: {}, as at ({:.6g}{})", options.num_chains,
                            first.reason, fmt::join(x, ", "), whole ? "" : ", ..."),
                "Choose other starting points with --init?");
  }
  /// Along what the density does not fall off, as far as the chains have come: flat_along.
  std::string flat() const {
    std::vector<Real> positions = chains.first_positions();
    if (coordinates) coordinates->to_target(positions);
    return flat_along(options, context, coordinates ? coordinates->plain() : target, positions);
  }
  /// Throws Error (data) when no chain is left.
  void require_chains(std::int64_t iteration) const {
    if (chains.any_left()) return;
    const std::string all = "all " + std::to_string(options.num_chains) + " are quarantined by iteration " +
                            std::to_string(iteration) + "; the first: " + chains.quarantine().list()[0].reason;
    const std::string endless = flat();
    throw Error(ExitStatus::data, "no chain is left", all,
                !endless.empty() ? "The density does not fall off along " + endless + ": has it a prior?"
                : options.sampler == ensemble_sampler
                    ? "Does the target have a finite density where the chains start? Try another --init?"
                    : "If the target has a finite density there, the adaptation was lost: --sampler ensemble_hmc?");
  }
};

}  // namespace kilochain
