// X W and X^T R of a design and all chains by cuBLAS, in one of two ways (docs/decisions/0013-products.md):
//   float32  a product each in the run's precision
//   bf16x3   tensor cores with a float's accuracy. X of bytes times a unit is exact in bf16, and what it meets is split
//            into three: X W = unit [B B B] [W1; W2; W3], X^T R = unit sum_k B^T R_k. Other X is split into two
//            parts of 11 bits, as what it meets: Xh Wh + Xh Wl + Xl Wh.
// Thirds of X lie side by side in a row, so that X W is one product and the logits are written once.
// Columns are chains, or a chain's classes, in panels (targets/asking.cuh), a product each.
// Promise: the same bits for panels of the same width. bf16x3: float only.
#pragma once
#include <type_traits>

#include "kernels/device/gemm_cublas.cuh"
#include "kernels/device/short_floats.hpp"
#include "targets/asking.cuh"
#include "targets/data/dataset.hpp"
#include "targets/data/zeros.hpp"
#include "targets/matmul.hpp"

namespace kilochain::cuda {

/// Where residuals go: as they are, or in parts, (part, chain, observation).
template <class Real>
struct WholeResiduals {
  Real* to;
  KC_INLINE void operator()(std::size_t at, Real v) const { to[at] = v; }
};
template <class Element, int parts>
struct SplitResiduals {
  Element* to;
  std::size_t stride;  ///< from one part to the next
  KC_INLINE void operator()(std::size_t at, float v) const {
    Element part[parts];
    split(v, part);
#pragma unroll
    for (int k = 0; k < parts; ++k) to[static_cast<std::size_t>(k) * stride + at] = part[k];
  }
};
using BfloatResiduals = SplitResiduals<Bfloat16, 3>;
using TfloatResiduals = SplitResiduals<float, 2>;

/// Rows of points into the thirds that meet those of X: parts 1, 2, 3 of bf16; high, low, high of tf32.
template <class Element, int parts>
__global__ void __launch_bounds__(128, 1)
    split_points(const float* __restrict__ points, Index row, std::size_t count, Element* __restrict__ out) {
  const std::size_t at = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
  if (at >= count) return;
  Element part[parts];
  split(points[at], part);
  const std::size_t r = static_cast<std::size_t>(row), to = at / r * 3 * r + at % r;
#pragma unroll
  for (int k = 0; k < 3; ++k) out[to + static_cast<std::size_t>(k) * r] = part[k % parts];
}

/// X where a device has it: (num_padded, row), zero beyond its rows and numbers. Products have the padded extents,
/// which are what tensor cores take; num_padded: from one column of X W to the next.
template <class Real>
struct PlacedDesign {
  const Real* x_rows;  ///< for float32 only
  Index row, num_padded;
};

/// What `automatic` is for data whose products are made: tensor cores where X is of bytes, from the device on that was
/// measured. An H100, 4 096 chains of MNIST: 3.7 ms an iteration in float, 1.3 on tensor cores; 512 of Caravan, whose X
/// must be split too: 2.1 s a run in float, 3.7 (docs/decisions/0028-first-device.md).
template <class Real>
Matmul matmul_for(Matmul asked, const Design& design, const Context& context) {
  constexpr int measured = 90;
  if (asked != Matmul::automatic) return asked;
  const bool faster = std::is_same_v<Real, float> && context.capability >= measured && byte_unit(design) > 0;
  return faster ? Matmul::bf16x3 : Matmul::float32;
}

template <class Real>
class DesignProducts {
 public:
  DesignProducts(const Context& context, const Design& design, const PlacedDesign<Real>& data, Matmul matmul)
      : context_(context), data_(data), matmul_(matmul) {
    if (matmul_ != Matmul::bf16x3) return;
    unit_ = byte_unit(design);
    const std::size_t third = static_cast<std::size_t>(data.row), rows = static_cast<std::size_t>(data.num_padded);
    if (unit_ > 0) {
      std::vector<Bfloat16> x(rows * 3 * third);
      each(design, third, [&](std::size_t at, double v) {
        for (std::size_t k = 0; k < 3; ++k)
          x[at + k * third] = to_bfloat16(static_cast<float>(std::nearbyint(v / unit_)));
      });
      bytes_ = Buffer<Bfloat16>(context_, x.size());
      bytes_.upload(x.data());
    } else {
      std::vector<float> x(rows * 3 * third);
      each(design, third, [&](std::size_t at, double v) {
        float part[2];
        split(static_cast<float>(v), part);
        x[at] = x[at + third] = part[0], x[at + 2 * third] = part[1];
      });
      halves_ = Buffer<float>(context_, x.size());
      halves_.upload(x.data());
    }
  }
  /// Bytes of what is kept of X here, and of what each column of W adds.
  std::size_t bytes_of_x() const {
    if (matmul_ != Matmul::bf16x3) return 0;
    return static_cast<std::size_t>(data_.num_padded) * static_cast<std::size_t>(data_.row) * 3 *
           (unit_ > 0 ? sizeof(Bfloat16) : sizeof(float));
  }
  std::size_t bytes_of_column() const {
    if (matmul_ != Matmul::bf16x3) return 0;
    const std::size_t n = static_cast<std::size_t>(data_.row), rows = static_cast<std::size_t>(data_.num_padded);
    return unit_ > 0 ? (3 * n + 3 * rows) * sizeof(Bfloat16) : (3 * n + 2 * rows) * sizeof(float);
  }

  /// out: (column, num_padded) = X w, for points in rows of data.row numbers.
  void logits(const Real* points, const Panels& panels, Real* out) {
    const Index row = data_.row, num = data_.num_padded, width = panels.width;
    for (Index p = 0; p < panels.count; ++p, points += entries(width, row), out += entries(width, data_.num_padded)) {
      if constexpr (std::is_same_v<Real, float>) {
        if (bytes_.size() > 0) {
          logits_in_thirds<Bfloat16, 3>(points, width, bytes_, points_in_bytes_, static_cast<float>(unit_), out);
          continue;
        }
        if (halves_.size() > 0) {
          logits_in_thirds<float, 2>(points, width, halves_, points_in_halves_, 1, out);
          continue;
        }
      }
      product(context_, CUBLAS_OP_T, num, width, row, data_.x_rows, row, points, row, out, num);
    }
  }
  /// Calls launch(where residuals go), to write over the logits or beside them.
  template <class Launch>
  void residuals(const Panels& panels, Real* logits, Launch&& launch) {
    const std::size_t stride = entries(panels.columns(), data_.num_padded);
    if constexpr (std::is_same_v<Real, float>) {
      if (bytes_.size() > 0) {
        reserve(parts_in_bytes_, 3 * stride);
        return launch(BfloatResiduals{parts_in_bytes_.data(), stride});
      }
      if (halves_.size() > 0) {
        reserve(parts_in_halves_, 2 * stride);
        return launch(TfloatResiduals{parts_in_halves_.data(), stride});
      }
    }
    launch(WholeResiduals<Real>{logits});
  }
  /// out: (column, row) = X^T r, of the residuals that were written last. Small parts are added up first.
  void transposed(const Panels& panels, const Real* logits, Real* out) {
    const Index row = data_.row, rows = data_.num_padded, width = panels.width;
    const std::size_t stride = entries(panels.columns(), rows), step = entries(width, rows);
    for (Index p = 0; p < panels.count; ++p, out += entries(width, row)) {
      const std::size_t first = static_cast<std::size_t>(p) * step;
      if constexpr (std::is_same_v<Real, float>) {
        if (bytes_.size() > 0) {
          for (int k = 2; k >= 0; --k)
            tensor_product(context_, CUBLAS_OP_N, row, width, rows, static_cast<float>(unit_), bytes_.data(), 3 * row,
                           parts_in_bytes_.data() + static_cast<std::size_t>(k) * stride + first, rows, k == 2 ? 0 : 1,
                           out, row);
          continue;
        }
        if (halves_.size() > 0) {
          const Real *high = halves_.data(), *low = high + 2 * static_cast<std::size_t>(row);
          const Real *large = parts_in_halves_.data() + first, *small = large + stride;
          tensor_product(context_, CUBLAS_OP_N, row, width, rows, 1, low, 3 * row, large, rows, 0, out, row);
          tensor_product(context_, CUBLAS_OP_N, row, width, rows, 1, high, 3 * row, small, rows, 1, out, row);
          tensor_product(context_, CUBLAS_OP_N, row, width, rows, 1, high, 3 * row, large, rows, 1, out, row);
          continue;
        }
      }
      product(context_, CUBLAS_OP_N, row, width, rows, data_.x_rows, row, logits + first, rows, out, row);
    }
  }

 private:
  static std::size_t entries(Index columns, Index rows) {
    return static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  }
  template <class F>
  static void each(const Design& design, std::size_t third, F&& f) {
    for (std::size_t i = 0; i < design.rows; ++i)
      for (std::size_t j = 0; j < design.columns; ++j) f(i * 3 * third + j, design.x[i * design.columns + j]);
  }
  template <class Element, int parts>
  void logits_in_thirds(const float* points, Index chains, const Buffer<Element>& x, Buffer<Element>& w, float unit,
                        float* out) {
    const Index row = data_.row;
    const std::size_t count = static_cast<std::size_t>(chains) * static_cast<std::size_t>(row);
    reserve(w, 3 * count);
    launch(context_, split_points<Element, parts>, dim3(static_cast<unsigned>((count + 127) / 128)), 128, points, row,
           count, w.data());
    tensor_product(context_, CUBLAS_OP_T, data_.num_padded, chains, 3 * row, unit,
                   static_cast<const Element*>(x.data()), 3 * row, static_cast<const Element*>(w.data()), 3 * row, 0,
                   out, data_.num_padded);
  }
  template <class T>
  void reserve(Buffer<T>& buffer, std::size_t size) {
    if (buffer.size() < size) buffer = Buffer<T>(context_, size);
  }

  Context context_;
  PlacedDesign<Real> data_;
  Matmul matmul_;
  double unit_ = 0;         ///< of the bytes of X; 0: they are no bytes, or nobody asked
  Buffer<Bfloat16> bytes_;  ///< (observation, third, row): bf16x3 of bytes
  Buffer<float> halves_;    ///< the same of other numbers
  Buffer<Bfloat16> points_in_bytes_, parts_in_bytes_;
  Buffer<float> points_in_halves_, parts_in_halves_;
};

}  // namespace kilochain::cuda
