#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "host/frontend/assignment.hpp"
#include "host/frontend/keys.hpp"

namespace kilochain {
namespace {

struct Reader {
  const std::string& path;
  std::vector<Assignment> out;

  std::string line_of(const toml::node& node) const { return fmt::format("line {}", node.source().begin.line); }

  std::string text_of(const std::string& key, const toml::node& node) const {
    if (const auto* s = node.as_string()) return s->get();
    if (const auto* i = node.as_integer()) return std::to_string(i->get());
    if (const auto* f = node.as_floating_point()) return fmt::format("{}", f->get());
    if (const auto* b = node.as_boolean()) return b->get() ? "yes" : "no";
    if (const auto* array = node.as_array()) {  // digits = [5, 6] is digits = "5,6"
      std::string joined;
      for (const toml::node& element : *array) {
        if (element.is_array()) refuse(key, element, "an array in an array");
        joined += (joined.empty() ? "" : ",") + text_of(key, element);
      }
      return joined;
    }
    refuse(key, node, node.is_table() ? "a table" : "a date or time");
  }

  [[noreturn]] void refuse(const std::string& key, const toml::node& node, const std::string& what) const {
    throw Error(ExitStatus::usage, fmt::format("{}: {} is {}", path, key, what), line_of(node),
                "Write a text, a number, true or false?");
  }

  void add(const std::string& shown, const std::string& key, const toml::node& node) {
    out.push_back({key, text_of(shown, node), fmt::format("{} {}", path, line_of(node)), shown});
  }

  void table(const std::string& prefix, const toml::table& t) {
    for (const auto& [name, node] : t) {
      const std::string written(name.str()), key = key_of(written);
      if (prefix.empty() && node.is_table()) {
        if (key != "sampler" && key != "target")
          throw Error(ExitStatus::usage, fmt::format("{}: unknown table [{}]", path, written), line_of(node),
                      "Use [sampler], [target] or no table?");
        table(key + ".", *node.as_table());
      } else if (!prefix.empty() && key == "name") {
        add(prefix + written, prefix.substr(0, prefix.size() - 1), node);
      } else {
        add(prefix + written, prefix + key, node);
      }
    }
  }
};

}  // namespace

std::vector<Assignment> read_toml(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored), there = std::filesystem::exists(path, ignored);
  std::ifstream file(path, std::ios::binary);
  require(!folder && file, ExitStatus::usage, path + ": no configuration can be read",
          folder  ? "a directory"
          : there ? "not readable"
                  : "no such file",
          "Is the path right? Flags begin with --, `kilochain sample --help` lists them.");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  try {
    const toml::table parsed = toml::parse(bytes, path);
    Reader reader{path, {}};
    reader.table("", parsed);
    return std::move(reader.out);
  } catch (const toml::parse_error& error) {
    throw Error(ExitStatus::usage, fmt::format("{}: not TOML: {}", path, error.description()),
                fmt::format("line {}, column {}", error.source().begin.line, error.source().begin.column),
                "Write key = value, texts in quotes?");
  }
}

}  // namespace kilochain
