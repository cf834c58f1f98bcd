// What the symbol table says of the program, or of the extension of Python, that the device is in: names of kernels,
// and where __shared__ variables are (their tag is in the mangled name). So it must not be stripped.
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

/// The file that this is in; addr2line reads it too.
std::string own_file() {
  std::string out = "/proc/" + std::to_string(getpid()) + "/exe";
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        if (info->dlpi_addr == image.bias && *info->dlpi_name) *static_cast<std::string*>(data) = info->dlpi_name;
        return 0;
      },
      &out);
  return out;
}

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
    std::ifstream file(own_file(), std::ios::binary);
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
        Image to{info->dlpi_addr, ~std::uintptr_t(0), 0};
        for (int k = 0; k < info->dlpi_phnum; ++k)
          if (info->dlpi_phdr[k].p_type == PT_LOAD) {
            const std::uintptr_t at = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
            to.begin = std::min(to.begin, at);
            to.end = std::max(to.end, at + info->dlpi_phdr[k].p_memsz);
          }
        const auto here = reinterpret_cast<std::uintptr_t>(&image);
        if (here < to.begin || here >= to.end) return 0;
        *static_cast<Image*>(data) = to;
        return 1;
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

/// By addr2line, which is there wherever a compiler is; one call for all, because each reads the whole program.
std::vector<std::string> sources_of(const std::vector<std::uintptr_t>& pcs) {
  static std::map<std::uintptr_t, std::string> known;
  std::string addresses;
  for (const std::uintptr_t pc : pcs)
    if (known.emplace(pc, "?").second) {
      char text[32];
      std::snprintf(text, sizeof text, " %#lx", static_cast<unsigned long>(pc - image.bias - 1));
      addresses += text;
    }
  const auto read = [&](std::uintptr_t& at, const std::string& function, const std::string& file) {
    if (function.starts_with("0x")) {
      at = std::stoul(function, nullptr, 16) + image.bias + 1;
    } else if (at != 0 && known[at] == "?" && !file.starts_with("device_functions.h") &&
               !(file.starts_with("team.hpp") && function.find("::sum") == std::string::npos)) {
      known[at] = file.substr(0, file.find_first_of(" \n"));  // the innermost place that is not a loop of the team
    }
  };
  const std::string command = "addr2line -aCfsie '" + own_file() + "'" + addresses + " 2>/dev/null";
  if (FILE* pipe = addresses.empty() ? nullptr : popen(command.c_str(), "r")) {
    char line[4096];
    const auto next = [&] { return std::fgets(line, sizeof line, pipe) ? std::string(line) : ""; };
    std::uintptr_t at = 0;
    for (std::string one = next(); !one.empty(); one = next()) read(at, one, one.starts_with("0x") ? "" : next());
    pclose(pipe);
  }
  std::vector<std::string> out;
  for (const std::uintptr_t pc : pcs) out.push_back(known[pc]);
  return out;
}
std::string source_of(std::uintptr_t pc) { return sources_of({pc})[0]; }

}  // namespace kilochain::emulated
