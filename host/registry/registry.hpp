// Names to samplers and targets. Each registers itself: a line of CMake compiles host/registry/instantiate for it.
#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "host/chains/chains.hpp"
#include "host/registry/settings.hpp"

namespace kilochain {

/// Throws Error (usage) for a value that does not parse or is out of range; `owner` begins the message. Reads no data.
using CheckSettings = std::function<void(const std::string& owner, const SettingTexts& texts)>;

/// What makes one thing on one backend, in either precision.
template <template <class> class Made, class... Arguments>
struct Makers {
  template <class Real>
  using Make = std::function<std::unique_ptr<Made<Real>>(Arguments...)>;
  Make<float> make_float;
  Make<double> make_double;

  template <class Real>
  const Make<Real>& make() const {
    if constexpr (sizeof(Real) == 4)
      return make_float;
    else
      return make_double;
  }
};

/// Chains from settings, num_chains, what is known of the target, and scope; and the bytes that they take.
struct SamplerMakers : Makers<Chains, const Context&, const SettingTexts&, Index, const TargetInfo&, Scope> {
  std::function<ChainBytes(const SettingTexts&, Index num_chains, const TargetInfo&, Scope, Precision)> bytes;
};

/// What a target is and a sampler is for: they go together where it is the same.
enum class Family { density, spins };

/// What is known of a sampler or a target before any data is read, and what makes it on the CPU.
template <class MakersOfIt>
struct Entry : MakersOfIt {
  using OnOneBackend = MakersOfIt;
  std::string name, meaning;
  std::vector<SettingInfo> settings;
  CheckSettings check;
  Family family = Family::density;
};

struct SamplerEntry : Entry<SamplerMakers> {
  static constexpr const char* kind = "sampler";
  std::vector<std::string> stats;  ///< names of what it adds to sample_stats
  std::vector<std::string> drawn;  ///< settings that a policy can draw for each kept iteration
  bool adaptive = false;
  /// What it steers its acceptance to with such settings; NaN where it has no setting of that name.
  std::function<double(const SettingTexts&)> target_accept = [](const SettingTexts&) {
    return std::numeric_limits<double>::quiet_NaN();
  };
  NeedsByPhase needs{Needs::gradient, Needs::gradient, Needs::gradient};
  /// It moves on the model itself: an iteration asks no target, and a cold chain may be right to stay where it is.
  bool asks_nothing() const { return needs.most() == Needs::nothing; }
};

using TargetMakers = Makers<Target, const Context&, const SettingTexts&>;

struct TargetEntry : Entry<TargetMakers> {
  static constexpr const char* kind = "target";
  /// Why it cannot run on CUDA with such settings; "" where it can.
  std::function<const char*(const SettingTexts&)> cpu_only = [](const SettingTexts&) { return ""; };
  bool anywhere = false;  ///< what makes it on the CPU makes it on CUDA too
};

/// A row with its name, its meaning, its settings and their check; Holder as in parse_settings.
template <class Entry, class Holder>
Entry described(const std::string& name, const std::string& meaning) {
  Entry e;
  e.name = name;
  e.meaning = meaning;
  e.settings = describe_settings<Holder>();
  e.check = [](const std::string& owner, const SettingTexts& texts) { parse_settings<Holder>(owner, texts); };
  return e;
}

/// All registered entries, by name: those of densities, then those of spin models.
const std::vector<SamplerEntry>& samplers();
const std::vector<TargetEntry>& targets();
/// Those of one family.
std::vector<SamplerEntry> samplers_of(Family family);
std::vector<TargetEntry> targets_of(Family family);
/// Throws Error (usage) naming the nearest known one.
const SamplerEntry& find_sampler(const std::string& name);
const TargetEntry& find_target(const std::string& name);

/// For the static objects of host/registry/instantiate: they add a row, or what makes one on CUDA, in any order.
template <class Entry>
struct Registering {
  explicit Registering(Entry entry);
  Registering(const std::string& name, typename Entry::OnOneBackend on_cuda);
};
using RegisterSampler = Registering<SamplerEntry>;
using RegisterTarget = Registering<TargetEntry>;

/// What can be said about the settings before any data is read: throws Error (usage) for an unknown sampler, target or
/// setting, for a value that is none of the setting's, and where one is of densities and the other of spins.
void check_settings(const std::string& sampler, const SettingTexts& sampler_settings, const std::string& target,
                    const SettingTexts& target_settings);
/// A sampler or target on the context's backend. Throws Error (usage) when the backend has none.
template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, const TargetInfo& target, Scope scope);
template <class Real>
std::unique_ptr<Target<Real>> make_target(const Context& context, const std::string& name, const SettingTexts& texts);
/// Throws Error (usage), naming samplers that will do, when the sampler asks for more than the target offers.
void check_offer(const std::string& sampler, const std::string& target, Needs offers);
ChainBytes bytes_of_chains(const Context& context, const std::string& name, const SettingTexts& texts, Index num_chains,
                           const TargetInfo& target, Scope scope, Precision precision);

}  // namespace kilochain
