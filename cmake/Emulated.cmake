# KILOCHAIN_CUDA=EMULATED: .cu files are compiled as C++ for the strict device that tests/emulated_device plays on the CPU.
#   kilochain_cuda_sources(FILES...)  what a .cu file needs for that; nothing where nvcc compiles them
# Lightly optimised, with promises checked (KC_CHECK) and every access of memory handed to the race detector: the
# compiler's instrumentation for threads, with functions of ours behind it.
function(kilochain_cuda_sources)
  if(KILOCHAIN_EMULATED)
    set(folder ${PROJECT_SOURCE_DIR}/tests/emulated_device/include)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX SKIP_PRECOMPILE_HEADERS ON
      INCLUDE_DIRECTORIES ${folder}
      COMPILE_DEFINITIONS "KILOCHAIN_EMULATED=1"
      COMPILE_OPTIONS "-O1;-g1;-include;${folder}/cuda_runtime.h;-fsanitize=thread;--param=tsan-instrument-func-entry-exit=0")
  endif()
endfunction()

if(KILOCHAIN_EMULATED)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "kilochain: the emulated device wants GCC. CXX=g++?")
  endif()
  # A checked Row is wider: the host's half of the program must have the same.
  target_compile_definitions(kilochain_options INTERFACE KILOCHAIN_CHECKED=1)
  pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)  # plays cuBLAS
  file(GLOB emulated_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/emulated_device/*.cpp)
  list(FILTER emulated_sources EXCLUDE REGEX "/test_[^/]*$")
  add_library(kilochain_emulated STATIC ${emulated_sources})
  target_compile_options(kilochain_emulated PRIVATE -O2 -Wall -Wextra -Wno-restrict)
  target_include_directories(kilochain_emulated PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/emulated_device/include)
  target_link_libraries(kilochain_emulated PRIVATE kilochain_random PkgConfig::openblas)
  set_target_properties(kilochain_emulated PROPERTIES CXX_VISIBILITY_PRESET default)  # libraries that a test loads call it
endif()
