#include "host/frontend/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace kilochain {
namespace {

using settings_detail::parse_bool;
using settings_detail::parse_choice;
using settings_detail::parse_number;
using settings_detail::text_of;

template <class T>
std::string default_text(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "yes" : "no";
  else if constexpr (std::is_arithmetic_v<T>)
    return std::to_string(value);
  else
    return value;
}

/// A whole number, or "auto" where the option may be empty.
template <class T>
Key whole(const char* group, const char* name, T Options::*member, Range range, const char* meaning) {
  constexpr bool may_be_empty = std::is_same_v<T, std::optional<std::int64_t>>;
  std::string standard = "auto";
  if constexpr (!may_be_empty) standard = default_text(Options().*member);
  return {group,
          {name, may_be_empty ? "integer|auto" : "integer", standard, text_of(range), meaning},
          [=](Configuration& c, const std::string& owner, const std::string& shown, const std::string& text) {
            if constexpr (may_be_empty) {
              c.options.*member = {};
              if (text != "auto" && text != "-1")
                c.options.*member = static_cast<std::int64_t>(parse_number(owner, shown, text, range, true));
            } else {
              c.options.*member = static_cast<T>(parse_number(owner, shown, text, range, true));
            }
          }};
}

Key text(const char* group, const char* name, std::string Options::*member, const char* type, const char* meaning) {
  return {group,
          {name, type, Options().*member, "", meaning},
          [=](Configuration& c, const std::string& owner, const std::string& shown, const std::string& value) {
            require(!value.empty(), ExitStatus::usage, fmt::format("{}: {} is empty", owner, shown), "a text is needed",
                    "Leave it out?");
            c.options.*member = value;
          }};
}

template <class Where, class Enum, std::size_t N>
Key choice(const char* group, const char* name, Enum Where::*member, const char* const (&names)[N],
           const char* meaning) {
  const auto standard = static_cast<std::size_t>(Where().*member);
  return {
      group,
      {name, settings_detail::join(names, N), names[standard], "", meaning},
      [&names, member](Configuration& c, const std::string& owner, const std::string& shown, const std::string& value) {
        c.options.*member = static_cast<Enum>(parse_choice(owner, shown, value, names, N));
      }};
}

template <class Where>
bool& place(Configuration& c, bool Where::*member) {
  if constexpr (std::is_same_v<Where, Options>)
    return c.options.*member;
  else
    return c.*member;
}

template <class Where>
Key yes_no(const char* group, const char* name, bool Where::*member, const char* meaning) {
  return {group,
          {name, "yes/no", default_text(Where().*member), "", meaning},
          [=](Configuration& c, const std::string& owner, const std::string& shown, const std::string& value) {
            place(c, member) = parse_bool(owner, shown, value);
          }};
}

/// All 64 bits count: a seed does not go through a double.
void set_seed(Configuration& c, const std::string& owner, const std::string& shown, const std::string& value) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seed);
  require(error == std::errc() && end == value.data() + value.size(), ExitStatus::usage,
          fmt::format("{}: {} = {}", owner, shown, value),
          fmt::format("must be a whole number >= 0 and <= {}", std::numeric_limits<std::uint64_t>::max()), "Try 1?");
  c.options.seed = seed;
}

void set_precision(Configuration& c, const std::string& owner, const std::string& shown, const std::string& value) {
  const char* const names[] = {"auto", precision_names.value[0], precision_names.value[1]};
  const int choice = parse_choice(owner, shown, value, names, 3);
  c.options.real.reset();
  if (choice > 0) c.options.real = static_cast<Precision>(choice - 1);
}

std::vector<Key> make_keys() {
  const double far = static_cast<double>(std::int64_t(1) << 40);
  const char *what = "What", *length = "Chains and iterations", *where = "Where", *kept = "Draws",
             *said = "What is said";
  return {
      text(what, "target", &Options::target, "name", "distribution to sample; `kilochain targets` lists all"),
      text(what, "sampler", &Options::sampler, "name", "algorithm; `kilochain samplers` lists all"),
      choice(what, "adapt_scope", &Options::adapt_scope, scope_names.value,
             "adaptation of each chain alone, or one for all chains"),
      text(what, "init", &Options::init, "text",
           "starting points: normal[:sd], zeros or file:PATH (one row, or one for each chain)"),
      whole(length, "num_chains", &Options::num_chains, between(1, 1 << 24), "chains, run at once"),
      whole(length, "num_warmup", &Options::num_warmup, between(0, far),
            "warm-up iterations of each chain; auto: until it has converged"),
      whole(length, "num_samples", &Options::num_samples, between(1, far),
            "iterations of each chain after that; auto: until the answer is good"),
      whole(length, "thin", &Options::thin, between(1, 1 << 30), "keep every thin-th sample"),
      {length,
       {"seed", "integer", std::to_string(Options().seed), ">= 0", "the same seed gives the same draws"},
       set_seed},
      text(where, "device", &Options::device, "text", "auto, cpu, cuda or cuda:k"),
      {where,
       {"real", "auto|" + settings_detail::join(precision_names.value, precision_names.count), "auto", "",
        "precision; auto: double on the CPU, float on CUDA"},
       set_precision},
      whole(where, "threads", &Options::threads, between(0, 4096), "CPU threads; 0: all"),
      whole(where, "chain_batch_size", &Options::chain_batch_size, between(0, 1 << 24),
            "chains in memory at a time; 0: all"),
      choice(kept, "draws", &Options::draws, kept_draws_names,
             "what is kept: every draw, or what the summary needs, or nothing"),
      text(kept, "output", &Options::output, "path",
           "NetCDF file for the draws (ArviZ reads it); without it none is written"),
      yes_no(kept, "save_warmup", &Options::save_warmup, "statistics of warm-up iterations into the file too"),
      yes_no(said, "quiet", &Configuration::quiet, "no progress"),
      yes_no(said, "verbose", &Configuration::verbose,
             "configuration, estimate, and how the target is evaluated and why"),
      yes_no(said, "json", &Configuration::json, "exactly one JSON object on standard output"),
  };
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
