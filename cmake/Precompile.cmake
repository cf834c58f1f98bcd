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
# kilochain_light(TARGET): what has no hot loops of its own is optimised lightly, in half the time. (Before
# kilochain_precompile: headers are compiled with the flags of those that read them.)
function(kilochain_light target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endif()
endfunction()
