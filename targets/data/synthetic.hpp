// Data of any size for a logistic regression whose truth is known.
// Features: x_1 = z_1, x_j = 0.5 x_{j-1} + sqrt(0.75) z_j, z ~ N(0, 1): unit variance, correlation 0.5^|j-k|; written
// to six decimals. Weights: one in four is not zero (the first always), normal, scaled so that w.x has standard
// deviation 2; intercept -0.5. Labels: y ~ Bernoulli(1 / (1 + exp(-(w.x + intercept)))).
// Promises: the same seed writes the same file everywhere. Cost: about 7 million values a second, one row in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kilochain {

/// Writes a CSV file with the header x1,...,xd,y and `rows` rows. Returns the true weights of x1 to xd, the intercept
/// last (features + 1 values, for features as written, not standardised).
/// Throws Error: usage for rows outside 2..1e9 or features outside 1..1e5; output when the file cannot be written.
std::vector<double> write_synthetic_logistic(const std::string& path, std::size_t rows, std::size_t features,
                                             std::uint64_t seed);

}  // namespace kilochain
