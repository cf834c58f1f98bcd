// Compiled once for each spin model (cmake/Register.cmake): read and checked, and its row in the registry.
#include "host/registry/registry.hpp"
#define KILOCHAIN_STRING2(x) #x
#define KILOCHAIN_STRING(x) KILOCHAIN_STRING2(x)
// clang-format off
#include KILOCHAIN_STRING(targets/discrete/KILOCHAIN_NAME.hpp)
// clang-format on

namespace kilochain::discrete {
namespace {

const char* const name = KILOCHAIN_STRING(KILOCHAIN_NAME);
using Model = KILOCHAIN_TYPE;

template <class Real>
std::unique_ptr<Target<Real>> make(const Context&, const SettingTexts& texts) {
  return std::make_unique<SpinTarget<Real>>(Model::read(parse_settings<Model>(name, texts)));
}

TargetEntry entry() {
  TargetEntry e;
  e.name = name;
  e.meaning = Model::meaning;
  e.spins = true;
  e.settings = describe_settings<Model>();
  e.check = [](const std::string& owner, const SettingTexts& texts) { parse_settings<Model>(owner, texts); };
  e.make_float = make<float>;
  e.make_double = make<double>;
  return e;
}

const RegisterTarget registered(entry());

}  // namespace
}  // namespace kilochain::discrete
