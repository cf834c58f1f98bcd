# Flags of every translation unit, and the decision whether CUDA is there.
add_library(kilochain_options INTERFACE)
target_compile_options(kilochain_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unknown-pragmas>
  # NaN and infinity keep their meaning (they quarantine chains); errno and floating-point traps are given up, without
  # which no loop with a square root or a comparison is vectorised.
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno -fno-trapping-math>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of its own AVX-512 intrinsics and of std::string's operator+ (GCC bugs 105593 and 105329).
  target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized -Wno-restrict>)
endif()
if(KILOCHAIN_NATIVE AND NOT KILOCHAIN_SANITIZE)
  target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(kilochain_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-mprefer-vector-width=512>)
  endif()
endif()
if(KILOCHAIN_SANITIZE)
  target_compile_options(kilochain_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(kilochain_options INTERFACE -fsanitize=address,undefined)
endif()

set(KILOCHAIN_HAS_CUDA OFF)
if(NOT KILOCHAIN_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES ${KILOCHAIN_CUDA_ARCHITECTURES})
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 20)
    find_package(CUDAToolkit REQUIRED)
    set(KILOCHAIN_HAS_CUDA ON)
  elseif(KILOCHAIN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "kilochain: KILOCHAIN_CUDA is ON but no nvcc was found. Install the CUDA toolkit, or set KILOCHAIN_CUDA=OFF?")
  endif()
endif()
message(STATUS "kilochain: CUDA ${KILOCHAIN_HAS_CUDA}")
