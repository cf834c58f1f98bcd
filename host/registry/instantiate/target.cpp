// Compiled once for each target (cmake/Register.cmake): it on the CPU in both precisions, and its row in the registry.
#include "host/chains/cpu_target.hpp"
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/instantiate/model_of.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {
namespace {

template <class Real>
std::unique_ptr<Target<Real>> make(const Context& context, const SettingTexts& texts) {
  using Model = decltype(model_of<KILOCHAIN_TYPE, Real>());
  const auto settings = parse_settings<Model>(name, texts);
  static_assert(
      requires { Model::cpu_only; } ||
          requires { Model::make_cpu(context, settings); } == requires { Model::make_cuda(context, settings); },
      "a target that evaluates many chains together has both make_cpu and make_cuda");
  if constexpr (requires { Model::make(context, settings); })
    return Model::make(context, settings);
  else if constexpr (requires { Model::make_cpu(context, settings); })  // it evaluates many chains together
    return Model::make_cpu(context, settings);
  else
    return std::make_unique<CpuTarget<Model, Real>>(context, settings);
}

/// On which backends it runs.
template <class Model>
void say_where(TargetEntry& e) {
  if constexpr (requires { Model::cpu_only(typename Model::Settings{}); })
    e.cpu_only = [](const SettingTexts& texts) { return Model::cpu_only(parse_settings<Model>(name, texts)); };
  else if constexpr (requires { Model::cpu_only; })
    e.cpu_only = [](const SettingTexts&) { return Model::cpu_only; };
  e.anywhere = requires(const Context& context, const typename Model::Settings& s) { Model::make(context, s); };
}

TargetEntry entry() {
  using Model = decltype(model_of<KILOCHAIN_TYPE, double>());
  auto e = described<TargetEntry, Model>(name, Model::meaning);
  say_where<Model>(e);
  e.make_float = make<float>;
  e.make_double = make<double>;
  return e;
}

const RegisterTarget registered(entry());

}  // namespace
}  // namespace kilochain
