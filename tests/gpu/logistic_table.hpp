// A table of labels for a logistic or a softmax regression, for the tests of targets that are evaluated by matrix
// products.
#pragma once
#include <fstream>
#include <random>
#include <string>

namespace kilochain {

/// Counts up to 255, or numbers with all their bits; labels 0 to classes - 1.
inline std::string write_logistic_table(const std::string& path, int rows, int columns, bool counts,
                                        unsigned classes = 2) {
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
    out << bits() % classes << "\n";
  }
  return path;
}

}  // namespace kilochain
