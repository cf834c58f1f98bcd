#include "targets/stan/compile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "base/tell.hpp"
#include "targets/stan/interface_text.hpp"

namespace kilochain::stan {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* stanc_flags = "--O1";  // the same density, by up to half the operations
constexpr const char* flags[] = {"-std=c++17",   "-O3", "-march=native", "-fPIC", "-shared", "-DSTAN_THREADS",
                                 "-D_REENTRANT", "-w"};
// A gradient asks hundreds of times where its thread's tape is: found so, it takes a sixth to a third less time. A
// process has room for some 30 libraries of this kind; a further one is compiled without it.
constexpr const char* fast_threads = "-ftls-model=initial-exec";

std::string variable(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value && *value ? value : otherwise;
}

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  require(out.good(), ExitStatus::output, path.string() + ": cannot be written", "a file of the compilation",
          "Is there room, and may you write there? XDG_CACHE_HOME chooses another folder");
}

/// A folder of its own, which goes when this does.
class Scratch {
 public:
  Scratch() : path_((fs::temp_directory_path() / "kilochain-stan-XXXXXX").string()) {
    require(mkdtemp(path_.data()) != nullptr, ExitStatus::output, path_ + ": no folder can be made", strerror(errno),
            "Is there room? TMPDIR chooses another place");
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  fs::path operator/(const char* name) const { return fs::path(path_) / name; }

 private:
  std::string path_;
};

struct Ended {
  int status;          ///< -1: the program is not there
  std::string output;  ///< both streams
};

/// Runs a program to its end, without a shell. Its output goes through `log`.
Ended run(const Words& command, const fs::path& log) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return {-1, strerror(failed)};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(log)};
}

std::string program_text(const std::string& path) {
  require(fs::is_regular_file(path), ExitStatus::data, path + ": no such Stan program", "the file is not there",
          "Is the path right?");
  return read(path);
}

/// Every function that stanc writes begins so. The program's own ones may end there (interface.cc).
std::string with_steps(std::string text) {
  const std::string begin = "int current_statement__ = 0;", counted = "int current_statement__ = kilochain_step();";
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos; at += counted.size())
    text.replace(at, begin.size(), counted);
  return text;
}

/// Whether the program may branch, as far as its text tells.
bool branches(const std::string& text) { return std::regex_search(text, std::regex("\\b(if|while)\\b|[?]|#include")); }

/// stanc's class of the program, written to `header`.
void translate(const std::string& path, const Tools& tools, const Scratch& scratch, const fs::path& header) {
  const fs::path folder = fs::absolute(path).parent_path();
  const Ended stanc = run({tools.stanc, stanc_flags, "--name=stan_program", "--include-paths=" + folder.string(),
                           "--o=" + header.string(), path},
                          scratch / "stanc.txt");
  if (stanc.status != 0)
    throw ErrorInLines(
        stanc.status < 0 ? ExitStatus::usage : ExitStatus::data,
        path + ": stanc refuses the program:\n" + stanc.output.substr(0, stanc.output.find_last_not_of("\n ") + 1),
        fmt::format("{} ended with {}", tools.stanc, stanc.status), "Mend the program?");
  write(header,
        fmt::format("constexpr bool kilochain_branches = {};\n", branches(read(path))) + with_steps(read(header)));
}

void build(const std::string& path, const Tools& tools, const Scratch& scratch, const fs::path& library, Room room) {
  const std::string compiler = variable("CXX", "g++");
  tell(stderr, "kilochain: compiling {} (20 s and more, once)\n", path);
  write(scratch / "interface.cpp", interface_text);
  Words command = {compiler};
  command.insert(command.end(), std::begin(flags), std::end(flags));
  if (room == Room::little) command.push_back(fast_threads);
  for (const std::string& folder : tools.includes) command.push_back("-I" + folder);
  command.insert(command.end(), {(scratch / "interface.cpp").string(), "-o", library.string()});
  command.insert(command.end(), tools.link.begin(), tools.link.end());
  const Ended ended = run(command, scratch / "compiler.txt");
  require(ended.status >= 0, ExitStatus::usage, path + ": there is no C++ compiler to compile it with",
          compiler + ": " + ended.output, "Install g++, or name one in CXX? A library made elsewhere needs none");
  if (ended.status != 0)
    throw ErrorInLines(ExitStatus::data, path + ": the C++ compiler fails:\n" + ended.output.substr(0, 4000),
                       fmt::format("{} ended with {}", compiler, ended.status), "Do compiler and Stan fit each other?");
}

/// Fowler, Noll and Vo's hash, 64 bits, from two beginnings.
std::string hash_of(const std::string& text) {
  std::string out;
  for (std::uint64_t hash : {14695981039346656037u, 1099511628211u}) {
    for (const unsigned char letter : text) hash = (hash ^ letter) * 1099511628211u;
    out += fmt::format("{:016x}", hash);
  }
  return out;
}

/// What the machine code may depend on beside the text.
std::string circumstances(const Tools& tools, Room room) {
  std::string out = variable("CXX", "g++") + "\n" + tools.stanc + stanc_flags + "\n" + interface_text;
  for (const char* flag : flags) out += std::string(flag) + "\n";
  if (room == Room::little) out += std::string(fast_threads) + "\n";
  std::ifstream processor("/proc/cpuinfo");
  for (std::string line; std::getline(processor, line);)
    if (line.starts_with("flags")) return out + line;
  return out;
}

fs::path cache() {
  const fs::path folder =
      fs::path(variable("XDG_CACHE_HOME", variable("HOME", "/tmp") + "/.cache")) / "kilochain" / "stan";
  std::error_code failed;
  fs::create_directories(folder, failed);
  require(!failed, ExitStatus::output, folder.string() + ": no folder can be made", failed.message(),
          "May you write there? XDG_CACHE_HOME chooses another folder");
  return folder;
}

}  // namespace

void compile_to(const std::string& path, const std::string& library) {
  program_text(path);
  require(access(fs::absolute(library).parent_path().c_str(), W_OK) == 0, ExitStatus::output,
          library + ": the library cannot be written", strerror(errno),
          "Is the folder there, and may you write there?");
  const Tools tools = find_tools();
  const Scratch scratch;
  translate(path, tools, scratch, scratch / "stan_class.hpp");
  build(path, tools, scratch, library, Room::little);
}

std::string compiled(const std::string& path, Room room) {
  std::string text = program_text(path);
  const Tools tools = find_tools();
  const Scratch scratch;
  const fs::path header = scratch / "stan_class.hpp";
  const bool includes = text.find("#include") != std::string::npos;
  if (includes) {  // what it includes counts too
    translate(path, tools, scratch, header);
    text = read(header);
  }
  const fs::path folder = cache(), library = folder / (hash_of(text + circumstances(tools, room)) + ".so");
  if (fs::exists(library)) return library;
  if (!includes) translate(path, tools, scratch, header);
  // Written beside and renamed: another run at the same time has the same library, whole.
  const fs::path beside = folder / (library.filename().string() + fmt::format(".{}", getpid()));
  build(path, tools, scratch, beside, room);
  fs::rename(beside, library);
  return library;
}

}  // namespace kilochain::stan
