#include "targets/external/shared_object.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.hpp"

namespace kilochain {

SharedObject::SharedObject(const std::string& path) : path_(path) {
  require(std::filesystem::exists(path), ExitStatus::usage, path + ": no such library", "the file is not there",
          "Is the path right?");
  // A name without a slash would be looked for in the system's folders.
  handle_ = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) return;
  const std::string why = dlerror();
  const bool room = why.find("static TLS") != std::string::npos;
  throw Error(ExitStatus::usage, path + ": the library cannot be loaded", why,
              room ? "This process has many compiled programs: load it in another, or begin this one with "
                     "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536?"
                   : "Is it a shared library of this machine, and are those that it needs there?");
}

void* SharedObject::find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

void* SharedObject::address(const std::string& name, const std::string& fix) const {
  void* const found = find(name);
  require(found, ExitStatus::usage, path_ + ": the library has no function " + name, "dlsym finds none", fix);
  return found;
}

}  // namespace kilochain
