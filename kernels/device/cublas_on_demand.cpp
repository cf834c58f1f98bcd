// cuBLAS, loaded when a device is first used: a wheel is megabytes and cuBLAS hundreds, which machines without a device
// need not have. Linked in the library's place (KILOCHAIN_CUBLAS_ON_DEMAND), it has the functions that Kilochain calls.
// Where it looks: what the process has loaded already (JAX, torch), the system's places and LD_LIBRARY_PATH, then the
// folder where pip puts NVIDIA's package beside this one.
#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "kernels/device/cuda_device.hpp"

namespace kilochain::cuda {
namespace {

constexpr int major = CUDA_VERSION / 1000;
constexpr const char* extra = major == 12 ? "cuda12" : "cuda";

struct Library {
  void* handle = nullptr;
  std::string missing;  ///< why there is none
};

/// NVIDIA's package for CUDA 12 has a folder for each library; those since have one for a version of CUDA.
std::string beside_this() {
  Dl_info here{};
  if (!dladdr(reinterpret_cast<const void*>(&blas_missing), &here) || !here.dli_fname) return "";
  const auto packages = std::filesystem::absolute(here.dli_fname).parent_path().parent_path() / "nvidia";
  return (packages / (major == 12 ? "cublas" : "cu" + std::to_string(major)) / "lib").string();
}

Library load() {
  const std::string name = "libcublas.so." + std::to_string(major), folder = beside_this();
  Library library;
  library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.handle && !folder.empty()) library.handle = dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.handle)
    library.missing = name + " is not here (" + dlerror() + "): pip install 'kilochain[" + extra +
                      "]', or name its folder in LD_LIBRARY_PATH";
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

template <class Function>
Function* found(const char* name) {
  void* const symbol = library().handle ? dlsym(library().handle, name) : nullptr;
  require(symbol, ExitStatus::device, std::string("no ") + name,
          library().missing.empty() ? "the cuBLAS that was loaded has no such function" : library().missing,
          "Install cuBLAS, or run with --device cpu?");
  return reinterpret_cast<Function*>(symbol);
}

}  // namespace

std::string blas_missing() { return library().missing; }

}  // namespace kilochain::cuda

#define FORWARD(result, name, parameters, arguments)                               \
  extern "C" result CUBLASWINAPI name parameters {                                 \
    static const auto function = kilochain::cuda::found<result parameters>(#name); \
    return function arguments;                                                     \
  }

FORWARD(cublasStatus_t, cublasCreate_v2, (cublasHandle_t * handle), (handle))
FORWARD(cublasStatus_t, cublasDestroy_v2, (cublasHandle_t handle), (handle))
FORWARD(cublasStatus_t, cublasSetStream_v2, (cublasHandle_t handle, cudaStream_t stream), (handle, stream))
FORWARD(cublasStatus_t, cublasSetWorkspace_v2, (cublasHandle_t handle, void* workspace, std::size_t bytes),
        (handle, workspace, bytes))
FORWARD(cublasStatus_t, cublasSetMathMode, (cublasHandle_t handle, cublasMath_t mode), (handle, mode))
FORWARD(const char*, cublasGetStatusString, (cublasStatus_t status), (status))
FORWARD(cublasStatus_t, cublasSgemm_v2,
        (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const float* alpha,
         const float* a, int lda, const float* b, int ldb, const float* beta, float* c, int ldc),
        (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
FORWARD(cublasStatus_t, cublasDgemm_v2,
        (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
         const double* alpha, const double* a, int lda, const double* b, int ldb, const double* beta, double* c,
         int ldc),
        (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
FORWARD(cublasStatus_t, cublasGemmEx,
        (cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void* alpha,
         const void* a, cudaDataType type_a, int lda, const void* b, cudaDataType type_b, int ldb, const void* beta,
         void* c, cudaDataType type_c, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm),
        (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute, algorithm))
