// Texts of users in messages to a terminal.
#pragma once
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace kilochain {

/// An Error whose message has lines: a table, or what a compiler says.
class ErrorInLines : public Error {
 public:
  using Error::Error;
};

/// A line stays a line, and a terminal takes no orders from a file's name: \n, \t, \x1b and the like are spelt out.
inline std::string shown(std::string_view text, bool in_lines = false) {
  std::string out;
  for (const char c : text)
    if (c == '\n' && !in_lines)
      out += "\\n";
    else if (c == '\n' || (static_cast<unsigned char>(c) >= 32 && c != 127))
      out += c;
    else
      out += c == '\t' ? "\\t" : std::string("\\x") + "0123456789abcdef"[c >> 4] + "0123456789abcdef"[c & 15];
  return out;
}

}  // namespace kilochain
