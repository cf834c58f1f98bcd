// Words for a person beside the result. A stream that cannot take them changes nothing: where it is standard output the
// program says so in the end.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace kilochain {

template <class... T>
void tell(std::FILE* out, fmt::format_string<T...> format, T&&... values) {
  const std::string text = fmt::format(format, std::forward<T>(values)...);
  std::fwrite(text.data(), 1, text.size(), out);
}

}  // namespace kilochain
