// The head of an entry's files (sampler.cpp, sampler.cu, target.cpp, target.cu): includes the header of what CMake names
// (a target, or with KILOCHAIN_SAMPLER a
// sampler, KILOCHAIN_NAME; or KILOCHAIN_HEADER, of another project) and gives its name as a text.
#pragma once
#define KILOCHAIN_STRING2(x) #x
#define KILOCHAIN_STRING(x) KILOCHAIN_STRING2(x)
// clang-format off
#ifdef KILOCHAIN_HEADER
#include KILOCHAIN_HEADER
#elif defined(KILOCHAIN_SAMPLER)
#include KILOCHAIN_STRING(kernels/samplers/KILOCHAIN_NAME.hpp)
#else
#include KILOCHAIN_STRING(targets/KILOCHAIN_NAME.hpp)
#endif
// clang-format on

namespace kilochain {
namespace {

const char* const name = KILOCHAIN_STRING(KILOCHAIN_NAME);

}
}  // namespace kilochain
