// Papers that can be run again: each is a subcommand `kilochain reproduce NAME`, with flags of its own.
//
// A paper is a folder papers/NAME; nothing else names it. One of its files (command.cpp) holds
//   const RegisterPaper registered({"name2019", "Title of the Paper", add_flags});
// where add_flags tells CLI11 of the paper's flags (into variables that live as long as what it returns) and returns
// what is called once they are read: it does the work and returns the exit status. CMake links every papers/*/*.cpp
// into the program `kilochain`, and into no library that other projects use.
#pragma once
#include <functional>
#include <map>
#include <string>

namespace CLI {
class App;
}

namespace kilochain::cli {

/// A subcommand with flags that are known beforehand.
struct Command {
  std::string name;     ///< titsias2019
  std::string meaning;  ///< one line of the help: the paper's title
  /// Adds flags to the subcommand; what it returns is called after they are read. Both may throw Error.
  std::function<std::function<int()>(CLI::App&)> add_flags;
};

/// Every paper of this program, by name; none in programs of other projects.
const std::map<std::string, Command>& registered_papers();

struct RegisterPaper {
  explicit RegisterPaper(const Command& paper);
};

}  // namespace kilochain::cli
