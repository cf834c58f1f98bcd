// How a CUDA device makes the matrix products of a regression (targets/design_products.cuh): a setting of the models that have
// such products, and what is said where it cannot be.
#pragma once
#include <string>

#include "kernels/device/error.hpp"
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
/// On the CPU.
inline void check_matmul_of_cpu(const char* model, Matmul matmul) {
  check_matmul(model, matmul, "it is a CUDA device's, and this run is on the CPU", "Leave matmul out?");
}

}  // namespace kilochain
