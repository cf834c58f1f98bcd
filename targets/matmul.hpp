// How a CUDA device makes the matrix products of a regression (targets/design_products.cuh): a setting of the models
// that have such products, and what is said where it cannot be.
#pragma once
#include <string>
#include <type_traits>

#include "kernels/device/context.hpp"
#include "kernels/settings.hpp"

namespace kilochain {

/// automatic: products only of data that do not fit into the shared memory of a block, in float or on tensor cores,
/// whichever is faster for such data (matmul_for).
enum class Matmul { automatic, float32, bf16x3 };

template <class V>
void matmul_field(V&& visit, Matmul& matmul) {
  visit(
      "matmul", matmul, Names{"auto", "float32", "bf16x3"},
      "whether a CUDA device makes matrix products of all chains, in float or on tensor cores with a float's accuracy; "
      "auto: of data that do not fit into a block's shared memory, on tensor cores where data are of bytes and the "
      "compute capability is 9.0 or higher");
}

/// Why this CUDA device has no tensor cores for such numbers; empty where it has them.
inline std::string tensor_cores_missing(const Context& context) {
  constexpr int since = 80;  // cuBLAS fails on an older device in the middle of a run
  if (context.capability >= since) return "";
  return context.name + " has compute capability " + capability_text(context.capability) +
         ", and tensor cores multiply bf16 from " + capability_text(since) + " on";
}
/// Throws Error (usage) for products on tensor cores that this run cannot make.
template <class Real>
void check_matmul(const char* model, Matmul matmul, const Context& context) {
  if (matmul != Matmul::bf16x3) return;
  const std::string what = std::string(model) + ": matmul = bf16x3";
  require(context.backend == Backend::cuda, ExitStatus::usage, what,
          "it is a CUDA device's, and this run is on the CPU", "Leave matmul out?");
  require(!std::is_same_v<Real, double>, ExitStatus::usage, what, "the run is in double", "Try --real float?");
  const std::string missing = tensor_cores_missing(context);
  require(missing.empty(), ExitStatus::usage, what, missing, "Leave matmul out?");
}

}  // namespace kilochain
