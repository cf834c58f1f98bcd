// A model of spins -1 or +1, as read and checked, on the host:
//   E(S) = offset - sum_edges J_ij S_i S_j - sum_i h_i S_i,  law exp(-beta E), each edge once
// free, or on a slice: `hamming` spins differ from the reference. Energies know no slice. Samplers work on the model
// turned to its reference: T_i = -r_i S_i, J_ij r_i r_j, -h_i r_i, so that "up" means "differs from the reference".
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "targets/target.hpp"

namespace kilochain::discrete {

struct Edge {
  Index i, j;
  double coupling;
};

/// Two layers, each spin of one coupled to all of the other.
struct LayersOfSpins {
  Index visible = 0, hidden = 0;
  std::vector<double> coupling;  ///< (visible, hidden)
  std::size_t place(Index v, Index h) const { return static_cast<std::size_t>(v) * hidden + h; }
};

struct SpinModel {
  std::string target;        ///< its name, for messages
  std::vector<Index> shape;  ///< of the spins; their product is n
  std::vector<Edge> edges;   ///< of a graph; none of a model in layers
  std::optional<LayersOfSpins> layers;
  std::vector<double> field;  ///< h: (n)
  double offset = 0, beta = 1;
  std::optional<Index> hamming;        ///< spins that differ from the reference; empty: the free model
  std::vector<std::int8_t> reference;  ///< (n), -1 or +1
  std::string expert;                  ///< whose settings of the thesis fit: 2d, 3d, rbm; empty: none

  Index n() const { return static_cast<Index>(field.size()); }
  /// Whether all states of its set have one magnetization: a slice about a reference of equal spins.
  bool fixes_magnetization() const;
  /// Of spins (n), -1 or +1.
  double energy(const std::int8_t* spins) const;
  /// f_i for every spin.
  std::vector<double> local_fields(const std::int8_t* spins) const;
  /// The same model in T_i = -r_i S_i: its reference is all -1.
  SpinModel turned() const;
};

/// What every model's settings have besides its own.
struct SpinSettings {
  double beta = 1;
  std::optional<std::int64_t> hamming;
  std::string reference;
  template <class V>
  static void settings(V&& visit, SpinSettings& s) {
    visit("beta", s.beta, at_least(0), "inverse temperature: the law is exp(-beta E)");
    visit("hamming", s.hamming, at_least(0), "spins that differ from the reference; auto: any number, the free model");
    visit("reference", s.reference, "file with the reference, -1 or 1 a line; all -1 without one");
  }
};
/// Puts beta, slice and reference into the model. Throws Error (usage) for a slice that is empty or larger than the
/// model, (data) for a reference of the wrong length or with other numbers.
void finish(SpinModel& model, const SpinSettings& settings);

/// Couplings from a CSV with columns i, j, J, each edge once, nodes from 0 on. num_nodes: 0 to take the largest node.
/// Throws Error (data), with the line, for a node out of range or not whole, one coupled to itself, an edge that is
/// given twice, or both ways with different couplings; for NaN as read_csv does.
std::vector<Edge> read_couplings(const std::string& path, Index& num_nodes);

/// The edges of a periodic lattice: each spin to the next along every axis of 3 or more; an axis of 2 has one edge, not
/// two, an axis of 1 none. Node index: row-major.
std::vector<Edge> lattice_edges(const std::vector<Index>& shape, double coupling);

/// A spin model as a run's target: it records energy and magnetization, and has no density to evaluate.
template <class Real>
class SpinTarget final : public Target<Real> {
 public:
  explicit SpinTarget(SpinModel model);
  void evaluate(const Exchange<Real>&, Index, Index) override {}
  std::string evaluation() const override;
};

}  // namespace kilochain::discrete
