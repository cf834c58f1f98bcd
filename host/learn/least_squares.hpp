// Least squares of standardised rows, as scaled_effects.hpp and centred_effects.hpp ask whether a gradient is made of
// some features.
#pragma once
#include <Eigen/Core>

namespace kilochain {

inline constexpr double ridge = 1e-9;      ///< of features whose squares sum to 1
inline constexpr Eigen::Index powers = 5;  ///< rows of smooth_functions, but for the constant

/// Rows about their means and as long as 1; zero, where there is next to nothing. Returns how long they were.
Eigen::VectorXd standardise(Eigen::Ref<Eigen::MatrixXd> rows);

/// What a smooth function of v can be made of, weighted and standardised: powers of v, and a constant. (powers + 1, n)
Eigen::MatrixXd smooth_functions(const Eigen::RowVectorXd& v, const Eigen::RowVectorXd& weights);

/// 1, and less of a point of which a row is more than 30 times as large as usual: it must not outweigh all others.
Eigen::RowVectorXd weights_by_size(const Eigen::MatrixXd& rows);

struct Fit {
  Eigen::VectorXd coefficients;
  double left = 1;  ///< of the variance
};
/// gram: products of the features; with: of features and response; square: of the response.
Fit fit(const Eigen::MatrixXd& gram, const Eigen::VectorXd& with, double square);

}  // namespace kilochain
