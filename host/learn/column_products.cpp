#include "host/learn/column_products.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/device/pack.hpp"

namespace kilochain {
namespace {

using Lanes = Register<double>;
using Lane = Lanes::Wide;

constexpr Eigen::Index width = Lanes::size;
constexpr bool many = register_bytes == 64;                    // registers: 32, else 16
constexpr int registers = 2;                                   // of a panel of rows, of a column
constexpr Eigen::Index panel = registers * width;              // rows
constexpr int most_added = many ? 8 : 4, most_transposed = 4;  // columns at a time
constexpr int at_once = many ? 4 : 2;                          // rows of the transposed matrix, with those

/// Where column 0 is, and from one column to the next.
struct Columns {
  const double* first;
  Eigen::Index step;
  const double* at(Eigen::Index row, Eigen::Index column) const { return first + row + step * column; }
};

/// `columns` columns of y, rows `from` .. `from` + panel - 1 of them: what is below `begin` was added before.
template <int columns>
void add_panel(Columns a, Eigen::Index k, Columns b, double* y, Eigen::Index step, Eigen::Index from,
               Eigen::Index begin, Eigen::Index end) {
  Lane sums[columns][registers] = {};
  for (Eigen::Index j = 0; j < k; ++j) {
    const double* const at = a.at(from, j);
    const Lane values[registers] = {(Lane)Lanes::load(at), (Lane)Lanes::load(at + width)};
    for (int c = 0; c < columns; ++c) {
      const Lane factor = (Lane)Lanes::all(*b.at(j, c));
      for (int r = 0; r < registers; ++r) sums[c][r] = Lanes::multiply_add(values[r], factor, sums[c][r]);
    }
  }
  double part[panel];
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < registers; ++r) Lanes::store(part + r * width, sums[c][r]);
    for (Eigen::Index i = begin; i < end; ++i) y[i + step * c] += part[i - from];
  }
}

template <int columns>
void add_columns(Columns a, Eigen::Index m, Eigen::Index k, Columns b, double* y, Eigen::Index step) {
  if (m >= panel) {
    for (Eigen::Index begin = 0; begin < m; begin += panel) {
      const Eigen::Index from = std::min(begin, m - panel);
      add_panel<columns>(a, k, b, y, step, from, begin, std::min(m, begin + panel));
    }
    return;
  }
  constexpr Eigen::Index few = 64;  // columns of a matrix with few rows at a time, with rows of zeros below
  double padded[panel * few];
  std::fill_n(padded, panel * std::min(few, k), 0);
  for (Eigen::Index j = 0; j < k; j += few) {
    const Eigen::Index some = std::min(few, k - j);
    for (Eigen::Index l = 0; l < some; ++l) std::copy_n(a.at(0, j + l), m, padded + panel * l);
    add_panel<columns>({padded, panel}, some, {b.at(j, 0), b.step}, y, step, 0, 0, m);
  }
}

/// The values of rows `from` on, and zero for those that are not below m or were read before.
Lane last_of(const double* column, Eigen::Index from, Eigen::Index m) {
  if (m >= width) return (Lane)Lanes::keep_from(Lanes::load(column + m - width), static_cast<int>(from - m + width));
  double part[width] = {};
  std::memcpy(part, column + from, static_cast<std::size_t>(m - from) * sizeof(double));
  return (Lane)Lanes::load(part);
}

/// Of `rows` columns of a, which are rows of its transpose, with `columns` of b.
template <int rows, int columns>
void transposed_block(Columns a, Eigen::Index m, Columns b, double* y, Eigen::Index step) {
  Lane sums[rows][columns] = {};
  const auto add = [&](const Lane(&values)[rows], const Lane(&others)[columns]) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) sums[r][c] = Lanes::multiply_add(values[r], others[c], sums[r][c]);
  };
  Lane values[rows], others[columns];
  Eigen::Index i = 0;
  for (; i + width <= m; i += width) {
    for (int r = 0; r < rows; ++r) values[r] = (Lane)Lanes::load(a.at(i, r));
    for (int c = 0; c < columns; ++c) others[c] = (Lane)Lanes::load(b.at(i, c));
    add(values, others);
  }
  if (i < m) {
    for (int r = 0; r < rows; ++r) values[r] = last_of(a.at(0, r), i, m);
    for (int c = 0; c < columns; ++c) others[c] = last_of(b.at(0, c), i, m);
    add(values, others);
  }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) y[r + step * c] = Lanes::sum(sums[r][c]);
}

template <int columns>
void transposed_columns(Columns a, Eigen::Index m, Eigen::Index k, Columns b, double* y, Eigen::Index step) {
  Eigen::Index j = 0;
  for (; j + at_once <= k; j += at_once) transposed_block<at_once, columns>({a.at(0, j), a.step}, m, b, y + j, step);
  for (; j < k; ++j) transposed_block<1, columns>({a.at(0, j), a.step}, m, b, y + j, step);
}

/// work(columns, first): of so many of them, a constant, from there on.
template <int columns, class Work>
void in_blocks(Eigen::Index all, Work&& work, Eigen::Index first = 0) {
  for (; first + columns <= all; first += columns) work(std::integral_constant<int, columns>(), first);
  if constexpr (columns > 1) in_blocks<columns - 1>(all, work, first);
}

}  // namespace

void add_product(const Eigen::MatrixXd& a, const Eigen::Ref<const Eigen::MatrixXd>& b, Eigen::Ref<Eigen::MatrixXd> y) {
  in_blocks<most_added>(b.cols(), [&](auto columns, Eigen::Index first) {
    add_columns<columns>({a.data(), a.rows()}, a.rows(), a.cols(),
                         {b.data() + b.outerStride() * first, b.outerStride()}, y.data() + y.outerStride() * first,
                         y.outerStride());
  });
}

void transposed_product(const Eigen::MatrixXd& a, const Eigen::Ref<const Eigen::MatrixXd>& b,
                        Eigen::Ref<Eigen::MatrixXd> y) {
  in_blocks<most_transposed>(b.cols(), [&](auto columns, Eigen::Index first) {
    transposed_columns<columns>({a.data(), a.rows()}, a.rows(), a.cols(),
                                {b.data() + b.outerStride() * first, b.outerStride()},
                                y.data() + y.outerStride() * first, y.outerStride());
  });
}

}  // namespace kilochain
