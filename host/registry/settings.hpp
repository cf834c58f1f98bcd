// Walks a Settings table: describes it, parses and validates text into it. Flags, TOML keys and documentation are this.
#pragma once
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "host/registry/policy_file.hpp"
#include "kernels/choices.hpp"
#include "kernels/settings.hpp"

namespace kilochain {

/// Values as a user wrote them: setting name -> text.
using SettingTexts = std::map<std::string, std::string>;

/// One row of the documentation of a sampler or target.
struct SettingInfo {
  std::string name;
  std::string type;           ///< number, integer, yes/no, text, or the choices joined by |
  std::string default_value;  ///< as text
  std::string range;          ///< as text, empty when anything goes
  std::string meaning;
};

/// What may follow a yes/no flag: yes, true, on and 1, or no, false, off and 0; none of any other text.
std::optional<bool> yes_or_no(const std::string& text);

namespace settings_detail {
std::string text_of(double v);
std::string text_of(Range r);
double parse_number(const std::string& owner, const std::string& name, const std::string& text, const Range& range,
                    bool whole);
bool parse_bool(const std::string& owner, const std::string& name, const std::string& text);
int parse_choice(const std::string& owner, const std::string& name, const std::string& text, const char* const* names,
                 int count);
std::string join(const char* const* names, int count);

/// Visitor that fills a table from texts.
struct Parser {
  const std::string& owner;
  const SettingTexts& texts;
  const std::string* find(const char* name) const {
    const auto it = texts.find(name);
    return it == texts.end() ? nullptr : &it->second;
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(const char* name, T& value, Range range, const char*) const {
    if (const auto* t = find(name)) value = static_cast<T>(parse_number(owner, name, *t, range, std::is_integral_v<T>));
  }
  /// Empty: automatic.
  template <class T>
  void operator()(const char* name, std::optional<T>& value, Range range, const char*) const {
    const auto* t = find(name);
    if (!t) return;
    if (*t == "auto")
      value.reset();
    else
      value = static_cast<T>(parse_number(owner, name, *t, range, std::is_integral_v<T>));
  }
  void operator()(const char* name, bool& value, const char*) const {
    if (const auto* t = find(name)) value = parse_bool(owner, name, *t);
  }
  void operator()(const char* name, std::string& value, const char*) const {
    if (const auto* t = find(name)) value = *t;
  }
  template <class E, int N>
  requires std::is_enum_v<E>
  void operator()(const char* name, E& value, const Names<N>& names, const char*) const {
    if (const auto* t = find(name)) value = static_cast<E>(parse_choice(owner, name, *t, names.value, N));
  }
  template <int N>
  void operator()(const char* name, Policy<N>& value, const PolicyColumns<N>& columns, const char*) const {
    if (const auto* t = find(name); t && !t->empty()) value = read_policy(owner + ": " + name, *t, columns);
  }
};

/// Visitor that describes a table.
struct Describer {
  std::vector<SettingInfo>& out;
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(const char* name, T& value, Range range, const char* meaning) const {
    out.push_back({name, std::is_integral_v<T> ? "integer" : "number", text_of(static_cast<double>(value)),
                   text_of(range), meaning});
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value, Range range, const char* meaning) const {
    out.push_back({name, std::is_integral_v<T> ? "integer" : "number",
                   value ? text_of(static_cast<double>(*value)) : "auto", text_of(range), meaning});
  }
  void operator()(const char* name, bool& value, const char* meaning) const {
    out.push_back({name, "yes/no", value ? "yes" : "no", "", meaning});
  }
  void operator()(const char* name, std::string& value, const char* meaning) const {
    out.push_back({name, "text", value, "", meaning});
  }
  template <class E, int N>
  requires std::is_enum_v<E>
  void operator()(const char* name, E& value, const Names<N>& names, const char* meaning) const {
    out.push_back({name, join(names.value, N), names.value[static_cast<int>(value)], "", meaning});
  }
  template <int N>
  void operator()(const char* name, Policy<N>&, const PolicyColumns<N>&, const char* meaning) const {
    out.push_back({name, "text", "", "", meaning});
  }
};

/// Visitor that finds which settings a policy can draw.
struct DrawnByPolicy {
  std::vector<std::string>& out;
  template <class... Other>
  void operator()(const char*, const Other&...) const {}
  template <int N>
  void operator()(const char*, Policy<N>&, const PolicyColumns<N>& columns, const char*) const {
    for (const PolicyColumn& c : columns.column) out.emplace_back(c.name);
  }
};
/// Visitor that finds the number of one name.
struct NumberOf {
  std::string_view wanted;
  double& out;
  template <class... Other>
  void operator()(const char*, const Other&...) const {}
  void operator()(const char* name, const double& value, Range, const char*) const {
    if (name == wanted) out = value;
  }
};
}  // namespace settings_detail

/// The settings of Holder (a sampler's move or a target's model) with `texts` applied over the defaults. Throws Error
/// (usage) for a value that does not parse or is out of range: `rwm: target_accept = 1.5 (must be > 0 and < 1). ...`
template <class Holder>
typename Holder::Settings parse_settings(const std::string& owner, const SettingTexts& texts) {
  typename Holder::Settings s;
  settings_detail::Parser parser{owner, texts};
  Holder::settings(parser, s);
  return s;
}

/// The same for a sampler whose chains are pooled or not: some defaults depend on it.
template <class Sampler>
typename Sampler::Settings parse_settings(const std::string& owner, const SettingTexts& texts, Scope scope) {
  auto s = parse_settings<Sampler>(owner, texts);
  Sampler::resolve(s, scope);
  return s;
}

/// A number of a settings table by its name; NaN where there is none.
template <class Holder>
double number_in(typename Holder::Settings settings, std::string_view name) {
  double out = std::numeric_limits<double>::quiet_NaN();
  settings_detail::NumberOf find{name, out};
  Holder::settings(find, settings);
  return out;
}

/// The settings that act on a kept draw alone, so that a policy can draw them; empty where there is none.
template <class Holder>
std::vector<std::string> drawn_by_policy() {
  typename Holder::Settings s;
  std::vector<std::string> out;
  settings_detail::DrawnByPolicy finder{out};
  Holder::settings(finder, s);
  return out;
}

template <class Holder>
std::vector<SettingInfo> describe_settings() {
  typename Holder::Settings s;
  std::vector<SettingInfo> out;
  settings_detail::Describer describer{out};
  Holder::settings(describer, s);
  return out;
}

}  // namespace kilochain
