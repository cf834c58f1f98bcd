#include "host/run/start.hpp"

#include <fmt/format.h>

#include <charconv>

#include "targets/data/dataset.hpp"

namespace kilochain {
namespace {

std::vector<double> file_points(const Options& o, const std::string& path, Index first, Index count, Index dim) {
  const Matrix m = read_matrix(path);
  const std::size_t n = static_cast<std::size_t>(dim);
  require(m.columns == n || (m.columns == 1 && m.rows == n), ExitStatus::data,
          path + ": starting points of the wrong dimension",
          fmt::format("{} columns, the target has dimension {}", m.columns, dim),
          "Write one row of the target's coordinates for each chain?");
  const std::size_t rows = m.columns == n ? m.rows : 1;
  require(rows == 1 || rows == static_cast<std::size_t>(o.num_chains), ExitStatus::data,
          path + ": the wrong number of starting points", fmt::format("{} rows, {} chains", rows, o.num_chains),
          fmt::format("Write one row for all chains, or set --num-chains {}?", rows));
  std::vector<double> x;
  for (Index c = first; c < first + count; ++c)
    for (std::size_t i = 0; i < n; ++i) x.push_back(m.values[(rows == 1 ? 0 : static_cast<std::size_t>(c) * n) + i]);
  return x;
}

}  // namespace

template <class Real>
std::vector<Real> starting_points(const Options& o, Index first, Index count, Index dim) {
  const std::size_t n = static_cast<std::size_t>(dim);
  std::vector<Real> x(n * static_cast<std::size_t>(count), Real(0));
  if (o.init == "zeros") return x;
  if (o.init.rfind("file:", 0) == 0) {
    const auto points = file_points(o, o.init.substr(5), first, count, dim);
    return {points.begin(), points.end()};
  }
  double sd = 1;
  const bool plain = o.init == "normal";
  if (!plain) {
    const std::string text = o.init.rfind("normal:", 0) == 0 ? o.init.substr(7) : "";
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sd);
    require(!text.empty() && error == std::errc() && end == text.data() + text.size() && sd > 0 && std::isfinite(sd),
            ExitStatus::usage, "init = " + o.init, "must be normal, normal:SD with SD > 0, zeros or file:PATH",
            "Try --init normal?");
  }
  std::vector<Real> row(padded(n) + 32);
  for (Index c = 0; c < count; ++c) {
    normals(HostTeam{}, Rng{o.seed, static_cast<std::uint32_t>(first + c), 0}, Purpose::start,
            Row(row.data(), row.size()), dim);
    for (std::size_t i = 0; i < n; ++i) x[static_cast<std::size_t>(c) * n + i] = static_cast<Real>(sd) * row[i];
  }
  return x;
}

template std::vector<float> starting_points(const Options&, Index, Index, Index);
template std::vector<double> starting_points(const Options&, Index, Index, Index);

}  // namespace kilochain
