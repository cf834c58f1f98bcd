#include "targets/discrete/ising.hpp"

#include <fmt/format.h>

#include <charconv>
#include <set>

namespace kilochain::discrete {
namespace {

std::vector<Index> parse_size(const std::string& text) {
  std::vector<Index> shape;
  std::int64_t n = 1;
  const auto refuse = [&](const char* why) {
    throw Error(ExitStatus::usage, "ising: size = " + text, why, "Try --size 60x60?");
  };
  for (const char *p = text.data(), *end = p + text.size();;) {
    Index extent = 0;
    const auto [next, error] = std::from_chars(p, end, extent);
    if (error != std::errc() || extent < 1) refuse("must be whole numbers of at least 1, with x between them");
    shape.push_back(extent);
    if ((n *= extent) > (1 << 24)) refuse("more than 16777216 spins");
    if (next == end) break;
    if (*next != 'x') refuse("must be whole numbers of at least 1, with x between them");
    p = next + 1;
  }
  return shape;
}

}  // namespace

SpinModel Ising::read(const Settings& s) {
  SpinModel m;
  m.target = "ising";
  m.shape = parse_size(s.size);
  Index n = 1;
  for (const Index size : m.shape) n *= size;
  m.field.assign(static_cast<std::size_t>(n), s.field);
  m.edges = lattice_edges(m.shape, s.coupling);
  m.expert = m.shape.size() == 2 ? "2d" : m.shape.size() == 3 ? "3d" : "";
  if (!s.couplings.empty()) {
    std::set<std::pair<Index, Index>> lattice;
    for (const Edge& e : m.edges) lattice.insert(std::minmax(e.i, e.j));
    m.edges = read_couplings(s.couplings, n);
    for (std::size_t k = 0; k < m.edges.size(); ++k) {
      const Edge& e = m.edges[k];
      require(lattice.count(std::minmax(e.i, e.j)) > 0, ExitStatus::data,
              s.couplings + ": an edge is none of the lattice's",
              fmt::format("line {}: {} and {} are no neighbours on {}", k + 2, e.i, e.j, s.size),
              "Is the size right? --target spin_glass takes any graph.");
    }
    require(m.edges.size() == lattice.size(), ExitStatus::data, s.couplings + ": edges are missing",
            fmt::format("{} edges, the lattice {} has {}", m.edges.size(), s.size, lattice.size()),
            "Write J = 0 where there is none?");
  }
  finish(m, s);
  return m;
}

}  // namespace kilochain::discrete
