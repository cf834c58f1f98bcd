// Compiled once for each spin sampler (cmake/Register.cmake): bound to every kind of board, and its row in the
// registry.
#define KILOCHAIN_SPIN_SAMPLER
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/spin_boards.hpp"

namespace kilochain::discrete {

using Sampler = KILOCHAIN_TYPE<GraphSpins>;  // settings and names are the same on every board
template std::unique_ptr<Replicas> bind<KILOCHAIN_TYPE>(const std::string&, const Context&, Index, const SpinModel&,
                                                        const Sampler::Settings&, const Rungs&);
namespace {

std::unique_ptr<Replicas> replicas(const Context& c, const SettingTexts& texts, Index n, const SpinModel& model) {
  return bind<KILOCHAIN_TYPE>(name, c, n, model, parse_settings<Sampler>(name, texts),
                              Rungs{1, model.beta, model.beta});
}

const RegisterSampler registered(spin_entry<Sampler, replicas>(name));

}  // namespace
}  // namespace kilochain::discrete
