#include "host/run/recorded_values.hpp"

#include <algorithm>
#include <cmath>

#include "host/chains/thread_team.hpp"
#include "host/run/unequal_modes.hpp"

namespace kilochain {

template <class Real>
RecordedValues<Real>::RecordedValues(const Phases<Real>& run, std::vector<double> in_modes)
    : run_(run),
      info_(run.target.info()),
      coordinates_(run.coordinates && run.coordinates->moves() ? run.coordinates : nullptr),
      symmetries_(run.coordinates && run.coordinates->symmetries().any() ? &run.coordinates->symmetries() : nullptr),
      overlaid_(run.coordinates && run.coordinates->overlay().any()),
      in_modes_(std::move(in_modes)) {
  if (overlaid_) in_modes_.resize(run.coordinates->overlay().size());
}

template <class Real>
void RecordedValues<Real>::put_into(Window<Real>& window) {
  if (!info_.constrain && !coordinates_ && !symmetries_ && !overlaid_) return;
  const auto width = std::ssize(info_.names);
  const Count dim = window.draws.columns;
  std::vector<Real>& memory = memory_[turn_ = 1 - turn_];
  memory.resize(static_cast<std::size_t>(window.draws.planes * window.draws.rows * width));
  const View3<Real> values{memory.data(), window.draws.planes, window.draws.rows, width};
  std::vector<double>& lp = lp_[turn_];
  const bool other_lp = coordinates_ || overlaid_;
  if (other_lp) lp.assign(window.lp.data, window.lp.data + window.lp.rows * window.lp.columns);
  if (overlaid_) into_modes(window, lp);
  in_team(run_.context.threads, [&](const TeamMember& member) {
    const auto all = static_cast<std::size_t>(window.count);
    std::vector<double> x(all * static_cast<std::size_t>(dim)), added(all), v(static_cast<std::size_t>(width));
    for (Count c = member.rank; c < values.planes; c += member.size) {
      const Real* const from = overlaid_ ? points_.data() + c * window.count * dim : window.draws.row(c, 0).data;
      std::copy_n(from, x.size(), x.begin());
      if (coordinates_ && !overlaid_) coordinates_->to_target(x.data(), window.count, added.data());
      for (Count s = 0; s < window.count; ++s) {
        if (std::isnan(from[s * dim])) {  // not drawn
          std::fill(v.begin(), v.end(), NAN);
        } else {
          record(x.data() + s * dim, {run_.options.seed, c, window.first + s}, v);
          if (other_lp) lp[static_cast<std::size_t>(c * window.lp.columns + s)] -= added[static_cast<std::size_t>(s)];
        }
        std::transform(v.begin(), v.end(), values.row(c, s).data, [](double one) { return static_cast<Real>(one); });
      }
    }
  });
  window.draws = {values.data, values.planes, values.rows, values.columns};
  if (other_lp) window.lp = {lp.data(), window.lp.rows, window.lp.columns};
  for (Divergence& d : window.divergences) {
    std::vector<double> v(static_cast<std::size_t>(width));
    if (coordinates_) coordinates_->to_target(d.point.data(), 1);  // of modes the first one's: one of the target's
    record(d.point.data(), {run_.options.seed, d.chain, d.draw}, v);
    d.point = std::move(v);
  }
}

/// The window's points go to images of theirs in the modes, and lp to the target's there.
template <class Real>
void RecordedValues<Real>::into_modes(const Window<Real>& window, std::vector<double>& lp) {
  const Count dim = window.draws.columns;
  points_.clear();
  for (Count c = 0; c < window.draws.planes; ++c)
    points_.insert(points_.end(), window.draws.row(c, 0).data, window.draws.row(c, 0).data + window.count * dim);
  run_.coordinates->to_target(points_);
  const InModes there = put_into_modes(run_, points_, [&](std::int64_t k) {
    return DrawId{run_.options.seed, k / window.count, window.first + k % window.count};
  });
  for (Count c = 0, k = 0; c < window.draws.planes; ++c)
    for (Count s = 0; s < window.count; ++s, ++k) {
      lp[static_cast<std::size_t>(c * window.lp.columns + s)] = there.lp[static_cast<std::size_t>(k)];
      if (const int mode = there.modes[static_cast<std::size_t>(k)]; mode >= 0)
        ++in_modes_[static_cast<std::size_t>(mode)];
    }
}

/// Of a point of the target's, which moves to one of its images.
template <class Real>
void RecordedValues<Real>::record(double* x, const DrawId& draw, std::vector<double>& recorded) const {
  const bool in_all = run_.options.equal_modes == EqualModes::all;
  if (symmetries_ && in_all) symmetries_->at_random(x, draw);
  if (symmetries_ && !in_all) symmetries_->gather(x);
  if (info_.constrain)
    info_.constrain(x, draw, recorded.data());
  else
    recorded.assign(x, x + info_.dim);
}

template class RecordedValues<float>;
template class RecordedValues<double>;

}  // namespace kilochain
