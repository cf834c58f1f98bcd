// The version of this tree: project(VERSION) in CMakeLists.txt, which is the only place that spells it for programs.
#pragma once

namespace kilochain {

/// "major.minor.patch"
const char* version();

}  // namespace kilochain
