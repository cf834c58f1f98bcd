// What a target of fuzzing is: LLVMFuzzerTestOneInput, which gives the bytes to readers and accepts that they return or
// throw an Error in the form and with a status that users are told of; and what its inputs begin with. With clang and
// KILOCHAIN_LIBFUZZER the compiler's fuzzer calls it, otherwise tests/fuzz/driver.cpp.
#pragma once
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace kilochain::fuzz {

/// Whole inputs that are right, or nearly.
std::vector<std::string> seeds();

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// A folder of this process, gone at its end; in memory where the system has that.
inline const std::string& folder() {
  static const struct Folder {
    std::string path = (std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                            : std::filesystem::temp_directory_path()) /
                       ("kilochain_fuzz_" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } own;
  return own.path;
}
inline std::string write(std::string_view bytes, const std::string& name = "input") {
  const std::string path = folder() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}
inline std::string file_of_source(const std::string& name) {
  std::ifstream in(std::string(KILOCHAIN_SOURCE_DIR "/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class F>
void accept(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string_view what = error.what();
    const bool told = error.status() == ExitStatus::usage || error.status() == ExitStatus::data ||
                      error.status() == ExitStatus::output;
    const bool foreign =
        what.find("NetCDF: ") != what.npos || what.find("json.exception") != what.npos;  // words of libraries
    if (told && !foreign && what.find(" (") != what.npos && (what.ends_with('?') || what.ends_with('.'))) return;
    std::fprintf(stderr, "an error in another form, status %d: %s\n", exit_code(error.status()), error.what());
    std::abort();
  }
}

}  // namespace kilochain::fuzz
