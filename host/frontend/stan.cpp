// `kilochain stan compile`: a Stan program to a library that --target stan and BridgeStan's users can load.
#include <fmt/format.h>

#include <filesystem>

#include "host/frontend/commands.hpp"
#include "targets/stan/compile.hpp"

namespace kilochain::cli {

int compile_stan(const std::string& program, const std::string& output) {
  const std::string library =
      output.empty() ? std::filesystem::path(program).replace_extension(".so").string() : output;
  stan::compile_to(program, library);
  fmt::print("{}\nSample it: kilochain sample --target stan --model {} --data FILE.json\n", library, library);
  return 0;
}

}  // namespace kilochain::cli
