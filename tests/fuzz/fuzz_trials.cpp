// The table of a search's trials, from which it is resumed.
#include "host/frontend/tune_files.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {

std::vector<std::string> seeds() {
  const std::string head = "{\"kilochain_tune\":1,\"search\":{\"target\":\"gaussian\"}}\n";
  return {
      head +
          "{\"trial\":0,\"settings\":{\"step_size\":0.1},\"score\":1.5}\n{\"trial\":1,\"settings\":{},\"score\":2}\n",
      head,
      "{\"kilochain_tune\":1,\"search\":{\"target\":[" + std::string(2000, '[') + std::string(2000, ']') + "]}}\n"};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  fuzz::write(fuzz::text_of(bytes, size), "trials.jsonl");
  fuzz::accept([] { cli::TrialTable(fuzz::folder(), {{"target", "gaussian"}}); });
  return 0;
}
