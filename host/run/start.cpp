#include "host/run/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_of.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {
namespace {

/// (rows, dim): one row, or one for each chain.
std::vector<double> file_points(const Options& o, const std::string& path, std::size_t dim) {
  Matrix m = read_matrix(path);
  require(m.columns == dim || (m.columns == 1 && m.rows == dim), ExitStatus::data,
          path + ": starting points of the wrong dimension",
          fmt::format("{} columns, the target has dimension {}", m.columns, dim),
          "Write one row of the target's coordinates for each chain?");
  const std::size_t rows = m.columns == dim ? m.rows : 1;
  require(rows == 1 || rows == static_cast<std::size_t>(o.num_chains), ExitStatus::data,
          path + ": the wrong number of starting points", fmt::format("{} rows, {} chains", rows, o.num_chains),
          fmt::format("Write one row for all chains, or set --num-chains {}?", rows));
  return {m.values.begin(), m.values.end()};
}

double spread(const std::string& init) {
  if (init == "normal") return 1;
  const double sd = init.starts_with("normal:") ? number_of<double>(init.substr(7)).value_or(0) : 0;
  require(sd > 0 && std::isfinite(sd), ExitStatus::usage, "init = " + init,
          "must be normal, normal:SD with SD > 0, zeros or file:PATH", "Try --init normal?");
  return sd;
}

}  // namespace

template <class Real>
StartingPoints<Real>::StartingPoints(const Options& o, Index dim)
    : seed_(o.seed), dim_(dim), superchains_(std::max<std::int64_t>(1, o.superchains)) {
  if (o.init == "zeros") return;
  if (!o.init.starts_with("file:")) {
    sd_ = spread(o.init);
    return;
  }
  const auto points = file_points(o, o.init.substr(5), dim_);
  points_.assign(points.begin(), points.end());
}

template <class Real>
std::vector<Real> StartingPoints<Real>::of(Index first, Index count) const {
  return drawn(first, count, 0);
}

template <class Real>
std::vector<Real> StartingPoints<Real>::of_scouts(Index count) const {
  std::vector<Real> x = of(0, count);
  if (sd_ > 0 || !points_.empty()) return x;
  StartingPoints about = *this;
  about.sd_ = 1;
  const std::vector<Real> drawn = about.of(0, count);
  for (std::size_t s = 1; s < static_cast<std::size_t>(count); s += 2)
    std::copy_n(drawn.begin() + static_cast<std::ptrdiff_t>(s * dim_), dim_,
                x.begin() + static_cast<std::ptrdiff_t>(s * dim_));
  return x;
}

template <class Real>
std::vector<Real> StartingPoints<Real>::drawn(Index first, Index count, std::int64_t attempt) const {
  std::vector<Real> x(dim_ * count, Real(0));
  std::vector<Real> row(padded(dim_) + 32);
  for (Index c = 0; c < count; ++c) {
    auto* to = x.data() + dim_ * c;
    const auto number = static_cast<Index>(superchains_ > 1 ? (first + c) % superchains_ : first + c);
    if (!points_.empty()) {
      const std::size_t at = points_.size() == dim_ ? 0 : dim_ * number;
      std::copy_n(points_.data() + at, dim_, to);
    } else if (sd_ > 0) {
      normals(HostTeam{}, Rng{seed_, static_cast<std::uint32_t>(number), attempt}, Purpose::start,
              Row(row.data(), row.size()), static_cast<Index>(dim_));
      std::transform(row.data(), row.data() + dim_, to, [&](Real z) { return static_cast<Real>(sd_) * z; });
    }
  }
  return x;
}

template class StartingPoints<float>;
template class StartingPoints<double>;

}  // namespace kilochain
