// The names of a shared library's coordinates.
#include "host/registry/registry.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {

std::vector<std::string> seeds() {
  return {"alpha\nbeta\n", "a b \r\n\n\xc3\xa9[1,2]\n", "x\nx\n", std::string("\0\nb\n", 4)};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  const std::string path = fuzz::write(fuzz::text_of(bytes, size));
  fuzz::accept([&] {
    make_target<double>(
        cpu_context(1), "shared_library",
        {{"library", KILOCHAIN_BINARY_DIR "/tests/libraries/small_density.so"}, {"dim", "2"}, {"names", path}});
  });
  return 0;
}
