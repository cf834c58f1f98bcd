#include <fmt/format.h>

#include "host/frontend/assignment.hpp"
#include "host/frontend/keys.hpp"

namespace kilochain {
namespace {

enum class Takes { value, yes_or_no, unknown };

/// What may follow a flag. Settings are looked up over all samplers and targets: which of them are chosen is not yet
/// known, and a name that takes a value anywhere takes one.
Takes takes(std::string key) {
  if (key.starts_with("sampler.") || key.starts_with("target.")) key.erase(0, key.find('.') + 1);
  if (const Key* common = find_common_key(key)) return common->info.type == "yes/no" ? Takes::yes_or_no : Takes::value;
  Takes found = Takes::unknown;
  const auto look = [&](const auto& entries) {
    for (const auto& entry : entries)
      for (const SettingInfo& info : entry.settings)
        if (info.name == key) found = info.type == "yes/no" && found != Takes::value ? Takes::yes_or_no : Takes::value;
  };
  look(samplers());
  look(targets());
  return found;
}

void set_config(Arguments& out, const std::string& path) {
  require(out.config.empty(), ExitStatus::usage, fmt::format("command line: unexpected argument \"{}\"", path),
          fmt::format("the configuration file is already {}", out.config), "Is a -- missing in front of it?");
  out.config = path;
}

}  // namespace

Arguments split_arguments(const std::vector<std::string>& arguments) {
  Arguments out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      out.help = true;
      continue;
    }
    if (!argument.starts_with("--")) {
      require(argument.empty() || argument[0] != '-', ExitStatus::usage,
              fmt::format("command line: unknown flag {}", argument), "flags begin with two dashes",
              "`kilochain sample --help` lists them.");
      set_config(out, argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string shown = argument.substr(0, equals), key = key_of(shown);
    Assignment flag{key, "", "command line", shown};
    const bool has_next = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
    const Takes kind = takes(key);
    if (equals != std::string::npos) {
      flag.text = argument.substr(equals + 1);
    } else if (kind == Takes::yes_or_no) {
      flag.text = has_next && yes_or_no(arguments[i + 1]) ? arguments[++i] : "yes";
    } else if (has_next) {
      flag.text = arguments[++i];
    } else {
      const std::string next = i + 1 < arguments.size() ? "followed by " + arguments[i + 1] : "the last argument";
      require(kind == Takes::unknown, ExitStatus::usage, fmt::format("command line: {} has no value", shown), next,
              fmt::format("Write {} VALUE?", shown));
    }
    out.flags.push_back(std::move(flag));
  }
  return out;
}

}  // namespace kilochain
