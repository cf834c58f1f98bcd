// Every CUDA and cuBLAS call goes through here: what failed, where in the source, and the library's own words. Three
// kinds: no memory left (fewer chains help), a device that this build was not compiled for, and a device that failed
// under the run, after which nothing on it can be used. All are the device's, none is a wrong flag.
// Only for translation units that see the CUDA headers.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <string>

#include "base/error.hpp"

namespace kilochain::cuda {

[[noreturn]] inline void out_of_memory(const std::string& what, const std::string& where) {
  throw Error(ExitStatus::device, "the CUDA device is out of memory: " + what, where,
              "Run fewer chains at a time with --chain-batch-size? `kilochain estimate` shows what needs how much.");
}

[[noreturn]] inline void failed(const std::string& call, const std::string& words, const std::string& where) {
  throw Error(ExitStatus::device, "the CUDA device failed: " + words, call + " at " + where,
              "Draws of windows that were written before are safe in the --output file: `kilochain summary` reads "
              "them. Run again, or with --device cpu?");
}

inline std::string place_of(const char* file, int line) { return std::string(file) + ":" + std::to_string(line); }

inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // the device is fine: the next call must not report this again
    out_of_memory(call, place_of(file, line));
  }
  if (status == cudaErrorNoKernelImageForDevice)
    throw Error(ExitStatus::device, "this build has no code for the CUDA device", place_of(file, line),
                "Build with -DKILOCHAIN_CUDA_ARCHITECTURES=native, or run with --device cpu?");
  failed(call, cudaGetErrorString(status), place_of(file, line));
}

inline void check(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) out_of_memory(call, place_of(file, line));
  failed(call, cublasGetStatusString(status), place_of(file, line));
}

}  // namespace kilochain::cuda

#define CUDA_CHECK(call) ::kilochain::cuda::check((call), #call, __FILE__, __LINE__)
