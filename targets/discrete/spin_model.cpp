#include "targets/discrete/spin_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "targets/data/dataset.hpp"

namespace kilochain::discrete {

bool SpinModel::fixes_magnetization() const {
  return hamming && std::all_of(reference.begin(), reference.end(), [&](std::int8_t r) { return r == reference[0]; });
}

std::vector<double> SpinModel::local_fields(const std::int8_t* spins) const {
  std::vector<double> f = field;
  for (const Edge& e : edges) {
    f[static_cast<std::size_t>(e.i)] += e.coupling * spins[e.j];
    f[static_cast<std::size_t>(e.j)] += e.coupling * spins[e.i];
  }
  if (layers)
    for (Index v = 0; v < layers->visible; ++v)
      for (Index h = 0; h < layers->hidden; ++h) {
        const double J = layers->coupling[layers->place(v, h)];
        f[static_cast<std::size_t>(v)] += J * spins[layers->visible + h];
        f[static_cast<std::size_t>(layers->visible + h)] += J * spins[v];
      }
  return f;
}

double SpinModel::energy(const std::int8_t* spins) const {
  const std::vector<double> f = local_fields(spins);
  double twice = 0;
  for (std::size_t i = 0; i < f.size(); ++i) twice += (f[i] + field[i]) * spins[i];
  return offset - 0.5 * twice;
}

SpinModel SpinModel::turned() const {
  SpinModel m = *this;
  const auto r = [&](Index i) { return static_cast<double>(reference[static_cast<std::size_t>(i)]); };
  for (Edge& e : m.edges) e.coupling *= r(e.i) * r(e.j);
  if (m.layers)
    for (Index v = 0; v < layers->visible; ++v)
      for (Index h = 0; h < layers->hidden; ++h)
        m.layers->coupling[layers->place(v, h)] *= r(v) * r(layers->visible + h);
  for (Index i = 0; i < n(); ++i) {
    auto& h = m.field[static_cast<std::size_t>(i)];
    if (h != 0) h *= -r(i);  // no -0: fields are compared
  }
  m.reference.assign(m.field.size(), -1);
  return m;
}

void finish(SpinModel& m, const SpinSettings& s) {
  m.beta = s.beta;
  m.reference.assign(m.field.size(), -1);
  if (!s.reference.empty()) {
    const Matrix file = read_matrix(s.reference);
    require(file.values.size() == m.field.size(), ExitStatus::data, s.reference + ": a reference of the wrong length",
            fmt::format("{} numbers, the model has {} spins", file.values.size(), m.n()),
            "Write -1 or 1 for each spin?");
    for (std::size_t i = 0; i < file.values.size(); ++i) {
      require(std::abs(file.values[i]) == 1, ExitStatus::data, s.reference + ": a spin is neither -1 nor 1",
              fmt::format("number {} is {}", i + 1, file.values[i]), "Write 0 as -1?");
      m.reference[i] = static_cast<std::int8_t>(file.values[i]);
    }
  }
  if (!s.hamming) return;
  require(*s.hamming > 0, ExitStatus::usage, fmt::format("{}: hamming = {}", m.target, *s.hamming),
          "the slice is the reference alone: nothing can move",
          fmt::format("Try --hamming {}?", std::max<Index>(1, m.n() / 2)));
  require(*s.hamming <= m.n(), ExitStatus::usage, fmt::format("{}: hamming = {}", m.target, *s.hamming),
          fmt::format("the slice is larger than the model of {} spins, so it is empty", m.n()),
          fmt::format("Try --hamming {}?", std::max<Index>(1, m.n() / 2)));
  m.hamming = static_cast<Index>(*s.hamming);
}

std::vector<Edge> read_couplings(const std::string& path, Index& num_nodes) {
  const Table table = read_csv(path);
  const std::vector<std::string> wanted = {"i", "j", "J"};
  require(table.columns == wanted, ExitStatus::data, path + ": not a table of couplings",
          fmt::format("columns {}, expected i, j, J", fmt::join(table.columns, ", ")),
          "Begin with the line i,j,J, then an edge a line?");
  const double most = num_nodes > 0 ? num_nodes : double(1 << 24);
  std::vector<Edge> edges;
  std::map<std::pair<Index, Index>, std::size_t> seen;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const double* v = table.values.data() + row * 3;
    const auto where = [&] { return fmt::format("line {}: i = {}, j = {}", row + 2, v[0], v[1]); };
    for (int k = 0; k < 2; ++k)
      require(v[k] >= 0 && v[k] < most && v[k] == std::floor(v[k]), ExitStatus::data,
              fmt::format("{}: a coupling names a node out of range", path), where(),
              num_nodes > 0 ? fmt::format("Nodes are 0 to {}: is the size right?", num_nodes - 1)
                            : "Number the nodes 0, 1, 2, ...?");
    const Edge e{static_cast<Index>(v[0]), static_cast<Index>(v[1]), v[2]};
    require(e.i != e.j, ExitStatus::data, path + ": a node is coupled to itself", where(),
            "Remove the line? It would only add a constant.");
    const auto [at, fresh] = seen.emplace(std::minmax(e.i, e.j), row);
    if (!fresh) {
      const Edge& first = edges[at->second];
      const bool both_ways = first.i == e.j && first.coupling != e.coupling;
      throw Error(ExitStatus::data,
                  fmt::format("{}: {}", path, both_ways ? "the couplings are not symmetric" : "an edge is given twice"),
                  fmt::format("{}, J = {}; line {} has J = {}", where(), e.coupling, at->second + 2, first.coupling),
                  "Write each edge once, in one direction?");
    }
    edges.push_back(e);
  }
  if (num_nodes == 0)
    for (const Edge& e : edges) num_nodes = std::max({num_nodes, e.i + 1, e.j + 1});
  return edges;
}

std::vector<Edge> lattice_edges(const std::vector<Index>& shape, double coupling) {
  const Index n = std::accumulate(shape.begin(), shape.end(), Index(1), std::multiplies<>());
  std::vector<Edge> edges;
  for (Index i = 0; i < n; ++i) {
    Index stride = n;
    for (const Index size : shape) {
      stride /= size;
      const Index at = i / stride % size;
      if (size == 1 || (size == 2 && at == 1)) continue;
      edges.push_back({i, at + 1 < size ? i + stride : i - at * stride, coupling});
    }
  }
  return edges;
}

template <class Real>
SpinTarget<Real>::SpinTarget(SpinModel model) {
  TargetInfo& info = this->info_;
  info.dim = 2;
  info.names = {"energy", "magnetization"};
  info.variables = {{"energy", {}}, {"magnetization", {}}};
  info.offers = Needs::nothing;
  if (model.fixes_magnetization()) info.fixed = {"magnetization"};
  for (const Index size : model.shape) info.spins.push_back(static_cast<std::size_t>(size));
  info.bytes = static_cast<double>(model.edges.size()) * 24 +
               (model.layers ? 16.0 : 0.0) * static_cast<double>(model.layers ? model.layers->coupling.size() : 0);
  info.spin_model = std::make_shared<const SpinModel>(std::move(model));
}

template <class Real>
std::string SpinTarget<Real>::evaluation() const {
  return "spins: the sampler flips them on the model itself, one after another";
}

template class SpinTarget<float>;
template class SpinTarget<double>;

}  // namespace kilochain::discrete
