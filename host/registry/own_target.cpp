#include "host/registry/own_target.hpp"

#include <map>
#include <mutex>

namespace kilochain {
namespace {

struct Own {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const TargetEntry>> targets;
};
Own& own() {
  static Own all;
  return all;
}

/// What a run may set of a function.
struct OwnFunction {
  using Settings = FunctionDensity;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("call_seconds", s.call_seconds, at_least(0), "how long one call of the density may take; 0: for ever");
  }
};

struct WithoutSettings {
  struct Settings {};
  template <class V>
  static void settings(V&&, Settings&) {}
};

template <class Real>
auto make_function(const std::string& name, const FunctionDensity& density) {
  return [name, density](const Context& context, const SettingTexts& texts) {
    FunctionDensity f = density;
    if (!texts.empty()) f.call_seconds = parse_settings<OwnFunction>(name, texts).call_seconds;
    return function_target<Real>(context, name, f);
  };
}

}  // namespace

OwnTarget::OwnTarget(const std::string& name, const FunctionDensity& density)
    : OwnTarget(described<TargetEntry, OwnFunction>(name, "a function"),
                {make_function<float>(name, density), make_function<double>(name, density)},
                density.on_device ? "" : "targets of a program's own run on the CPU, but for densities on a device") {}

OwnTarget::OwnTarget(const std::string& name, TargetMakers makers, const char* cpu_only)
    : OwnTarget(described<TargetEntry, WithoutSettings>(name, "a model"), std::move(makers), cpu_only) {}

OwnTarget::OwnTarget(TargetEntry with_settings, TargetMakers makers, const char* cpu_only) {
  const auto entry = std::make_shared<TargetEntry>(std::move(with_settings));
  const std::string& name = entry->name;
  entry->cpu_only = [cpu_only](const SettingTexts&) { return cpu_only; };
  entry->anywhere = true;
  entry->make_float = std::move(makers.make_float);
  entry->make_double = std::move(makers.make_double);
  bool known = false;
  for (const TargetEntry& e : targets()) known = known || e.name == name;
  const std::lock_guard lock(own().mutex);
  require(!known && own().targets.emplace(name, entry).second, ExitStatus::usage, "a target of that name is there",
          name, "Choose another name?");
  entry_ = entry;
}

OwnTarget::~OwnTarget() {
  const std::lock_guard lock(own().mutex);
  own().targets.erase(entry_->name);
}

const TargetEntry* find_own_target(const std::string& name) {
  const std::lock_guard lock(own().mutex);
  const auto it = own().targets.find(name);
  return it == own().targets.end() ? nullptr : it->second.get();
}

}  // namespace kilochain
