// A model's data: JSON of names and numbers.
#include "model/loader.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {

std::vector<std::string> seeds() {
  return {file_of_source("data/eight_schools.json"), R"({"data": {"y": [[1, 2], [3, 4.5e2]], "n": 7}, "other": null})",
          R"({"y": [1, "two"], "n": 1e300, "sigma": {"a": [true]}})",
          "{\"y\": " + std::string(100000, '[') + std::string(100000, ']') + "}", [] {
            std::string deep;
            for (int k = 0; k < 50000; ++k) deep += "{\"data\":";
            return deep + "1" + std::string(50000, '}');
          }()};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  const std::string path = fuzz::write(fuzz::text_of(bytes, size));
  fuzz::accept([&] { JsonData(path, "data"); });
  fuzz::accept([&] {
    const JsonData data = DataFile{path}.json();
    fuzz::accept([&] { data.numbers("y"); });
    fuzz::accept([&] { data.numbers("sigma", 8); });
    fuzz::accept([&] { data.number("n"); });
  });
  return 0;
}
