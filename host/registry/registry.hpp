// Names to samplers and targets. Entries register themselves: a line of CMake compiles host/registry/instantiate for each.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/chains/chain_memory.hpp"
#include "host/registry/settings.hpp"

namespace kilochain {

namespace discrete {
class Replicas;  // host/chains/replicas.hpp
}

/// Throws Error (usage) for a value that does not parse or is out of range; `owner` begins the message. Reads no data.
using CheckSettings = std::function<void(const std::string& owner, const SettingTexts& texts)>;

struct SamplerEntry {
  std::string name, meaning;
  std::vector<SettingInfo> settings;
  CheckSettings check;
  std::vector<std::string> stats;  ///< names of what it adds to sample_stats
  std::vector<std::string> drawn;  ///< settings that a policy can draw for each kept iteration
  bool adaptive = false;
  NeedsByPhase needs{Needs::gradient, Needs::gradient, Needs::gradient};
  template <class Real>
  using Make = std::function<std::unique_ptr<Chains<Real>>(const Context&, const SettingTexts&, Index num_chains,
                                                           Index dim, Scope)>;
  Make<float> make_float;
  Make<double> make_double;
  std::function<ChainBytes(const Context&, const SettingTexts&, Index num_chains, Index dim, Scope, Precision)> bytes;
  bool spins = false;  ///< a sampler of spin models: it has make_replicas, and none of the three above
  using MakeReplicas = std::function<std::unique_ptr<discrete::Replicas>(const Context&, const SettingTexts&,
                                                                         Index num_chains, const discrete::SpinModel&)>;
  MakeReplicas make_replicas;

  template <class Real>
  const Make<Real>& make() const {
    if constexpr (sizeof(Real) == 4)
      return make_float;
    else
      return make_double;
  }
};

struct TargetEntry {
  std::string name, meaning;
  std::vector<SettingInfo> settings;
  CheckSettings check;
  template <class Real>
  using Make = std::function<std::unique_ptr<Target<Real>>(const Context&, const SettingTexts&)>;
  Make<float> make_float;
  Make<double> make_double;
  bool spins = false;  ///< a spin model

  template <class Real>
  const Make<Real>& make() const {
    if constexpr (sizeof(Real) == 4)
      return make_float;
    else
      return make_double;
  }
};

/// All registered entries, by name: those of densities, and those of spin models.
const std::vector<SamplerEntry>& samplers();
const std::vector<TargetEntry>& targets();
const std::vector<SamplerEntry>& spin_samplers();
const std::vector<TargetEntry>& spin_targets();
/// Throws Error (usage) naming the nearest known one.
const SamplerEntry& find_sampler(const std::string& name);
const TargetEntry& find_target(const std::string& name);

/// For the static objects of host/registry/instantiate. CUDA halves are added by their own objects, in any order.
struct RegisterSampler {
  explicit RegisterSampler(SamplerEntry entry);
};
struct RegisterTarget {
  explicit RegisterTarget(TargetEntry entry);
};

/// The CUDA halves: looked up by name when a context is on CUDA.
struct CudaSamplerEntry {
  SamplerEntry::Make<float> make_float;
  SamplerEntry::Make<double> make_double;
  std::function<ChainBytes(const SettingTexts&, Index, Index, Scope, Precision)> bytes;
  SamplerEntry::MakeReplicas make_replicas;  ///< of a sampler of spins, in place of the three above
};
struct CudaTargetEntry {
  TargetEntry::Make<float> make_float;
  TargetEntry::Make<double> make_double;
};
struct RegisterCudaSampler {
  RegisterCudaSampler(const std::string& name, CudaSamplerEntry entry);
};
struct RegisterCudaTarget {
  RegisterCudaTarget(const std::string& name, CudaTargetEntry entry);
};
const CudaSamplerEntry* find_cuda_sampler(const std::string& name);
const CudaTargetEntry* find_cuda_target(const std::string& name);

/// What can be said about the settings before any data is read: throws Error (usage) for an unknown sampler, target or
/// setting, for a value that is none of the setting's, and for a sampler of densities on spins or of spins on a density.
void check_settings(const std::string& sampler, const SettingTexts& sampler_settings, const std::string& target,
                    const SettingTexts& target_settings);
/// A sampler or target on the context's backend. Throws Error (usage) when the backend has none.
template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, Index dim, Scope scope);
/// The same for a loaded target, which may be a spin model. Throws Error (usage) where the sampler cannot run on it.
template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, const TargetInfo& target, Scope scope);
template <class Real>
std::unique_ptr<Target<Real>> make_target(const Context& context, const std::string& name, const SettingTexts& texts);
/// Throws Error (usage), naming samplers that will do, when the sampler asks for more than the target offers.
void check_offer(const std::string& sampler, const std::string& target, Needs offers);
ChainBytes bytes_of_chains(const Context& context, const std::string& name, const SettingTexts& texts, Index num_chains,
                           Index dim, Scope scope, Precision precision);
ChainBytes bytes_of_chains(const Context& context, const std::string& name, const SettingTexts& texts, Index num_chains,
                           const TargetInfo& target, Scope scope, Precision precision);

}  // namespace kilochain
