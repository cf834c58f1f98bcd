// What the front end does with a table of options (host/run/option_table.hpp): describes them, parses their texts.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/number_of.hpp"
#include "host/frontend/keys.hpp"

namespace kilochain {

template <int N>
using EnumNames = const char* const (&)[N];

/// Describes options, with the values that they have as defaults.
struct Describe {
  std::vector<Key>& out;
  std::string heading = {};

  void group(const char* name) { heading = name; }
  void add(const char* name, const std::string& type, const std::string& standard, const std::string& range,
           const char* meaning) {
    out.push_back({heading, {name, type, standard, range, meaning}});
  }
  void operator()(const char* name, const std::string& value, const char* kind, const char* meaning) {
    add(name, kind, value, "", meaning);
  }
  void operator()(const char* name, const bool& value, const char* kind, const char* meaning) {
    add(name, kind, value ? "yes" : "no", "", meaning);
  }
  template <class T>
  void operator()(const char* name, const T& value, Range range, const char* meaning) {
    add(name, "integer", std::to_string(value), settings_detail::text_of(range), meaning);
  }
  void operator()(const char* name, const double& value, Range range, const char* meaning) {
    add(name, "number", fmt::format("{}", value), settings_detail::text_of(range), meaning);
  }
  void operator()(const char* name, const std::optional<std::int64_t>& value, Range range, const char* meaning) {
    add(name, "integer|auto", value ? std::to_string(*value) : "auto", settings_detail::text_of(range), meaning);
  }
  template <class Enum, int N>
  void operator()(const char* name, const Enum& value, EnumNames<N> names, const char* meaning) {
    add(name, settings_detail::join(names, N), names[static_cast<int>(value)], "", meaning);
  }
  template <class Enum, int N>
  void operator()(const char* name, const std::optional<Enum>& value, EnumNames<N> names, const char* meaning) {
    add(name, "auto|" + settings_detail::join(names, N), value ? names[static_cast<int>(*value)] : "auto", "", meaning);
  }
};

/// Parses a text into the option of one name. Throws Error (usage) that begins `owner: shown = text`.
struct Parse {
  const std::string& key;
  const Assignment& a;
  bool found = false;  ///< whether there is one

  void group(const char*) {}
  template <class T, class Where>
  void operator()(const char* name, T& value, const Where& where, const char*) {
    if (name != key) return;
    found = true;
    set(value, where);
  }

 private:
  std::int64_t count(Range range) const {
    return static_cast<std::int64_t>(settings_detail::parse_number(a.owner, a.shown, a.text, range, true));
  }
  int choice(const char* const* names, int n) const {
    return settings_detail::parse_choice(a.owner, a.shown, a.text, names, n);
  }

  void set(std::string& value, const char*) const {
    require(!a.text.empty(), ExitStatus::usage, fmt::format("{}: {} is empty", a.owner, a.shown), "a text is needed",
            "Leave it out?");
    value = a.text;
  }
  void set(bool& value, const char*) const { value = settings_detail::parse_bool(a.owner, a.shown, a.text); }
  /// Where 0 leaves the choice to the program, "auto" says the same.
  void set(std::int64_t& value, Range range) const { value = a.text == "auto" && range.low == 0 ? 0 : count(range); }
  void set(double& value, Range range) const {
    value = settings_detail::parse_number(a.owner, a.shown, a.text, range, false);
  }
  void set(int& value, Range range) const { value = static_cast<int>(count(range)); }
  void set(std::optional<std::int64_t>& value, Range range) const {
    value = a.text == "auto" ? std::nullopt : std::optional(count(range));
  }
  /// All 64 bits count: a seed does not go through a double.
  void set(std::uint64_t& value, Range) const {
    const auto number = number_of<std::uint64_t>(a.text);
    require(number.has_value(), ExitStatus::usage, fmt::format("{}: {} = {}", a.owner, a.shown, a.text),
            fmt::format("must be a whole number >= 0 and <= {}", std::numeric_limits<std::uint64_t>::max()), "Try 1?");
    value = *number;
  }
  template <class Enum, int N>
  void set(Enum& value, EnumNames<N> names) const {
    value = static_cast<Enum>(choice(names, N));
  }
  template <class Enum, int N>
  void set(std::optional<Enum>& value, EnumNames<N> names) const {
    const char* all[N + 1] = {"auto"};
    std::copy(names, names + N, all + 1);
    const int chosen = choice(all, N + 1);
    value = chosen == 0 ? std::nullopt : std::optional(static_cast<Enum>(chosen - 1));
  }
};

}  // namespace kilochain
