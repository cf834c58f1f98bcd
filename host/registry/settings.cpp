#include "host/registry/settings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/nearest_name.hpp"
#include "base/number_of.hpp"

namespace kilochain {

std::optional<bool> yes_or_no(const std::string& text) {
  if (text == "yes" || text == "true" || text == "on" || text == "1") return true;
  if (text == "no" || text == "false" || text == "off" || text == "0") return false;
  return {};
}

namespace settings_detail {
namespace {

[[noreturn]] void refuse(const std::string& owner, const std::string& name, const std::string& text,
                         const std::string& why, const std::string& fix) {
  throw Error(ExitStatus::usage, fmt::format("{}: {} = {}", owner, name, text), why, fix);
}

}  // namespace

std::string text_of(double v) { return fmt::format("{}", v); }

std::string text_of(Range r) {
  std::string low = std::isinf(r.low) ? "" : fmt::format("{} {}", r.low_open ? ">" : ">=", r.low);
  std::string high = std::isinf(r.high) ? "" : fmt::format("{} {}", r.high_open ? "<" : "<=", r.high);
  return low.empty() || high.empty() ? low + high : low + " and " + high;
}

double parse_number(const std::string& owner, const std::string& name, const std::string& text, const Range& range,
                    bool whole) {
  const auto number = number_of<double>(text);
  if (!number) refuse(owner, name, text, "not a number", fmt::format("Write {} = a number {}?", name, text_of(range)));
  const double v = *number;
  if (whole && v != std::floor(v))
    refuse(owner, name, text, "not a whole number", fmt::format("Try {}?", std::floor(v)));
  if (!range.contains(v)) {
    double near =
        std::isnan(v) || v <= range.low
            ? (range.low_open ? (std::isfinite(range.high) ? (range.low + range.high) / 2 : range.low + 1) : range.low)
            : (range.high_open ? (range.low + range.high) / 2 : range.high);
    if (!std::isfinite(near)) near = std::isfinite(range.low) ? range.low + 1 : 0;
    refuse(owner, name, text, "must be " + (text_of(range).empty() ? "finite" : text_of(range)),
           fmt::format("Try {}?", near));
  }
  return v;
}

bool parse_bool(const std::string& owner, const std::string& name, const std::string& text) {
  if (const auto value = yes_or_no(text)) return *value;
  refuse(owner, name, text, "must be yes or no", fmt::format("Write {} = yes?", name));
}

int parse_choice(const std::string& owner, const std::string& name, const std::string& text, const char* const* names,
                 int count) {
  std::vector<std::string> known(names, names + count);
  for (int k = 0; k < count; ++k)
    if (text == known[k]) return k;
  refuse(owner, name, text, "must be one of " + join(names, count), did_you_mean(text, known, "Choose one of these?"));
}

std::string join(const char* const* names, int count) {
  std::string out;
  for (int k = 0; k < count; ++k) out += (k ? "|" : "") + std::string(names[k]);
  return out;
}

}  // namespace settings_detail
}  // namespace kilochain
