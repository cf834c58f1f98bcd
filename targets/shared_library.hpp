// A density in a shared library, in any language that makes C functions (include/kilochain/c.h).
#pragma once
#include "targets/target.hpp"

namespace kilochain {

/// What one call of the function takes: a point, all chains' points, or those in the memory of a CUDA device.
enum class Batched { no, yes, device };

struct SharedLibrarySettings {
  std::string library, function = "log_density", names;
  Batched batched = Batched::no;
  int dim = 0;
  double call_seconds = 60;
};

template <class Real>
struct SharedLibrary {
  static constexpr const char* meaning = "a density that is a C function of a shared library";
  using Settings = SharedLibrarySettings;
  static const char* cpu_only(const Settings& s) {
    return s.batched == Batched::device ? "" : "functions of a shared library run on the CPU, but for --batched device";
  }
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("library", s.library, "the shared library");
    visit("function", s.function, "its function, as kilochain/c.h declares kilochain_density");
    visit("batched", s.batched, Names{"no", "yes", "device"},
          "whether a call takes many chains' points (kilochain_density_of_chains), and of a CUDA device "
          "(kilochain_density_on_device)");
    visit("dim", s.dim, between(0, 10000000), "number of coordinates");
    visit("names", s.names, "file with a name for each coordinate, one a line");
    visit("call_seconds", s.call_seconds, at_least(0), "how long one call of the density may take; 0: for ever");
  }
  /// On either backend.
  static std::unique_ptr<Target<Real>> make(const Context& context, const Settings& settings);
};

extern template struct SharedLibrary<float>;
extern template struct SharedLibrary<double>;

}  // namespace kilochain
