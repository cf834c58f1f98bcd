// Messages to people, beside the result. A write that fails changes nothing here; where it was to standard output the
// program reports it at its end.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace kilochain {

/// What the program that runs is called: users' own programs with models of theirs have other names.
inline std::string& program_name() {
  static std::string name = "kilochain";
  return name;
}
/// The text with commands to type as `kilochain ...` under that name.
inline std::string in_its_name(std::string text) {
  const std::string_view written = "`kilochain ";
  if (program_name() == "kilochain") return text;
  for (std::size_t at = text.find(written); at != std::string::npos; at = text.find(written, at + 1))
    text.replace(at + 1, written.size() - 2, program_name());
  return text;
}

template <class... T>
void tell(std::FILE* out, fmt::format_string<T...> format, T&&... values) {
  const std::string text = in_its_name(fmt::format(format, std::forward<T>(values)...));
  std::fwrite(text.data(), 1, text.size(), out);
}

}  // namespace kilochain
