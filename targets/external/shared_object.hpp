// A shared library that is loaded while the program runs. It stays loaded until the program ends: its threads and
// static objects may outlive whoever asked for it.
#pragma once
#include <string>

namespace kilochain {

class SharedObject {
 public:
  /// Throws an Error (usage) with the loader's own words.
  explicit SharedObject(const std::string& path);
  /// The function of that name. Throws an Error (usage) when there is none; `fix` ends its message.
  template <class F>
  F* function(const std::string& name, const std::string& fix) const {
    return reinterpret_cast<F*>(address(name, fix));
  }
  /// Null where there is none.
  void* find(const std::string& name) const;
  const std::string& path() const { return path_; }

 private:
  void* address(const std::string& name, const std::string& fix) const;
  std::string path_;
  void* handle_;
};

}  // namespace kilochain
