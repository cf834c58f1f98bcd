// Every CUDA and cuBLAS call goes through here: what failed, where in the source, and the library's own words.
// Only for translation units that nvcc compiles.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <string>

#include "kernels/device/error.hpp"

namespace kilochain::cuda {

inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  const bool memory = status == cudaErrorMemoryAllocation;
  throw Error(ExitStatus::usage, std::string(call) + " failed: " + cudaGetErrorString(status),
              std::string(file) + ":" + std::to_string(line),
              memory ? "Ask for fewer chains at a time (--chain-batch-size) or fewer draws (--thin)?"
                     : "Run with --device cpu?");
}

inline void check(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ExitStatus::usage, std::string(call) + " failed: " + cublasGetStatusString(status),
              std::string(file) + ":" + std::to_string(line), "Run with --device cpu?");
}

}  // namespace kilochain::cuda

#define CUDA_CHECK(call) ::kilochain::cuda::check((call), #call, __FILE__, __LINE__)
