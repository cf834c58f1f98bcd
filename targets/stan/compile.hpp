// From a Stan program to a shared library with BridgeStan's interface: stanc writes a class, the C++ compiler compiles
// targets/stan/interface.cc around it, 20 s and more. Kept in a cache, for the same text, flags and processor.
#pragma once
#include <string>
#include <vector>

namespace kilochain::stan {

/// Where stanc is, and what the C++ compiler must be given to compile what it writes.
struct Tools {
  std::string stanc;
  std::vector<std::string> includes, link;
};
/// Those of STAN_HOME, or of where scripts/install_stan puts them: an unpacked httpstan, a CmdStan or a BridgeStan.
/// Throws an Error (usage) that says how to have them.
Tools find_tools();

/// How a library's threads find their memory: fast, in little room that all libraries of a process share, or anywhere.
enum class Room { little, any };

/// The library of the program `path`, from the cache or compiled now, which standard error says. Throws an Error
/// (data) with stanc's words, and (usage) where there is no compiler.
std::string compiled(const std::string& path, Room room = Room::little);
/// The same, written to `library`.
void compile_to(const std::string& path, const std::string& library);

}  // namespace kilochain::stan
