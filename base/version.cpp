#include "base/version.hpp"

namespace kilochain {

const char* version() { return KILOCHAIN_VERSION; }

}  // namespace kilochain
