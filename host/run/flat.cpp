#include "host/run/flat.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "host/run/coordinate_name.hpp"
#include "host/run/start.hpp"

namespace kilochain {
namespace {

constexpr double far = 100;
constexpr double hopeless = -1e15;  // log density of a starting point that is so far out that all others are above it

/// Log densities at (count, dim) points.
template <class Real>
std::vector<double> values_at(const Context& context, Target<Real>& target, const std::vector<Real>& x) {
  const std::size_t n = static_cast<std::size_t>(target.info().dim), row = padded(n + (n == 1)), count = x.size() / n;
  std::vector<Real> rows(count * row);
  for (std::size_t k = 0; k < count; ++k) std::copy_n(x.data() + k * n, n, rows.data() + k * row);
  Buffer<Real> point(context, rows.size()), direction(context, rows.size()), gradient(context, rows.size()),
      product(context, rows.size());
  Buffer<double> lp(context, count), signal(context, count);
  Buffer<Needs> needs(context, count);
  point.upload(rows.data());
  needs.upload(std::vector<Needs>(count, Needs::value).data());
  target.evaluate({point.data(), direction.data(), gradient.data(), product.data(), lp.data(), signal.data(),
                   needs.data(), row, Needs::value},
                  0, static_cast<Index>(count));
  synchronize(context);
  return lp.host();
}

/// Whether what is recorded at x are numbers: the exponential of a coordinate may be none.
template <class Real>
bool is_recorded(const TargetInfo& info, const Real* x) {
  if (!info.constrain) return true;
  const std::vector<double> at(x, x + info.dim);
  std::vector<double> recorded(info.names.size());
  info.constrain(at.data(), {}, recorded.data());
  return std::all_of(recorded.begin(), recorded.end(), [](double v) { return std::isfinite(v); });
}

/// Whether the density has no end along coordinate j, one way or the other, seen from x.
template <class Real>
bool is_flat(const Context& context, Target<Real>& target, const std::vector<Real>& x, std::size_t j) try {
  const bool narrow = sizeof(Real) == 4;
  for (const double way : {1.0, -1.0}) {
    std::vector<Real> points = x;
    for (const double distance : {1e2, 1e4, 1e8, narrow ? 1e12 : 1e16, narrow ? 1e15 : 1e30}) {
      std::vector<Real> moved = x;
      moved[j] += static_cast<Real>(way * distance * (1 + std::abs(double(x[j]))));
      if (!is_recorded(target.info(), moved.data())) break;
      points.insert(points.end(), moved.begin(), moved.end());
    }
    const std::vector<double> lp = values_at(context, target, points);
    if (lp[0] < hopeless) return false;
    const auto stays = [&](double value) { return std::isfinite(value) && value >= lp[0] - 0.5; };
    if (lp.size() > 1 && std::all_of(lp.begin(), lp.end(), stays)) return true;
  }
  return false;
} catch (const Error&) {  // a model refuses to be evaluated there
  return false;
}

}  // namespace

template <class Real>
std::string flat_along(const Options& options, const Context& context, Target<Real>& target,
                       const std::vector<Real>& positions) {
  const TargetInfo& info = target.info();
  const std::size_t n = static_cast<std::size_t>(info.dim);
  if (info.spin_model) return "";
  const StartingPoints<Real> starts(options, info.dim);
  const std::vector<Real> first = starts.of(0, 1), second = starts.of(static_cast<Index>(options.num_chains) - 1, 1);
  std::string out;
  std::int64_t more = 0;
  for (std::size_t j = 0; j < n; ++j) {
    bool gone = false;
    for (std::size_t k = j; k < positions.size(); k += n)
      gone = gone || !(std::abs(double(positions[k]) - double(first[j])) <= far);
    if (!gone || !is_flat(context, target, first, j) || !is_flat(context, target, second, j)) continue;
    if (more++ < 3) out += (out.empty() ? "" : ", ") + name_of_coordinate(info, static_cast<std::int64_t>(j));
  }
  return more > 3 ? out + " and " + std::to_string(more - 3) + " more" : out;
}

template std::string flat_along(const Options&, const Context&, Target<float>&, const std::vector<float>&);
template std::string flat_along(const Options&, const Context&, Target<double>&, const std::vector<double>&);

}  // namespace kilochain
