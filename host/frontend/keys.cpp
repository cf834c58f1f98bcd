#include "host/frontend/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "host/run/option_table.hpp"

namespace kilochain {
namespace {

using settings_detail::text_of;

template <int N>
using EnumNames = const char* const (&)[N];

/// The table of the options, and behind them how a front end speaks about a run.
template <class Visitor>
void visit_configuration(Visitor&& visit, Configuration& c) {
  visit_options(visit, c.options);
  visit.group("What is said");
  visit("quiet", c.quiet, "yes/no", "no progress");
  visit("verbose", c.verbose, "yes/no", "configuration, estimate, and how the target is evaluated and why");
  visit("json", c.json, "yes/no", "exactly one JSON object on standard output");
}

/// Describes the options, with the values that they have as defaults.
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
    add(name, "integer", std::to_string(value), text_of(range), meaning);
  }
  void operator()(const char* name, const std::optional<std::int64_t>& value, Range range, const char* meaning) {
    add(name, "integer|auto", value ? std::to_string(*value) : "auto", text_of(range), meaning);
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

/// Parses a text into the option of one name.
struct Parse {
  const std::string& key;
  const Assignment& a;

  void group(const char*) {}
  template <class T, class Where>
  void operator()(const char* name, T& value, const Where& where, const char*) {
    if (name == key) set(value, where);
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
  void set(std::int64_t& value, Range range) const { value = count(range); }
  void set(int& value, Range range) const { value = static_cast<int>(count(range)); }
  void set(std::optional<std::int64_t>& value, Range range) const {
    const bool automatic = a.text == "auto" || a.text == "-1";
    value = automatic ? std::nullopt : std::optional(count(range));
  }
  /// All 64 bits count: a seed does not go through a double.
  void set(std::uint64_t& value, Range) const {
    std::uint64_t parsed = 0;
    const auto [end, error] = std::from_chars(a.text.data(), a.text.data() + a.text.size(), parsed);
    require(error == std::errc() && end == a.text.data() + a.text.size(), ExitStatus::usage,
            fmt::format("{}: {} = {}", a.owner, a.shown, a.text),
            fmt::format("must be a whole number >= 0 and <= {}", std::numeric_limits<std::uint64_t>::max()), "Try 1?");
    value = parsed;
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

std::vector<Key> make_keys() {
  std::vector<Key> keys;
  Configuration defaults;
  visit_configuration(Describe{keys}, defaults);
  return keys;
}

}  // namespace

const std::vector<Key>& common_keys() {
  static const std::vector<Key> keys = make_keys();
  return keys;
}

const Key* find_common_key(const std::string& name) {
  for (const Key& key : common_keys())
    if (key.info.name == name) return &key;
  return nullptr;
}

void set_common(Configuration& configuration, const std::string& key, const Assignment& assignment) {
  visit_configuration(Parse{key, assignment}, configuration);
}

std::string key_of(std::string flag) {
  if (flag.starts_with("--")) flag.erase(0, 2);
  std::replace(flag.begin(), flag.end(), '-', '_');
  return flag;
}

std::string flag_of(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

bool is_yes_or_no(const std::string& t) {
  return t == "yes" || t == "no" || t == "true" || t == "false" || t == "on" || t == "off" || t == "1" || t == "0";
}

}  // namespace kilochain
