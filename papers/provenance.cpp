#include "papers/provenance.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/utsname.h>

#include <cstdio>
#include <ctime>
#include <fstream>

namespace kilochain::papers {
namespace {

std::string first_line_of(const std::string& command) {
  std::string out;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    char text[256];
    if (fgets(text, sizeof text, pipe)) out = text;
    pclose(pipe);
  }
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

}  // namespace

std::string machine() {
  std::string model = "processor not known", text;
  std::ifstream cpu("/proc/cpuinfo");
  while (std::getline(cpu, text))
    if (text.rfind("model name", 0) == 0) {
      model = text.substr(text.find(':') + 2);
      break;
    }
  utsname u{};
  uname(&u);
  return fmt::format("{}, {} cores, {} {}", model, omp_get_num_procs(), u.sysname, u.machine);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

std::string commit_of(const std::string& folder) {
  const std::string commit = first_line_of(fmt::format("git -C '{}' rev-parse --short HEAD 2>/dev/null", folder));
  return commit.empty() ? "not known" : commit;
}

}  // namespace kilochain::papers
