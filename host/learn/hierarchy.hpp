// What a coordinate v does to the scales of all others, as a conjugate hierarchical model has it, and the step that
// undoes it (learnt_coordinates.hpp). With v's scales e^{c t}, t = v - its median, and the others whitened,
//   h = -(e^{-2 c t} P + R) z + e^{-2 c t} a + e^{-c t} m + b
// is linear in P, R, a, m and b: least squares tell them, exactly where the model is one. P and R made diagonal
// together give directions, and of each its share of the precision from above.
// Cost: 10 n^2 a draw, and O(n^3).
#pragma once
#include "host/learn/learnt_coordinates.hpp"
#include "host/learn/scaled_effects.hpp"
#include "host/learn/whitened.hpp"

namespace kilochain {

/// All coordinates but v, whitened, and t = u(v) about its median; draws far out count less.
struct Given {
  Eigen::Index v = 0;
  ScaleLaw scale;
  double centre = 0;  ///< of u(v)
  std::vector<Eigen::Index> others;
  Eigen::VectorXd mean;
  Eigen::MatrixXd L, z, h;  ///< x = mean + L z, h = L^T g
  Eigen::ArrayXd t, weights;
};
/// None where v does not vary.
std::optional<Given> given(Eigen::Index v, const ScaleLaw& scale, const DrawsAndGradients& draws,
                           const Whitened& white);

/// The model above.
struct Hierarchy {
  Eigen::MatrixXd P, R;
  Eigen::VectorXd above, between, data;  ///< a, m, b
  double noise = 0;                      ///< what P's errors alone would show of an eigenvalue
};

/// By least squares; none of fewer than 3 n draws.
std::optional<Hierarchy> fitted(const Given& at, double c);

/// What the data say of all coordinates but parents: their part of the gradient is pull - precision x. Rows and columns
/// of parents are zero.
struct DataPrecision {
  Eigen::MatrixXd precision;  ///< (n, n), no eigenvalue below 0
  Eigen::VectorXd pull;
};

/// By least squares, of the gradient without the priors of all groups of centred effects.
std::optional<DataPrecision> data_precision(const DrawsAndGradients& draws, const std::vector<ScaledEffects>& groups);

/// The model above of groups[k], the other groups' scales at their medians: all but `data` is known. origin: where
/// these coordinates are 0, in those of `data`.
Hierarchy model_of(std::size_t k, const Given& at, const std::vector<ScaledEffects>& groups, const DataPrecision& data,
                   const Eigen::VectorXd& origin);

/// The step that makes the model's directions normal, whatever v: those in which P has its share. None where there are
/// none, or it is no such model.
std::optional<Noncentring> step_of(const Given& at, double c, const Hierarchy& model);

}  // namespace kilochain
