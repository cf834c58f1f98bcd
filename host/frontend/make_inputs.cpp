// Commands that make what runs read: a table of data, and of a Stan program a library that --target stan and
// BridgeStan's users can load.
#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "host/frontend/commands.hpp"
#include "targets/data/synthetic.hpp"
#include "targets/stan/compile.hpp"

namespace kilochain::cli {

int generate(const std::string& output, std::int64_t rows, std::int64_t features, std::uint64_t seed) {
  const auto size = [](const char* flag, std::int64_t value, int example) {
    require(value > 0, ExitStatus::usage, fmt::format("command line: {} = {}", flag, value), "must be > 0",
            fmt::format("Try {}?", example));
    return static_cast<std::size_t>(value);
  };
  const std::vector<double> weights =
      write_synthetic_logistic(output, size("--rows", rows, 1000), size("--features", features, 10), seed);
  fmt::print("{}: {} rows, {} features, label y\ntrue weights, intercept last: {:.6g}\n", output, rows, features,
             fmt::join(weights, " "));
  fmt::print("Sample it: kilochain sample --target logistic_regression --data {}\n", output);
  return 0;
}

int compile_stan(const std::string& program, const std::string& output) {
  const std::string library =
      output.empty() ? std::filesystem::path(program).replace_extension(".so").string() : output;
  stan::compile_to(program, library);
  fmt::print("{}\nSample it: kilochain sample --target stan --model {} --data FILE.json\n", library, library);
  return 0;
}

}  // namespace kilochain::cli
