// How a CUDA device makes the matrix products of a regression (targets/design_products.cuh): a setting of the models that have
// such products, and what is said where it cannot be.
#pragma once
#include <string>
#include <type_traits>

#include "kernels/device/context.hpp"
#include "kernels/settings.hpp"

namespace kilochain {

enum class Matmul { float32, tf32, bf16x3 };
inline constexpr const char* matmul_names[] = {"float32", "tf32", "bf16x3"};  ///< in the order of Matmul

template <class V>
void matmul_field(V&& visit, Matmul& matmul) {
  visit("matmul", matmul, Names{"float32", "tf32", "bf16x3"},
        "how a CUDA device makes its matrix products: in float; on tensor cores with 11 bits; on tensor cores with a "
        "float's accuracy");
}

/// Throws Error (usage) for products on tensor cores where there are none. `why_not`: empty, or what stands against them.
inline void check_matmul(const char* model, Matmul matmul, const std::string& why_not, const std::string& advice) {
  require(matmul == Matmul::float32 || why_not.empty(), ExitStatus::usage,
          std::string(model) + ": matmul = " + matmul_names[static_cast<int>(matmul)], why_not, advice);
}
/// Why this CUDA device has no tensor cores for such numbers; empty where it has them.
inline std::string tensor_cores_missing(const Context& context) {
  constexpr int since = 80;  // bf16 and tf32; cuBLAS fails on an older device in the middle of a run
  if (context.capability >= since) return "";
  return context.name + " has compute capability " + capability_text(context.capability) +
         ", and tensor cores multiply bf16 and tf32 from " + capability_text(since) + " on";
}
/// On a CUDA device. `evaluator`: empty, or the one asked for that makes no products.
template <class Real>
void check_matmul_of_cuda(const char* model, Matmul matmul, const std::string& evaluator, const Context& context) {
  if (!evaluator.empty())
    check_matmul(model, matmul, "evaluator = " + evaluator + " makes no matrix products", "Try evaluator = gemm?");
  if (std::is_same_v<Real, double>) check_matmul(model, matmul, "the run is in double", "Try --real float?");
  check_matmul(model, matmul, tensor_cores_missing(context), "Leave matmul out?");
}
/// On the CPU.
inline void check_matmul_of_cpu(const char* model, Matmul matmul) {
  check_matmul(model, matmul, "it is a CUDA device's, and this run is on the CPU", "Leave matmul out?");
}

}  // namespace kilochain
