// Compiled once for each spin model (cmake/Register.cmake): read and checked, and its row in the registry.
#define KILOCHAIN_SPIN_TARGET
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/registry.hpp"

namespace kilochain::discrete {
namespace {

using Model = KILOCHAIN_TYPE;

template <class Real>
std::unique_ptr<Target<Real>> make(const Context&, const SettingTexts& texts) {
  return std::make_unique<SpinTarget<Real>>(Model::read(parse_settings<Model>(name, texts)));
}

TargetEntry entry() {
  auto e = described<TargetEntry, Model>(name, Model::meaning);
  e.family = Family::spins;
  e.cpu_only = [](const SettingTexts&) { return "models of spins run on the CPU"; };
  e.make_float = make<float>;
  e.make_double = make<double>;
  return e;
}

const RegisterTarget registered(entry());

}  // namespace
}  // namespace kilochain::discrete
