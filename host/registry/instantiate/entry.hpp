// The head of an entry's files: includes the header of what CMake names in KILOCHAIN_NAME (or KILOCHAIN_HEADER, of
// another project) and gives that name as a text. A file says before whose it is: KILOCHAIN_SAMPLER,
// KILOCHAIN_SPIN_SAMPLER (those have their header already), KILOCHAIN_SPIN_TARGET; without one it is a target's.
#pragma once
#define KILOCHAIN_STRING2(x) #x
#define KILOCHAIN_STRING(x) KILOCHAIN_STRING2(x)
// clang-format off
#ifdef KILOCHAIN_HEADER
#include KILOCHAIN_HEADER
#elif defined(KILOCHAIN_SAMPLER)
#include KILOCHAIN_STRING(kernels/samplers/KILOCHAIN_NAME.hpp)
#elif defined(KILOCHAIN_SPIN_TARGET)
#include KILOCHAIN_STRING(targets/discrete/KILOCHAIN_NAME.hpp)
#elif !defined(KILOCHAIN_SPIN_SAMPLER)
#include KILOCHAIN_STRING(targets/KILOCHAIN_NAME.hpp)
#endif
// clang-format on

namespace kilochain {
namespace {

const char* const name = KILOCHAIN_STRING(KILOCHAIN_NAME);

}
}  // namespace kilochain
