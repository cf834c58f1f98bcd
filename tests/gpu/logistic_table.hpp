// A table of 0/1 labels for a logistic regression, for the tests of targets that are evaluated by matrix products.
#pragma once
#include <fstream>
#include <random>
#include <string>

namespace kilochain {

/// Counts up to 255, or numbers with all their bits.
inline std::string write_logistic_table(const std::string& path, int rows, int columns, bool counts) {
  std::mt19937_64 bits(8);
  std::normal_distribution<double> normal;
  std::ofstream out(path);
  out.precision(17);
  for (int j = 0; j < columns; ++j) out << "x" << j << ",";
  out << "y\n";
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      if (counts)
        out << bits() % 256;
      else
        out << normal(bits);
      out << ",";
    }
    out << bits() % 2 << "\n";
  }
  return path;
}

}  // namespace kilochain
