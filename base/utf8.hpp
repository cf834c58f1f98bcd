// Texts that are written: JSON and NetCDF take UTF-8 alone, and tables and file names may be anything.
#pragma once
#include <string>
#include <string_view>

namespace kilochain {

/// The text with U+FFFD for each byte that is no part of UTF-8: surrogates, longer forms than need be and what is
/// beyond U+10FFFF are not.
inline std::string as_utf8(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(i + k < text.size() ? text[i + k] : 0); };
    const unsigned first = byte(0), second = byte(1);
    std::size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : 0;
    if (first >= 0xF0 && first < 0xF5) length = 4;
    for (std::size_t k = 1; k < length; ++k)
      if ((byte(k) & 0xC0) != 0x80) length = 0;
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F))
      length = 0;
    out += length > 0 ? text.substr(i, length) : "\xEF\xBF\xBD";
    i += length > 0 ? length : 1;
  }
  return out;
}
inline bool is_utf8(std::string_view text) { return as_utf8(text) == text; }

}  // namespace kilochain
