#include <fmt/format.h>
#include <netcdf.h>
#include <toml++/toml.h>
#include <zlib.h>

#include <CLI/Version.hpp>
#include <Eigen/Core>
#include <nlohmann/json.hpp>

#include "base/cores.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/text.hpp"
#include "host/registry/registry.hpp"
#include "kernels/device/context.hpp"

namespace kilochain::cli {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string vector_width() {
#if defined(__AVX512F__)
  return "512 bits (AVX-512): 8 doubles, 16 floats";
#elif defined(__AVX2__)
  return "256 bits (AVX2): 4 doubles, 8 floats";
#elif defined(__SSE2__) || defined(__ARM_NEON)
  return "128 bits: 2 doubles, 4 floats";
#else
  return "as the compiler sees fit";
#endif
}

std::string libraries() {
  std::string netcdf = nc_inq_libvers();
  netcdf = netcdf.substr(0, netcdf.find(' '));
  return fmt::format(
      "NetCDF {}, zlib {}, Eigen {}.{}.{}, OpenMP {}, CLI11 {}, toml++ {}.{}.{}, nlohmann-json {}.{}.{}, fmt {}.{}.{}",
      netcdf, zlibVersion(), EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, _OPENMP, CLI11_VERSION,
      TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH, NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
      NLOHMANN_JSON_VERSION_PATCH, FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

}  // namespace

int info() {
  std::vector<std::vector<std::string>> rows = {
      {"version", version()},
      {"build", fmt::format("{}, {}", KILOCHAIN_BUILD_TYPE, compiler())},
      {"real types", "float, double (default: double on the CPU, float on CUDA)"},
      {"registered", fmt::format("{} samplers and {} targets; of spin models {} and {}",
                                 samplers_of(Family::density).size(), targets_of(Family::density).size(),
                                 samplers_of(Family::spins).size(), targets_of(Family::spins).size())},
      {"threads", fmt::format("{} (--threads)", usable_cores())},
      {"vectors", vector_width()},
      {"memory", bytes_text(available_bytes(cpu_context())) + " available"},
  };
  const std::string why_none = cuda_unavailable();
  if (!why_none.empty()) rows.push_back({"CUDA", "none: " + why_none});
  if (cuda_emulated())
    rows.push_back({"CUDA", "emulated on the CPU, for tests: --device cuda asks for it, auto does not"});
  for (const std::string& device : cuda_devices()) rows.push_back({"CUDA", device});
  rows.push_back({"libraries", libraries()});
  rows.push_back({"evaluation",
                  "a regression takes many chains at once: on the CPU block by block of the data, dense or without the "
                  "zeros, as a cost model decides; on CUDA in the shared memory of blocks where the data fit there, "
                  "else by matrix products. Other targets go chain by chain. `kilochain sample --verbose` says how it "
                  "is for a run"});
  fmt::print("{}", columns(rows, 0));
  return 0;
}

}  // namespace kilochain::cli
