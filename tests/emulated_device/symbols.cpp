// What the program's own symbol table says: names of kernels, and where __shared__ variables are (their tag is in the
// mangled name). So the program must not be stripped.
#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/emulated_device/runtime.hpp"

namespace kilochain::emulated {
namespace {

std::string demangled(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string out = status == 0 ? text : name;
  std::free(text);
  return out;
}

struct Symbols {
  std::map<std::uintptr_t, std::string> functions;  ///< mangled, by address
  std::vector<SharedVariable> shared;
  Symbols() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(bytes.data());
    const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(bytes.data() + header->e_shoff);
    for (int s = 0; s < header->e_shnum; ++s) {
      if (sections[s].sh_type != SHT_SYMTAB) continue;
      const char* names = bytes.data() + sections[sections[s].sh_link].sh_offset;
      const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(bytes.data() + sections[s].sh_offset);
      for (std::size_t k = 0; k < sections[s].sh_size / sizeof(ElfW(Sym)); ++k) {
        const auto& symbol = symbols[k];
        const std::string name = names + symbol.st_name;
        const std::uintptr_t at = image.bias + symbol.st_value;
        const int type = ELF64_ST_TYPE(symbol.st_info);
        if (type == STT_FUNC && symbol.st_size > 0) functions.emplace(at, name);
        if (type == STT_OBJECT && name.size() > 8 && name.compare(name.size() - 8, 8, "B6shared") == 0)
          shared.push_back({at, at + symbol.st_size, demangled(name.c_str())});
      }
    }
    std::sort(shared.begin(), shared.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }
};
const Symbols& symbols() {
  static const Symbols all;
  return all;
}

}  // namespace

const Image image = [] {
  Image out{};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        Image& to = *static_cast<Image*>(data);
        to = {info->dlpi_addr, ~std::uintptr_t(0), 0};
        for (int k = 0; k < info->dlpi_phnum; ++k)
          if (info->dlpi_phdr[k].p_type == PT_LOAD) {
            const std::uintptr_t at = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
            to.begin = std::min(to.begin, at);
            to.end = std::max(to.end, at + info->dlpi_phdr[k].p_memsz);
          }
        return 1;  // the first one is the program
      },
      &out);
  return out;
}();

std::string name_of(const void* function) {
  const auto& all = symbols().functions;
  auto at = all.upper_bound(reinterpret_cast<std::uintptr_t>(function));
  if (at == all.begin()) return "?";
  return demangled((--at)->second.c_str());
}

const std::vector<SharedVariable>& shared_variables() { return symbols().shared; }

/// File and line by addr2line, which is there wherever a compiler is; where functions were inlined, the innermost place
/// that is not a team's own.
std::string source_of(std::uintptr_t pc) {
  static std::map<std::uintptr_t, std::string> known;
  std::string& place = known[pc];
  if (!place.empty()) return place;
  char command[128];
  std::snprintf(command, sizeof command, "addr2line -Csie /proc/%d/exe %#lx 2>/dev/null", getpid(),
                static_cast<unsigned long>(pc - image.bias - 1));
  if (FILE* pipe = popen(command, "r")) {
    char line[512];
    while (std::fgets(line, sizeof line, pipe)) {
      std::string frame = line;
      frame = frame.substr(0, frame.find_first_of(" \n"));
      const bool of_team = frame.starts_with("team.hpp") || frame.starts_with("device_functions.h");
      if (place.empty() || place.starts_with("team.hpp") || place.starts_with("device_functions.h"))
        place = place.empty() || !of_team ? frame : place;
    }
    pclose(pipe);
  }
  if (place.empty()) place = "?";
  return place;
}

}  // namespace kilochain::emulated
