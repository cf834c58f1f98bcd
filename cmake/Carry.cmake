# A text that the program carries: kilochain_carry(FILE HEADER NAMESPACE NAME) defines `const char* const NAME`, which HEADER
# declares, in the library of the host.
function(kilochain_carry file header namespace name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}.cpp @ONLY CONTENT
"#include \"@header@\"

namespace @namespace@ {

const char* const @name@ = R\"kilochain(@text@)kilochain\";

}
")
  target_sources(kilochain_host PRIVATE ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
endfunction()
