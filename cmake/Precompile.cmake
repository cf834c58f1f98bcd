# kilochain_precompile(TARGET [FURTHER HEADERS...]): the standard library and fmt are read once for the target's sources,
# and for those of kilochain_precompile_as(TARGET OTHER), which has OTHER's flags. (Not JSON: to load it costs the many more than it saves the few.)
# A source with flags of its own stays outside: SKIP_PRECOMPILE_HEADERS.
option(KILOCHAIN_PRECOMPILE "Compile the headers of libraries once for all sources" ON)
function(kilochain_precompile target)
  if(KILOCHAIN_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <filesystem> <fstream> <functional> <map>
      <memory> <optional> <sstream> <string> <thread> <variant> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()
function(kilochain_precompile_as target other)
  if(KILOCHAIN_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()
# kilochain_light(TARGET): what has no hot loops of its own is optimised lightly, in half the time; not at all under the
# sanitizers of every commit, but for TARGETs that say SANITIZED, whose own loops are long. (Before kilochain_precompile:
# headers are compiled with the flags of those that read them.)
function(kilochain_light target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
    if(((KILOCHAIN_SANITIZE AND NOT KILOCHAIN_SANITIZE STREQUAL "ALL") OR KILOCHAIN_THREAD_SANITIZE) AND NOT "SANITIZED" IN_LIST ARGN)
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
    endif()
  endif()
endfunction()
