# Flags of every translation unit, and the decision whether CUDA is there.
add_library(kilochain_options INTERFACE)
target_compile_options(kilochain_options INTERFACE
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall>> $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wextra>>
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>
  # NaN and infinity keep their meaning (they quarantine chains); errno and floating-point traps are given up, without
  # which no loop with a square root or a comparison is vectorised.
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno -fno-trapping-math>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of its own AVX-512 intrinsics, and of std::string's operator+ and operator= of literals of one character
  # (GCC bugs 105593 and 105329).
  target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized -Wno-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>)
  # Packs wider than this machine's registers: one program, one ABI.
  target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # it reports each loop marked for vectors that it leaves alone
  target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed>)
endif()
target_compile_definitions(kilochain_options INTERFACE $<INSTALL_INTERFACE:KILOCHAIN_FLAGS=1>)  # own_target.hpp asks
if(KILOCHAIN_NATIVE AND NOT KILOCHAIN_SANITIZE)
  target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-mprefer-vector-width=512>)
  endif()
elseif(KILOCHAIN_PROCESSOR AND NOT KILOCHAIN_SANITIZE)
  target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=${KILOCHAIN_PROCESSOR}>)
endif()
# Promises inside the program (kernels/device/check.hpp) are tested in Debug builds, those of other projects included.
target_compile_definitions(kilochain_options INTERFACE $<$<CONFIG:Debug>:KILOCHAIN_CHECKED=1>)
if(KILOCHAIN_THREAD_SANITIZE)
  target_compile_options(kilochain_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(kilochain_options INTERFACE -fsanitize=thread)
endif()
if(KILOCHAIN_SANITIZE)
  target_compile_options(kilochain_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  if(NOT KILOCHAIN_SANITIZE STREQUAL "ALL")  # half of the compile time; what they find, the address sanitizer mostly finds too
    target_compile_options(kilochain_options INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_link_options(kilochain_options INTERFACE -fsanitize=address,undefined)
endif()

function(kilochain_check_architectures architectures)
  foreach(architecture ${architectures})
    if(architecture MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS 70)
      message(FATAL_ERROR "kilochain: CUDA architecture ${architecture} is too old (kernels need 70, compute capability 7.0). "
                          "Set KILOCHAIN_CUDA_ARCHITECTURES to 70 and newer, or KILOCHAIN_CUDA=OFF?")
    endif()
  endforeach()
endfunction()

# AUTO takes CUDA where both nvcc and a device are: kernels for every architecture are ten times the CPU's build, for nobody.
function(kilochain_find_device found)
  file(GLOB devices /dev/nvidia[0-9]*)
  if(NOT devices)  # containers and WSL may have no such file
    find_program(KILOCHAIN_NVIDIA_SMI nvidia-smi)
    mark_as_advanced(KILOCHAIN_NVIDIA_SMI)
    if(KILOCHAIN_NVIDIA_SMI)
      execute_process(COMMAND ${KILOCHAIN_NVIDIA_SMI} -L OUTPUT_VARIABLE devices ERROR_QUIET)
      string(REGEX MATCH "GPU [0-9]+" devices "${devices}")
    endif()
  endif()
  if(devices)
    set(${found} ON PARENT_SCOPE)
  else()
    set(${found} OFF PARENT_SCOPE)
  endif()
endfunction()

set(KILOCHAIN_HAS_CUDA OFF)
set(KILOCHAIN_EMULATED OFF)
kilochain_find_device(kilochain_device)
set(kilochain_cpu_alone "")  # why, where somebody may have expected CUDA
if(KILOCHAIN_CUDA STREQUAL "EMULATED")
  set(KILOCHAIN_HAS_CUDA ON)
  set(KILOCHAIN_EMULATED ON)
elseif(KILOCHAIN_CUDA STREQUAL "AUTO" AND NOT kilochain_device)
  find_program(KILOCHAIN_NVCC nvcc HINTS /usr/local/cuda/bin)
  mark_as_advanced(KILOCHAIN_NVCC)
  if(KILOCHAIN_NVCC)
    set(kilochain_cpu_alone " (nvcc is here, a device is not; to build for CUDA all the same: scripts/build cuda)")
  endif()
elseif(NOT KILOCHAIN_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # A device here is what this build is for; a build without one must run on any that the toolkit knows and that has
    # __grid_constant__ (7.0): of CUDA 12 those are fewer than all-major, of CUDA 13 more.
    kilochain_check_architectures("${KILOCHAIN_CUDA_ARCHITECTURES}")
    set(kilochain_architectures_asked ${KILOCHAIN_CUDA_ARCHITECTURES})
    if(NOT KILOCHAIN_CUDA_ARCHITECTURES)
      if(kilochain_device)
        set(KILOCHAIN_CUDA_ARCHITECTURES native)
      else()
        set(KILOCHAIN_CUDA_ARCHITECTURES all-major)
      endif()
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${KILOCHAIN_CUDA_ARCHITECTURES})
    if(NOT CMAKE_CUDA_RUNTIME_LIBRARY)
      set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # Static in the Python package: a wheel runs where there is none
    endif()
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
      message(FATAL_ERROR "kilochain: nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old: it has no C++20 "
                          "(${CMAKE_CUDA_COMPILER}). Install CUDA 12 or newer, or set KILOCHAIN_CUDA=OFF?")
    endif()
    if(KILOCHAIN_CUDA_ARCHITECTURES STREQUAL "native")
      kilochain_check_architectures("${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
    elseif(KILOCHAIN_CUDA_ARCHITECTURES MATCHES "^all" AND CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
      if(kilochain_architectures_asked)
        message(FATAL_ERROR "kilochain: KILOCHAIN_CUDA_ARCHITECTURES = ${KILOCHAIN_CUDA_ARCHITECTURES} of CUDA "
                            "${CMAKE_CUDA_COMPILER_VERSION} has architectures below 70. Leave it empty?")
      endif()
      set(KILOCHAIN_CUDA_ARCHITECTURES 70-real 80-real 90)  # what is newer compiles 90's PTX
      set(CMAKE_CUDA_ARCHITECTURES ${KILOCHAIN_CUDA_ARCHITECTURES})
    endif()
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know that nvcc >= 12 has it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    find_package(CUDAToolkit REQUIRED)
    set(KILOCHAIN_HAS_CUDA ON)
    # -lineinfo: profilers and compute-sanitizer name source lines, at no cost. Relaxed constexpr: numeric_limits in kernels.
    # Host code of .cu files is a shell around launches; it is compiled for any processor, warnings as for .cpp files.
    target_compile_options(kilochain_options INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas>)
    if(KILOCHAIN_CUDA_REPORT)
      target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)
    endif()
  elseif(KILOCHAIN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "kilochain: KILOCHAIN_CUDA is ON but no nvcc was found. Install the CUDA toolkit, or set KILOCHAIN_CUDA=OFF?")
  endif()
endif()
if(KILOCHAIN_HAS_CUDA)
  message(STATUS "kilochain: for the CPU and CUDA")
else()
  message(STATUS "kilochain: for the CPU alone${kilochain_cpu_alone}")
endif()
