// Finds stanc, the headers and the libraries of Stan.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "targets/stan/compile.hpp"

namespace kilochain::stan {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// Folders or files in `folder` whose name begins so and ends so, in their order.
std::vector<fs::path> in_folder(const fs::path& folder, const std::string& begin, const std::string& end = "") {
  std::vector<fs::path> out;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      if (const std::string name = entry.path().filename(); name.starts_with(begin) && name.ends_with(end))
        out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

void add_archives(Tools& tools, const fs::path& folder) {
  for (const char* name : {"cvodes", "idas", "kinsol", "nvecserial"})
    for (const fs::path& archive : in_folder(folder, std::string("libsundials_") + name, ".a"))
      tools.link.push_back(archive);
}

void add_tbb(Tools& tools, const fs::path& folder) {
  tools.link.insert(tools.link.end(), {"-L" + folder.string(), "-Wl,-rpath," + folder.string(), "-ltbb"});
}

/// httpstan's wheel, unpacked.
bool take_httpstan(const fs::path& root, Tools& tools) {
  if (!fs::exists(root / "stanc") || !fs::exists(root / "include/stan")) return false;
  tools.stanc = root / "stanc";
  tools.includes = {root / "include"};
  add_archives(tools, root / "lib");
  add_tbb(tools, root / "lib");
  return true;
}

/// A CmdStan or a BridgeStan that has been built: its libraries lie in the folder of Stan's mathematics.
bool take_cmdstan(const fs::path& root, Tools& tools) {
  const fs::path math = root / "stan/lib/stan_math", libraries = math / "lib";
  if (!fs::exists(root / "bin/stanc") || !fs::exists(math)) return false;
  tools.stanc = root / "bin/stanc";
  tools.includes = {root / "stan/src", math};
  for (const fs::path& folder : in_folder(root / "stan/lib", "rapidjson")) tools.includes.push_back(folder);
  for (const char* name : {"eigen_", "boost_"})
    for (const fs::path& folder : in_folder(libraries, name)) tools.includes.push_back(folder);
  for (const char* name : {"sundials_", "tbb_"})
    for (const fs::path& folder : in_folder(libraries, name)) tools.includes.push_back(folder / "include");
  for (const fs::path& folder : in_folder(libraries, "sundials_")) {
    tools.includes.push_back(folder / "src/sundials");
    add_archives(tools, folder / "lib");
  }
  add_tbb(tools, libraries / "tbb");
  return true;
}

}  // namespace

Tools find_tools() {
  const std::string home = variable("STAN_HOME"), data = variable("XDG_DATA_HOME");
  const fs::path installed =
      (data.empty() ? fs::path(variable("HOME")) / ".local/share" : fs::path(data)) / "kilochain/stan";
  Tools tools;
  for (const fs::path& root : home.empty() ? std::vector{installed} : std::vector<fs::path>{home})
    if (take_httpstan(root / "httpstan", tools) || take_httpstan(root, tools) || take_cmdstan(root, tools))
      return tools;
  throw Error(ExitStatus::usage, "stanc and the headers of Stan are not there",
              home.empty() ? "STAN_HOME is not set, and nothing is in " + installed.string()
                           : "STAN_HOME is " + home + ", which is no httpstan, CmdStan or BridgeStan",
              "Run scripts/install_stan, or set STAN_HOME to a CmdStan or a BridgeStan that has been built?");
}

}  // namespace kilochain::stan
