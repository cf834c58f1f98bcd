# The libraries that Kilochain rests on: Debian packages, see scripts/install_dependencies.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
pkg_check_modules(netcdf REQUIRED IMPORTED_TARGET netcdf)
pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5)  # what NetCDF files are; host/draws/journal.cpp sees their writes
pkg_check_modules(nlopt REQUIRED IMPORTED_TARGET nlopt)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)

add_library(kilochain_random INTERFACE)
target_include_directories(kilochain_random SYSTEM INTERFACE $<BUILD_INTERFACE:${RANDOM123_INCLUDE_DIR}>)

add_library(kilochain_libraries INTERFACE)
target_link_libraries(kilochain_libraries INTERFACE OpenMP::OpenMP_CXX fmt::fmt nlohmann_json::nlohmann_json
  CLI11::CLI11 tomlplusplus::tomlplusplus ZLIB::ZLIB Eigen3::Eigen PkgConfig::netcdf PkgConfig::hdf5 PkgConfig::nlopt)
if(KILOCHAIN_HAS_CUDA)
  if(KILOCHAIN_EMULATED)
    target_link_libraries(kilochain_libraries INTERFACE $<BUILD_INTERFACE:kilochain_emulated>)
  else()
    target_link_libraries(kilochain_libraries INTERFACE
      CUDA::cudart$<$<STREQUAL:${CMAKE_CUDA_RUNTIME_LIBRARY},Static>:_static>)
    if(KILOCHAIN_CUBLAS_ON_DEMAND)
      target_compile_definitions(kilochain_libraries INTERFACE KILOCHAIN_CUBLAS_ON_DEMAND=1)
    else()
      target_link_libraries(kilochain_libraries INTERFACE CUDA::cublas)
    endif()
  endif()
  target_compile_definitions(kilochain_libraries INTERFACE KILOCHAIN_HAS_CUDA=1)
endif()
