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
  if constexpr (requires { Model::make_cpu(context, settings); })  // it evaluates many chains together
    return Model::make_cpu(context, settings);
  else
    return std::make_unique<CpuTarget<Model, Real>>(context, settings);
}

template <class Model>
const char* why_cpu_only() {
  if constexpr (requires { Model::cpu_only; })
    return Model::cpu_only;
  else
    return "";
}

TargetEntry entry() {
  using Model = decltype(model_of<KILOCHAIN_TYPE, double>());
  auto e = described<TargetEntry, Model>(name, Model::meaning);
  e.cpu_only = why_cpu_only<Model>();
  e.make_float = make<float>;
  e.make_double = make<double>;
  return e;
}

const RegisterTarget registered(entry());

}  // namespace
}  // namespace kilochain
