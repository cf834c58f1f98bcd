# targets/stan/interface.cc is compiled by users' compilers, around each Stan program: the program carries its text.
set(stan_interface ${PROJECT_SOURCE_DIR}/targets/stan/interface.cc)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${stan_interface})
file(READ ${stan_interface} stan_text)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/interface_text.cpp @ONLY CONTENT
"#include \"targets/stan/interface_text.hpp\"

namespace kilochain::stan {

const char* const interface_text = R\"kilochain(@stan_text@)kilochain\";

}
")
target_sources(kilochain_host PRIVATE ${PROJECT_BINARY_DIR}/generated/interface_text.cpp)
target_link_libraries(kilochain_host PUBLIC ${CMAKE_DL_LIBS})
