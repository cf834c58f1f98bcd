// A Stan program and its data as a target, unchanged: docs/stan.md. On the CPU alone.
#pragma once
#include "targets/target.hpp"

namespace kilochain {

/// What is recorded of each draw: the parameters, with transformed parameters, with generated quantities too.
enum class StanRecord { parameters, transformed, all };

struct StanSettings {
  std::string model, data;
  StanRecord record = StanRecord::all;
  double call_seconds = 60;
};

template <class Real>
struct Stan {
  static constexpr const char* meaning = "a Stan program, as its source or as a library that was made of it (CPU only)";
  static constexpr const char* cpu_only = "Stan programs run on the CPU";
  using Settings = StanSettings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("model", s.model,
          "FILE.stan, compiled when that was not done before, or a library with BridgeStan's interface");
    visit("data", s.data, "JSON file of the program's data");
    visit("record", s.record, Names{"parameters", "transformed", "all"},
          "what is kept of a draw: parameters, transformed parameters too, generated quantities too");
    visit("call_seconds", s.call_seconds, at_least(0), "how long one call of the density may take; 0: for ever");
  }
  /// Throws an Error: no such program, one that does not compile, a library of another kind, data that it refuses.
  static std::unique_ptr<Target<Real>> make_cpu(const Context& context, const Settings& settings);
};

extern template struct Stan<float>;
extern template struct Stan<double>;

}  // namespace kilochain
