// `kilochain report`: the page of figures of a file of draws.
#include <fmt/format.h>

#include <filesystem>

#include "host/frontend/commands.hpp"
#include "host/frontend/files.hpp"
#include "host/frontend/text.hpp"
#include "host/report/advice.hpp"
#include "host/report/page.hpp"

namespace kilochain::cli {

int report(const std::string& path, const std::string& without, const std::string& output, bool overwrite) {
  std::error_code ignored;
  require(overwrite || !std::filesystem::exists(output, ignored), ExitStatus::usage,
          output + ": there is a file already", "a report never replaces one unasked",
          "Name another with --output, or add --overwrite?");
  const Diagnosis d = kilochain::diagnose(path, chain_numbers(without));
  const std::string page = page_of(path, d);
  write_file(output, page);
  const NextStep next = next_step(d);
  fmt::print("{}\n{}\nreport: {} ({} kB)\n", next.verdict, next.advice, output, (page.size() + 999) / 1000);
  return status_of(d.run);
}

}  // namespace kilochain::cli
