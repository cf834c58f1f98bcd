#include "host/tune/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace kilochain {
namespace {

void check(const Dimension& d) {
  const std::string where = fmt::format("{} from {} to {}", d.name, d.low, d.high);
  require(std::isfinite(d.low) && std::isfinite(d.high), ExitStatus::usage, "the range of " + d.name + " has no end",
          where, "Write two finite numbers, low:high?");
  require(d.low <= d.high, ExitStatus::usage, "the range of " + d.name + " is empty", where,
          fmt::format("Its lower bound is above its upper one; try {}:{}?", d.high, d.low));
  require(d.low < d.high, ExitStatus::usage, "the range of " + d.name + " is a single value", where,
          "Set it instead of tuning it?");
  require(!d.log || d.low > 0, ExitStatus::usage, "the range of " + d.name + " has no logarithm", where,
          "Raise the lower bound above 0, or leave out :log?");
  require(!d.whole || (d.low == std::floor(d.low) && d.high == std::floor(d.high)), ExitStatus::usage,
          d.name + " is a whole number", where,
          fmt::format("Try {}:{}?", std::ceil(d.low), std::max(std::ceil(d.low) + 1, std::floor(d.high))));
}

double value_at(const Dimension& d, double u) {
  u = std::clamp(u, 0.0, 1.0);
  const double v = d.log ? d.low * std::pow(d.high / d.low, u) : d.low + u * (d.high - d.low);
  return std::clamp(d.whole ? std::round(v) : v, d.low, d.high);
}

}  // namespace

Box::Box(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {
  require(!dimensions_.empty(), ExitStatus::usage, "nothing to tune", "the box has no dimension",
          "Name settings and their ranges, --over NAME=LOW:HIGH?");
  for (auto d = dimensions_.begin(); d != dimensions_.end(); ++d) {
    check(*d);
    require(std::none_of(dimensions_.begin(), d, [&](const Dimension& o) { return o.name == d->name; }),
            ExitStatus::usage, d->name + " has two ranges", fmt::format("{} dimensions", dimensions_.size()),
            "Keep one?");
  }
}

Point Box::values(const Point& unit) const {
  Point out(size());
  for (std::size_t i = 0; i < size(); ++i) out[i] = value_at(dimensions_[i], unit[i]);
  return out;
}

Point Box::unit(const Point& values) const {
  Point out(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const Dimension& d = dimensions_[i];
    out[i] = d.log ? std::log(values[i] / d.low) / std::log(d.high / d.low) : (values[i] - d.low) / (d.high - d.low);
  }
  return out;
}

std::vector<double> Box::axis(std::size_t dimension, std::size_t count) const {
  const Dimension& d = dimensions_[dimension];
  std::vector<double> out;
  for (std::size_t k = 0; k < count; ++k)
    out.push_back(value_at(d, count > 1 ? static_cast<double>(k) / (count - 1) : 0.5));
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Point> Box::grid(std::size_t count) const {
  std::vector<Point> out = {{}};
  for (std::size_t i = 0; i < size(); ++i) {
    std::vector<Point> longer;
    for (const Point& p : out)
      for (const double v : axis(i, count)) {
        longer.push_back(p);
        longer.back().push_back(v);
      }
    out = std::move(longer);
  }
  return out;
}

}  // namespace kilochain
