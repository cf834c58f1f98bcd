// A whole text as one number.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>

namespace kilochain {

/// Empty unless all of `text` is a number that a T can hold, as std::from_chars reads it: no blanks, no plus sign.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

}  // namespace kilochain
