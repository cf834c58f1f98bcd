# cmake --install: headers, libraries, the program and kilochainConfig.cmake, so that find_package(kilochain) in another
# project is enough to write a target, run any sampler on it and read the draws (docs/add_a_target.md).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(kilochain_package ${CMAKE_INSTALL_LIBDIR}/cmake/kilochain)

set_target_properties(kilochain PROPERTIES EXPORT_NAME program)
set_target_properties(kilochain_all PROPERTIES EXPORT_NAME kilochain)  # what others link: kilochain::kilochain
set_target_properties(kilochain_options PROPERTIES EXPORT_NAME flags)  # and where vectors are: kilochain::flags
set_target_properties(kilochain_cli PROPERTIES EXPORT_NAME cli)
install(TARGETS kilochain_options kilochain_random kilochain_libraries kilochain_kernels kilochain_host kilochain_entries
                kilochain_cli kilochain_all kilochain
        EXPORT kilochainTargets)
install(EXPORT kilochainTargets NAMESPACE kilochain:: DESTINATION ${kilochain_package})

# Users include <kilochain/...>. The headers name each other from the top of the tree, which has a folder of its own.
install(DIRECTORY include/kilochain DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY base kernels targets host model DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kilochain/tree
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES host/registry/instantiate/target.cpp host/registry/instantiate/target.cu host/registry/instantiate/sampler.cpp host/registry/instantiate/sampler.cu
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kilochain/tree/host/registry/instantiate)
install(FILES host/frontend/main.cpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kilochain/tree/host/frontend)

configure_package_config_file(cmake/kilochainConfig.cmake.in ${PROJECT_BINARY_DIR}/kilochainConfig.cmake
  INSTALL_DESTINATION ${kilochain_package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kilochainConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kilochainConfig.cmake ${PROJECT_BINARY_DIR}/kilochainConfigVersion.cmake
        DESTINATION ${kilochain_package})
