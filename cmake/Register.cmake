# kilochain_add_sampler(my_move MyMove): compiles host/registry/instantiate/sampler.cpp (and sampler.cu where CUDA is) once more,
# with the name as a definition; a static object in it registers the sampler. kilochain_add_target likewise.
# All entries together are one archive, linked whole: nothing refers to their static objects by name.
add_library(kilochain_entries STATIC)
target_link_libraries(kilochain_entries PUBLIC kilochain_host)
add_library(kilochain_all INTERFACE)
target_link_libraries(kilochain_all INTERFACE
  $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,kilochain_entries>>
  $<INSTALL_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,kilochain::kilochain_entries>> kilochain_host)

function(kilochain_register kind name type)  # CPU_ONLY: it has no kernels
  if(KILOCHAIN_ENTRIES AND NOT name IN_LIST KILOCHAIN_ENTRIES)
    return()
  endif()
  set(lib kilochain_${kind}_${name})
  set(source ${PROJECT_SOURCE_DIR}/host/registry/instantiate/${kind})
  set(sources ${source}.cpp)
  if(KILOCHAIN_HAS_CUDA AND EXISTS ${source}.cu AND NOT "CPU_ONLY" IN_LIST ARGN)  # a spin model has no kernels of its own
    list(APPEND sources ${source}.cu)
    kilochain_cuda_sources(${source}.cu)
  endif()
  add_library(${lib} OBJECT ${sources})
  target_link_libraries(${lib} PUBLIC kilochain_kernels kilochain_libraries)
  kilochain_precompile_as(${lib} kilochain_host)
  target_compile_definitions(${lib} PRIVATE KILOCHAIN_NAME=${name} KILOCHAIN_TYPE=${type})
  target_sources(kilochain_entries PRIVATE $<TARGET_OBJECTS:${lib}>)
endfunction()
macro(kilochain_add_sampler name type)
  kilochain_register(sampler ${name} ${type})
endmacro()
macro(kilochain_add_target name type)
  kilochain_register(target ${name} ${type})
endmacro()
macro(kilochain_add_cpu_target name type)
  kilochain_register(target ${name} ${type} CPU_ONLY)
endmacro()
# Spin samplers and spin models: names alone, bound to boards in host/registry/spin_samplers.hpp.
macro(kilochain_add_spin_sampler name type)
  kilochain_register(spin_sampler ${name} ${type})
endmacro()
macro(kilochain_add_spin_target name type)
  kilochain_register(spin_target ${name} ${type})
endmacro()
