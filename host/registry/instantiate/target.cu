// Compiled once for each target where CUDA is (cmake/Register.cmake): it on CUDA, in both precisions.
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/instantiate/inside.hpp"
#include "host/registry/instantiate/model_of.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {
namespace {

template <class Real>
std::unique_ptr<Target<Real>> make(const Context& context, const SettingTexts& texts) {
  using Model = decltype(model_of<KILOCHAIN_TYPE, Real>());
  const auto settings = parse_settings<Model>(name, texts);
  if constexpr (requires { Model::is_grouped(settings); })  // another model, then
    if (Model::is_grouped(settings))
      return std::make_unique<
          CudaTarget<typename Model::Grouped, Real, typename SamplersInside<Real, typename Model::Grouped>::List>>(
          context, settings, true);
  if constexpr (requires { Model::make_cuda(context, settings); })  // it may evaluate many chains together
    if (auto together = Model::make_cuda(context, settings)) return together;
  bool in_blocks = true;
  if constexpr (requires { settings.evaluator == decltype(settings.evaluator)::team; })
    in_blocks = settings.evaluator != decltype(settings.evaluator)::team;
  return std::make_unique<CudaTarget<Model, Real, typename SamplersInside<Real, Model>::List>>(context, settings,
                                                                                               in_blocks);
}

const RegisterTarget registered(name, {make<float>, make<double>});

}  // namespace
}  // namespace kilochain
