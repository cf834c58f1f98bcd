#include "base/exit_status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kilochain {

std::string exit_statuses(std::initializer_list<ExitStatus> some) {
  std::string out, line = "Exit status:";
  for (const StatusRow& row : status_rows) {
    if (std::find(some.begin(), some.end(), row.status) == some.end()) continue;
    const std::string part =
        fmt::format(" {} {}{}", exit_code(row.status), row.name, row.status == *(some.end() - 1) ? "." : ",");
    if (line.size() + part.size() > 120) out += line + "\n", line.clear();
    line += line.empty() ? part.substr(1) : part;
  }
  return out + line;
}

std::string exit_status_table() {
  std::string out = "Exit statuses:\n";
  for (const StatusRow& row : status_rows) out += fmt::format("  {:<5}{}\n", exit_code(row.status), row.sentence);
  return out;
}

}  // namespace kilochain
