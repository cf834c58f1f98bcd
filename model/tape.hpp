// Reverse-mode automatic differentiation on the host: operations write their derivatives to the thread's tape, and one
// sweep back over it gives the derivative along every input (Griewank and Walther 2008, ch. 6). Base: double for
// gradients, Dual<double, 1> for the Hessian times a direction.
// Layout: a node for each result holds up to two operands and the derivative along each; more operands stand in a list,
// and a weighted sum of inputs copies its weights. Cost: 24 bytes a node, 16 a listed operand, 8 a weight; the tape
// keeps its memory for the next evaluation. Why beside duals: docs/decisions/0006-automatic-differentiation.md.
#pragma once
#include <vector>

#include "model/dual.hpp"

namespace kilochain {

template <class Base>
class Tape {
 public:
  /// Of this thread, empty, with the inputs as nodes 0 .. inputs - 1. Every Var of an earlier evaluation is void.
  static Tape& start(Index inputs) {
    thread_local Tape own;
    current = &own;
    own.inputs_ = inputs;
    own.nodes_.clear();
    own.many_.clear();
    own.listed_.clear();
    own.waiting_.clear();
    own.weights_.clear();
    return own;
  }
  /// The tape that operations of this thread are written to.
  static inline constinit thread_local Tape* current = nullptr;

  /// A result of node `a`, or of `a` and `b`, given its derivatives along them; -1: a number, which has none.
  Index add(Index a, const Base& slope_a, Index b = -1, const Base& slope_b = 0.0) {
    nodes_.push_back({{slope_a, slope_b}, {a, b}});
    return inputs_ + static_cast<Index>(nodes_.size()) - 1;
  }
  /// Operands of a result of many, while others are still being computed: a stack, as one list may be inside another.
  std::size_t waiting() const { return waiting_.size(); }
  void wait(Index node, const Base& slope) {
    if (node >= 0) waiting_.push_back({slope, node});
  }
  /// The result of those that wait since `from`; -1 when there are none.
  Index result_of_waiting(std::size_t from) {
    if (waiting_.size() == from) return -1;
    many_.push_back({-1, static_cast<Index>(waiting_.size() - from), listed_.size()});
    listed_.insert(listed_.end(), waiting_.begin() + static_cast<std::ptrdiff_t>(from), waiting_.end());
    waiting_.resize(from);
    return add(-1 - static_cast<Index>(many_.size()), 0.0);
  }
  /// The result of inputs first .. first + n - 1 with derivatives weight[i], which are copied.
  Index weigh(const double* weight, Index first, Index n) {
    many_.push_back({first, n, weights_.size()});
    weights_.insert(weights_.end(), weight, weight + n);
    return add(-1 - static_cast<Index>(many_.size()), 0.0);
  }
  /// Derivatives of `node` along the inputs: as many values, valid until the next start.
  const Base* sweep(Index node) {
    adjoints_.assign(1 + static_cast<std::size_t>(inputs_) + nodes_.size(), Base(0.0));
    Base* const adjoint = adjoints_.data() + 1;  // of node -1 as well, which nobody reads
    if (node >= 0) adjoint[node] = 1.0;          // otherwise it depends on no input
    for (Index k = node; k >= inputs_; --k) {
      const Node& result = nodes_[static_cast<std::size_t>(k - inputs_)];
      const Base along = adjoint[k];
      if (is_zero(along)) continue;  // not used: an infinite derivative does not matter
      if (result.operand[0] >= -1) {
        adjoint[result.operand[0]] += along * result.slope[0];
        adjoint[result.operand[1]] += along * result.slope[1];
      } else {
        spread(many_[static_cast<std::size_t>(-2 - result.operand[0])], along, adjoint);
      }
    }
    return adjoint;
  }

  /// Whether a sweep is expected to take less time than duals along all inputs, `directions` at a time. Nanoseconds
  /// measured on models of 8 to 500 coordinates (docs/decisions/0006-automatic-differentiation.md); from what the tape
  /// holds and not from a clock, so that a run draws the same again.
  bool is_quicker_than_duals(int directions) const {
    const double passes = (inputs_ + directions - 1) / directions;
    const auto nodes = static_cast<double>(nodes_.size() + listed_.size()),
               weights = static_cast<double>(weights_.size());
    const double bytes = sizeof(Node) * nodes + sizeof(double) * weights;
    return bytes < 1e9 && 4 * nodes + 0.3 * weights < passes * (1.5 * nodes + 0.16 * weights);
  }

 private:
  struct Node {
    Base slope[2];
    Index operand[2];  ///< -1: none; the first -2 - k: many_[k]
  };
  struct Listed {
    Base slope;
    Index node;
  };
  struct Many {
    Index first, n;  ///< first >= 0: of the inputs, with weights
    std::size_t at;  ///< in weights_, otherwise in listed_
  };
  void spread(const Many& many, const Base& along, Base* adjoint) const {
    if (many.first >= 0) {
      Base* __restrict const to = adjoint + many.first;
      const double* __restrict const weight = weights_.data() + many.at;
      for (Index i = 0; i < many.n; ++i) to[i] += along * weight[i];
    } else {
      const Listed* const from = listed_.data() + many.at;
      for (Index i = 0; i < many.n; ++i) adjoint[from[i].node] += along * from[i].slope;
    }
  }
  Index inputs_ = 0;
  std::vector<Node> nodes_;
  std::vector<Many> many_;
  std::vector<Listed> listed_, waiting_;
  std::vector<double> weights_;
  std::vector<Base> adjoints_;
};

}  // namespace kilochain
