// The text of targets/stan/interface.cc, which the program carries: CMake writes it into a source (cmake/Stan.cmake).
#pragma once

namespace kilochain::stan {

extern const char* const interface_text;

}
