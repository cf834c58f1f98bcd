// Where tests find the source tree's files, and the public data sets beside it. A program may run in another folder
// than where it was built (bench/on_gpu.sh): variables of these names go before what was compiled in.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace kilochain::testing_support {

inline std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// KILOCHAIN_SOURCE_DIR, or the tree that this was built from.
inline std::string source_folder() {
  const std::string given = variable("KILOCHAIN_SOURCE_DIR");
  return given.empty() ? KILOCHAIN_SOURCE_DIR : given;
}

/// The folder of the public data sets: KILOCHAIN_SHARED_DATA, or shared/data beside the source tree or in it. Empty,
/// which is said aloud once, where there is none.
inline std::string shared_data() {
  static const std::string found = [] {
    const std::string given = variable("KILOCHAIN_SHARED_DATA"), source = source_folder();
    for (const std::string& folder : {given, source + "/../shared/data", source + "/shared/data"})
      if (!folder.empty() && std::filesystem::exists(folder)) return folder;
    std::printf(
        "skipped: the public data sets are not at %s/../shared/data, nor where KILOCHAIN_SHARED_DATA says (%s)\n",
        source.c_str(), given.empty() ? "it is not set" : given.c_str());
    return std::string();
  }();
  return found;
}

}  // namespace kilochain::testing_support
