// Starting points from a file (--init file:PATH), as many rows as chains or one, of two precisions.
#include "host/run/start.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {

std::vector<std::string> seeds() {
  return {"0.5,0.25\n-1,2\n3,4\n",
          "1,2\n",
          "1\n2\n",
          "a,b\n1,2\n",
          "1e300,-1e300\n1,2\n1e-320,0\n",
          "\x93NUMPY\x01" + std::string(1, '\0') + "\x3d" + std::string(1, '\0') +
              "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n\n" + std::string(48, '\x3f')};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  Options o;
  o.num_chains = 3;
  o.init = "file:" + fuzz::write(fuzz::text_of(bytes, size));
  for (const Index dim : {1, 2}) {
    fuzz::accept([&] { StartingPoints<double>(o, dim).of(1, 2); });
    fuzz::accept([&] { StartingPoints<float>(o, dim).of(0, 3); });
  }
  return 0;
}
