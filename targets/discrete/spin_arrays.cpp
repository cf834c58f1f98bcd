#include "targets/discrete/spin_arrays.hpp"

#include <algorithm>
#include <cmath>

namespace kilochain::discrete {

std::vector<std::vector<std::pair<Index, double>>> SpinArrays::rows() const {
  std::vector<std::vector<std::pair<Index, double>>> rows(model_.field.size());
  for (const Edge& e : model_.edges) {
    if (e.coupling == 0) continue;
    rows[static_cast<std::size_t>(e.i)].emplace_back(e.j, e.coupling);
    rows[static_cast<std::size_t>(e.j)].emplace_back(e.i, e.coupling);
  }
  return rows;
}

template <class Site>
std::optional<ClassGraph<Site>> SpinArrays::class_graph() {
  using View = ClassGraph<Site>;
  if (model_.layers || model_.n() > static_cast<std::int64_t>(View::negative)) return {};
  if (!one_field()) return {};
  const auto neighbours = rows();
  double magnitude = 0;
  std::size_t most = 0, least = ~std::size_t(0);
  bool odd = false, even = false;
  for (const auto& row : neighbours) {
    most = std::max(most, row.size()), least = std::min(least, row.size());
    (row.size() % 2 ? odd : even) = true;
    for (const auto& [j, J] : row) {
      if (magnitude == 0) magnitude = std::abs(J);
      if (std::abs(J) != magnitude) return {};
    }
  }
  View v{};
  v.n = model_.n();
  v.degree = static_cast<Index>(most);
  v.shift = odd && even ? 0 : 1;
  v.classes = (2 * v.degree >> v.shift) + 1;
  if (v.classes > View::most) return {};
  v.coupling = magnitude, v.field = model_.field[0], v.offset = model_.offset;
  std::vector<Site> neighbour(std::max<std::size_t>(1, neighbours.size() * most));
  std::vector<std::uint8_t> degrees;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    degrees.push_back(static_cast<std::uint8_t>(neighbours[i].size()));
    for (std::size_t k = 0; k < neighbours[i].size(); ++k) {
      const auto& [j, J] = neighbours[i][k];
      neighbour[i * most + k] = static_cast<Site>(static_cast<Site>(j) | (J < 0 ? View::negative : Site(0)));
    }
  }
  v.neighbour = put(neighbour);
  v.degrees = most == least ? nullptr : put(degrees);
  return v;
}

Graph SpinArrays::graph() {
  const auto neighbours = rows();
  std::vector<std::int32_t> first = {0}, neighbour;
  std::vector<double> coupling;
  for (const auto& row : neighbours) {
    for (const auto& [j, J] : row) neighbour.push_back(j), coupling.push_back(J);
    first.push_back(static_cast<std::int32_t>(neighbour.size()));
  }
  return {put(first), put(neighbour), put(coupling), put(model_.field), model_.n(), model_.offset};
}

Layers SpinArrays::layers() {
  const LayersOfSpins& l = *model_.layers;
  const auto nv = static_cast<std::size_t>(l.visible), nh = static_cast<std::size_t>(l.hidden);
  const auto sv = static_cast<std::size_t>(layer_slots(l.visible)),
             sh = static_cast<std::size_t>(layer_slots(l.hidden));
  std::vector<double> to_hidden(nv * sh), to_visible(nh * sv), field(sv + sh);
  for (std::size_t v = 0; v < nv; ++v)
    for (std::size_t h = 0; h < nh; ++h) to_hidden[v * sh + h] = to_visible[h * sv + v] = l.coupling[v * nh + h];
  std::copy_n(model_.field.begin(), nv, field.begin());
  std::copy_n(model_.field.begin() + l.visible, nh, field.begin() + static_cast<std::ptrdiff_t>(sv));
  return {put(to_hidden), put(to_visible), put(field), l.visible, l.hidden, model_.offset};
}

bool SpinArrays::one_field() const {
  return std::all_of(model_.field.begin(), model_.field.end(), [&](double h) { return h == model_.field[0]; });
}

/// Whether it is a 2-D lattice with one coupling, of `least` rows and columns or more.
bool SpinArrays::is_lattice(Index least) const {
  const SpinModel& m = model_;
  if (m.layers || m.target != "ising" || m.shape.size() != 2 || m.shape[0] < least || m.shape[1] < least) return false;
  const double J = m.edges[0].coupling;
  return std::all_of(m.edges.begin(), m.edges.end(), [&](const Edge& e) { return e.coupling == J; });
}

std::optional<RowLattice> SpinArrays::rows_of_bits() const {
  const SpinModel& m = model_;
  if (!is_lattice(3) || m.shape[0] > 64 || m.shape[1] > 60 || !one_field()) return {};
  return {{m.shape[0], m.shape[1], m.edges[0].coupling, m.field[0], m.offset}};
}

std::optional<PackedLattice::Model> SpinArrays::packed() {
  const SpinModel& m = model_;
  if (!is_lattice(4) || m.hamming || m.shape[0] % 2 || m.shape[1] % 2 || !one_field() || m.field[0] != 0) return {};
  PackedLattice::Model p{};
  p.rows = m.shape[0], p.columns = m.shape[1], p.coupling = m.edges[0].coupling, p.offset = m.offset;
  const Index words = (p.bits() + 63) / 64;
  p.groups = (words + PackedLattice::group - 1) / PackedLattice::group;
  const auto count = static_cast<std::size_t>(p.groups * PackedLattice::group);
  std::vector<PackedLattice::Bits> odd(count), first(count), last(count), valid(count);
  for (Index a = 0; a < p.bits(); ++a) {
    const auto w = static_cast<std::size_t>(a / 64);
    const PackedLattice::Bits bit = PackedLattice::Bits(1) << (a % 64);
    const Index row = a / p.half(), column = a % p.half();
    valid[w] |= bit;
    if (row % 2) odd[w] |= bit;
    if (column == 0) first[w] |= bit;
    if (column == p.half() - 1) last[w] |= bit;
  }
  p.odd = put(odd), p.first = put(first), p.last = put(last), p.valid = put(valid);
  return p;
}

Colours SpinArrays::colours() {
  const auto neighbours = rows();
  std::vector<Index> colour(neighbours.size(), -1);
  Index count = 1;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    std::vector<bool> taken(neighbours[i].size() + 1);
    for (const auto& [j, J] : neighbours[i]) {
      const Index c = colour[static_cast<std::size_t>(j)];
      if (c >= 0 && c < static_cast<Index>(taken.size())) taken[static_cast<std::size_t>(c)] = true;
    }
    colour[i] = static_cast<Index>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    count = std::max(count, colour[i] + 1);
  }
  std::vector<std::int32_t> order, first;
  for (Index c = 0; c < count; ++c) {
    first.push_back(static_cast<std::int32_t>(order.size()));
    for (std::size_t i = 0; i < colour.size(); ++i)
      if (colour[i] == c) order.push_back(static_cast<std::int32_t>(i));
  }
  first.push_back(static_cast<std::int32_t>(order.size()));
  return {put(order), put(first), count};
}

template std::optional<ClassGraph<std::uint16_t>> SpinArrays::class_graph();
template std::optional<ClassGraph<std::uint32_t>> SpinArrays::class_graph();

}  // namespace kilochain::discrete
