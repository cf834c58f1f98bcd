// A spin model's arrays where its replicas run, as each kind of board wants them. Models are turned: reference all -1.
#pragma once
#include <list>
#include <optional>

#include "kernels/discrete/packed_lattice.hpp"
#include "kernels/discrete/row_board.hpp"
#include "targets/discrete/spin_model.hpp"

namespace kilochain::discrete {

class SpinArrays {
 public:
  SpinArrays(const Context& context, const SpinModel& model) : context_(context), model_(model) {}

  /// Nothing unless all couplings have one magnitude, all fields are one, and degrees are small.
  template <class Site>
  std::optional<ClassGraph<Site>> class_graph();
  Graph graph();
  Layers layers();
  /// Nothing unless it is a free 2-D lattice of even sizes of 4 or more, all couplings J and no field.
  std::optional<PackedLattice::Model> packed();
  /// Nothing unless it is a 2-D lattice of 3 to 64 rows and 3 to 60 columns, all couplings J and all fields h.
  std::optional<RowLattice> rows_of_bits() const;
  /// Greedy, in the order of the nodes: two colours on lattices of even sizes.
  Colours colours();

 private:
  template <class T>
  const T* put(const std::vector<T>& values) {
    auto& buffer = buffers_.emplace_back(context_, values.size() * sizeof(T) + 1);
    copy_to_device(context_, buffer.data(), values.data(), values.size() * sizeof(T));
    return reinterpret_cast<const T*>(buffer.data());
  }
  /// Neighbours and couplings of each node; couplings of zero are left out.
  std::vector<std::vector<std::pair<Index, double>>> rows() const;

  Context context_;
  bool one_field() const;
  bool is_lattice(Index least) const;
  const SpinModel& model_;
  std::list<Buffer<char>> buffers_;
};

}  // namespace kilochain::discrete
