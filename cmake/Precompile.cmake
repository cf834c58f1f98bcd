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
# kilochain_together(TARGET [FOLDER...]): several sources are compiled as one, for they read the same headers and use the same
# templates: that takes a third of the time. All sources, six at a time, or those of each folder. Not in sanitized trees, which
# find out whether each source includes what it needs.
option(KILOCHAIN_TOGETHER "Compile sources several at a time where they are small" ON)
function(kilochain_together target)
  if(KILOCHAIN_TOGETHER AND NOT KILOCHAIN_SANITIZE AND NOT KILOCHAIN_THREAD_SANITIZE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    if(ARGN)
      set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
      get_target_property(sources ${target} SOURCES)
      foreach(folder ${ARGN})
        set(together ${sources})
        list(FILTER together INCLUDE REGEX "(^|/)${folder}/[^/]*[.]cpp$")
        string(MAKE_C_IDENTIFIER ${folder} group)
        set_source_files_properties(${together} PROPERTIES UNITY_GROUP ${group})
      endforeach()
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # a source seems to be a header of its batch
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
    endif()
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
