#include "kernels/device/version.hpp"

namespace kilochain {

const char* version() { return KILOCHAIN_VERSION; }

}  // namespace kilochain
