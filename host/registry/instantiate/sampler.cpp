// Compiled once for each sampler (cmake/Register.cmake): its CPU chains in both precisions, and its row in the
// registry.
#include "host/chains/cpu_chains.hpp"
#include "host/registry/instantiate/sampler_makers.hpp"

namespace kilochain {
namespace {

SamplerEntry entry() {
  using Sampler = KILOCHAIN_TYPE<double>;
  auto e = described<SamplerEntry, Sampler>(name, Sampler::about.meaning.value);
  static_cast<SamplerMakers&>(e) = MakersOf<CpuChains>::all();
  e.stats.assign(Sampler::about.stats.names, Sampler::about.stats.names + Sampler::about.stats.count);
  e.drawn = drawn_by_policy<Sampler>();
  e.adaptive = Sampler::about.adaptive;
  e.target_accept = [](const SettingTexts& texts) {
    return number_in<Sampler>(parse_settings<Sampler>(name, texts), "target_accept");
  };
  e.needs = Sampler::about.needs;
  return e;
}

const RegisterSampler registered(entry());

}  // namespace
}  // namespace kilochain
