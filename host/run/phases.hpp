// What the phases of a run share. Each phase owns what it needs besides and hands on a value: WarmedUp, then Sampled.
#pragma once
#include "host/run/ensemble.hpp"
#include "host/run/output_file.hpp"
#include "host/run/start.hpp"

namespace kilochain {

template <class Real>
struct Phases {
  const Options& options;
  const Context& context;
  Target<Real>& target;
  Ensemble<Real>& chains;
  OutputFile& file;
  Reporter& reporter;
  const std::atomic<bool>& stop;

  Index dim() const { return target.info().dim; }
  /// Values recorded of each draw: the coordinates, or what the target makes of them.
  Index recorded() const { return static_cast<Index>(target.info().names.size()); }
  /// Draws in a window of this run.
  std::int64_t window(std::int64_t num_draws) const {
    return window_draws(options.num_chains, window_values(options, target.info(), precision_of<Real>), num_draws,
                        precision_of<Real>);
  }
  /// Throws Error (data) when no chain can start.
  void start(const StartingPoints<Real>& points) const {
    chains.start([&](Index first, Index count) { return points.of(first, count); });
    require(chains.any_left(), ExitStatus::data, "no chain can start",
            "all " + std::to_string(options.num_chains) +
                " starting points are refused: " + (chains.any_left() ? "" : chains.quarantine().list()[0].reason),
            "Choose other starting points with --init?");
  }
  /// Throws Error (data) when no chain is left.
  void require_chains(std::int64_t iteration) const {
    require(
        chains.any_left(), ExitStatus::data, "no chain is left",
        "all " + std::to_string(options.num_chains) + " are quarantined by iteration " + std::to_string(iteration),
        "Does the target have a finite density where the chains start? Try another --init or a smaller initial step?");
  }
};

}  // namespace kilochain
