#include "host/frontend/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/nearest_name.hpp"

namespace kilochain {
namespace {

using Infos = std::vector<SettingInfo>;

bool has(const Infos& infos, const std::string& name) {
  return std::any_of(infos.begin(), infos.end(), [&](const SettingInfo& i) { return i.name == name; });
}

/// Entries that have the setting.
template <class Entry>
std::vector<std::string> owners_of(const std::vector<Entry>& entries, const std::string& name) {
  std::vector<std::string> out;
  for (const Entry& e : entries)
    if (has(e.settings, name)) out.push_back(e.name);
  return out;
}
std::vector<std::string> samplers_with(const std::string& name) { return owners_of(samplers(), name); }
std::vector<std::string> targets_with(const std::string& name) { return owners_of(targets(), name); }

bool is_flag(const Assignment& a) { return a.shown.starts_with("--"); }
/// As the user would write it in that place.
std::string spelled(const Assignment& like, const std::string& key) { return is_flag(like) ? flag_of(key) : key; }
std::string spelled(const Assignment& like, const std::string& key, const std::string& value) {
  return is_flag(like) ? fmt::format("{} {}", flag_of(key), value) : fmt::format("{} = \"{}\"", key, value);
}

const Assignment* last(const std::vector<Assignment>& from, const std::string& key) {
  const auto it = std::find_if(from.rbegin(), from.rend(), [&](const Assignment& a) { return a.key == key; });
  return it == from.rend() ? nullptr : &*it;
}

class Resolver {
 public:
  Resolver(const std::vector<Assignment>& file, const std::vector<Assignment>& flags) {
    for (const auto* source : {&file, &flags})
      for (const char* key : {"sampler", "target"})
        if (const Assignment* a = last(*source, key)) set_common(out_, key, *a);
    sampler_ = find_sampler(out_.options.sampler).settings;
    if (!out_.options.target.empty()) target_ = find_target(out_.options.target).settings;
    for (const auto* source : {&file, &flags}) {
      std::map<std::string, const Assignment*> seen;
      for (const Assignment& a : *source) {
        const std::string place = apply(a);
        const auto [it, fresh] = seen.emplace(place, &a);
        if (!fresh)
          throw Error(
              ExitStatus::usage, fmt::format("{}: {} is given twice", a.owner, a.shown),
              fmt::format("{} and {}{}", it->second->text, a.text, is_flag(a) ? "" : ", first in " + it->second->owner),
              "Keep one?");
      }
    }
    if (out_.options.target.empty()) no_target(file, flags);
    for (const auto& check : checks_) check();
  }
  Configuration configuration() && { return std::move(out_); }

 private:
  /// Puts a value where it belongs; returns that place.
  std::string apply(const Assignment& a) {
    const bool to_sampler = a.key.starts_with("sampler."), to_target = a.key.starts_with("target.");
    const std::string name = to_sampler || to_target ? a.key.substr(a.key.find('.') + 1) : a.key;
    if (!to_sampler && !to_target)
      if (find_common_key(name)) {
        set_common(out_, name, a);
        return name;
      }
    const bool in_sampler = !to_target && has(sampler_, name), in_target = !to_sampler && has(target_, name);
    if (in_sampler && in_target)
      throw Error(ExitStatus::usage, fmt::format("{}: {} is ambiguous", a.owner, a.shown),
                  fmt::format("a setting of sampler {} and of target {}", out_.options.sampler, out_.options.target),
                  fmt::format("Write {} or {}?", spelled(a, "sampler." + name), spelled(a, "target." + name)));
    if (in_sampler) set(find_sampler(out_.options.sampler), out_.options.sampler_settings, name, a);
    if (in_target) set(find_target(out_.options.target), out_.options.target_settings, name, a);
    if (in_sampler || in_target) return (in_sampler ? "sampler." : "target.") + name;
    // A setting of some target while none is chosen: the missing target is what to speak of, in the end.
    if (!to_sampler && out_.options.target.empty() && !targets_with(name).empty()) return "target." + name;
    unknown(a, name, !to_target, !to_sampler);
  }

  /// Checked in the end, when no name is unknown or given twice, but before data are read: file and line are known.
  template <class Entry>
  void set(const Entry& entry, SettingTexts& texts, const std::string& name, const Assignment& a) {
    if (entry.check)
      checks_.push_back([&entry, name, owner = fmt::format("{}: {}", a.owner, entry.name), text = a.text] {
        entry.check(owner, {{name, text}});
      });
    texts[name] = a.text;
  }

  [[noreturn]] void unknown(const Assignment& a, const std::string& name, bool maybe_sampler, bool maybe_target) const {
    const std::string what = fmt::format("{}: unknown {} {}", a.owner, is_flag(a) ? "flag" : "key", a.shown);
    const Options& o = out_.options;
    const auto elsewhere = [&](const std::string& kind, const std::vector<std::string>& owners,
                               const std::string& chosen) {
      if (owners.empty()) return;
      throw Error(ExitStatus::usage, what,
                  fmt::format("a setting of {} {}, but the {} is {}", kind, fmt::join(owners, ", "), kind, chosen),
                  fmt::format("Use {}, or remove it?", spelled(a, kind, owners[0])));
    };
    if (maybe_sampler) elsewhere("sampler", samplers_with(name), o.sampler);
    if (maybe_target) elsewhere("target", targets_with(name), o.target);
    std::vector<std::string> known;
    const bool prefixed = !maybe_sampler || !maybe_target;
    const std::string prefix = !prefixed ? "" : maybe_sampler ? "sampler." : "target.";
    if (!prefixed)
      for (const Key& key : common_keys()) known.push_back(key.info.name);
    if (maybe_sampler)
      for (const SettingInfo& info : sampler_) known.push_back(info.name);
    if (maybe_target)
      for (const SettingInfo& info : target_) known.push_back(info.name);
    const std::string near = near_name(name, known);
    throw Error(ExitStatus::usage, what,
                fmt::format("sampler {}, target {}", o.sampler, o.target.empty() ? "not chosen" : o.target),
                near.empty() ? "`kilochain sample --help` says how to list all."
                             : fmt::format("Did you mean {}?", spelled(a, prefix + near)));
  }

  [[noreturn]] void no_target(const std::vector<Assignment>& file, const std::vector<Assignment>& flags) const {
    for (const auto* source : {&flags, &file})
      for (const Assignment& a : *source) {
        const std::string name = a.key.starts_with("target.") ? a.key.substr(7) : a.key;
        const auto owners =
            find_common_key(name) || has(sampler_, name) ? std::vector<std::string>{} : targets_with(name);
        if (owners.empty()) continue;
        const bool regression = std::find(owners.begin(), owners.end(), "logistic_regression") != owners.end();
        throw Error(ExitStatus::usage, "no target",
                    fmt::format("{}: {} {} is given, but not what to do with it", a.owner, a.shown, a.text),
                    fmt::format("Add {}?", spelled(a, "target", regression ? "logistic_regression" : owners[0])));
      }
    throw Error(ExitStatus::usage, "no target", "neither --target nor a TOML file names one",
                "Try --target logistic_regression --data FILE.csv? `kilochain targets` lists all.");
  }

  Configuration out_;
  Infos sampler_, target_;
  std::vector<std::function<void()>> checks_;
};

}  // namespace

Configuration resolve(const std::vector<Assignment>& file, const std::vector<Assignment>& flags) {
  return Resolver(file, flags).configuration();
}

Configuration read_configuration(const Arguments& arguments) {
  return resolve(arguments.config.empty() ? std::vector<Assignment>{} : read_toml(arguments.config), arguments.flags);
}

}  // namespace kilochain
