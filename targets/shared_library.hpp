// A density in a shared library, in any language that makes C functions (include/kilochain/c.h). On the CPU alone.
#pragma once
#include "targets/target.hpp"

namespace kilochain {

struct SharedLibrarySettings {
  std::string library, function = "log_density", names;
  bool batched = false;
  int dim = 0;
  double call_seconds = 60;
};

template <class Real>
struct SharedLibrary {
  static constexpr const char* meaning = "a density that is a C function of a shared library (CPU only)";
  static constexpr const char* cpu_only = "functions of a shared library run on the CPU";
  using Settings = SharedLibrarySettings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("library", s.library, "the shared library");
    visit("function", s.function, "its function, as kilochain/c.h declares kilochain_density");
    visit("batched", s.batched, "the function takes many chains' points in a call (kilochain_density_of_chains)");
    visit("dim", s.dim, between(0, 10000000), "number of coordinates");
    visit("names", s.names, "file with a name for each coordinate, one a line");
    visit("call_seconds", s.call_seconds, at_least(0), "how long one call of the density may take; 0: for ever");
  }
  static std::unique_ptr<Target<Real>> make_cpu(const Context& context, const Settings& settings);
};

extern template struct SharedLibrary<float>;
extern template struct SharedLibrary<double>;

}  // namespace kilochain
