// Ranges and combinations of the options, and the options as JSON.
#include "host/run/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/cores.hpp"
#include "host/run/option_table.hpp"

namespace kilochain {
namespace {

template <class T>
void in_range(const char* name, T value, Range range) {
  require(range.contains(value), ExitStatus::usage, fmt::format("{} = {}", name, value),
          "must be " + settings_detail::text_of(range),
          fmt::format("Try {}?", value < range.low ? range.low : range.high));
}

/// A program's options, unlike a user's, have not been parsed.
struct CheckRanges {
  void group(const char*) {}
  template <class... Other>
  void operator()(const Other&...) {}
  void operator()(const char* name, const std::int64_t& value, Range range, const char*) {
    in_range(name, value, range);
  }
  void operator()(const char* name, const int& value, Range range, const char*) { in_range(name, value, range); }
  void operator()(const char* name, const double& value, Range range, const char*) { in_range(name, value, range); }
  void operator()(const char* name, const std::optional<std::int64_t>& value, Range range, const char*) {
    if (value) in_range(name, *value, range);
  }
};

struct OptionsToJson {
  nlohmann::json& out;
  void group(const char*) {}
  template <class T, class Where>
  void operator()(const char* name, const T& value, const Where&, const char*) {
    out[name] = value;
  }
  void operator()(const char* name, const std::optional<std::int64_t>& value, Range, const char*) {
    out[name] = value ? nlohmann::json(*value) : nlohmann::json("auto");
  }
  template <class Enum, int N>
  requires std::is_enum_v<Enum>
  void operator()(const char* name, const Enum& value, const char* const (&names)[N], const char*) {
    out[name] = names[static_cast<int>(value)];
  }
  template <class Enum, int N>
  void operator()(const char* name, const std::optional<Enum>& value, const char* const (&names)[N], const char*) {
    out[name] = value ? names[static_cast<int>(*value)] : "auto";
  }
};

}  // namespace

void check(const Options& o) {
  require(!o.target.empty(), ExitStatus::usage, "no target", "target is not set",
          "Try --target logistic_regression? `kilochain targets` lists all.");
  visit_options(CheckRanges(), o);
  SettingTexts texts = o.target_settings;  // they become attributes of files, and JSON
  texts.insert(o.sampler_settings.begin(), o.sampler_settings.end());
  texts.insert({{"output", o.output}, {"init", o.init}});
  for (const auto& [name, text] : texts)
    require(is_utf8(text), ExitStatus::usage, name + " = " + text, "its bytes are not UTF-8",
            "Rename the file, or write the name as UTF-8?");
  const int most_threads = std::max(64, 4 * usable_cores());
  require(o.threads <= most_threads, ExitStatus::usage, fmt::format("threads = {}", o.threads),
          fmt::format("this process may use {} cores, and more than {} threads only wait for each other",
                      usable_cores(), most_threads),
          "Leave --threads out, which uses all cores?");
  require(o.num_chains > 0 || o.chain_batch_size == 0, ExitStatus::usage,
          fmt::format("chain_batch_size = {}", o.chain_batch_size), "the number of chains is automatic",
          "Give it, such as --num-chains 1024?");
  in_range("chain_batch_size", o.chain_batch_size, between(0, o.num_chains));
  require(o.chain_batch_size == 0 || o.num_chains % o.chain_batch_size == 0, ExitStatus::usage,
          fmt::format("chain_batch_size = {}", o.chain_batch_size),
          fmt::format("does not divide num_chains = {}", o.num_chains),
          fmt::format("Try --num-chains {}?",
                      (o.num_chains / std::max<std::int64_t>(1, o.chain_batch_size) + 1) * o.chain_batch_size));
  require(o.superchains < 2 || o.num_chains == 0 || 2 * o.superchains <= o.num_chains, ExitStatus::usage,
          fmt::format("superchains = {}", o.superchains),
          fmt::format("{} chains make no groups of two and more", o.num_chains),
          fmt::format("Try --superchains {}?", std::max<std::int64_t>(1, o.num_chains / 4)));
  constexpr double least_error = 1e-4;
  require(o.target_mcse == 0 || o.target_mcse >= least_error, ExitStatus::usage,
          fmt::format("target_mcse = {}", o.target_mcse), fmt::format("takes {:.3g} effective draws", wanted_ess(o)),
          fmt::format("Try {}?", least_error));
  require(o.target_mcse == 0 || o.target_ess == Options{}.target_ess, ExitStatus::usage,
          fmt::format("target_mcse = {} and target_ess = {}", o.target_mcse, o.target_ess),
          "each says how many draws are enough", "Leave one of them out?");
  if (o.num_samples)
    require(o.thin <= *o.num_samples, ExitStatus::usage, fmt::format("thin = {}", o.thin),
            fmt::format("num_samples is {}, so no draw would be kept", *o.num_samples),
            "Use a smaller --thin or a larger --num-samples?");
  require(!o.save_warmup || o.num_warmup, ExitStatus::usage, "save_warmup = yes",
          "the length of an automatic warm-up is not known before its end, and the file has no room for its statistics",
          "Give its length, such as --num-warmup 1000?");
  require(!o.resume || stores_draws(o), ExitStatus::usage, "resume", "only a run that stores its draws can be resumed",
          "Was it made with --output and --draws all?");
  require(o.sampler != ensemble_sampler || o.adapt_scope == Scope::pooled, ExitStatus::usage, "adapt_scope = chain",
          fmt::format("{} learns from all chains together", ensemble_sampler),
          "Use --adapt-scope pooled, or --sampler nuts, which learns on each chain alone?");
  check_settings(o.sampler, o.sampler_settings, o.target, o.target_settings);
  const bool spins = find_target(o.target).family == Family::spins;
  require(spins || o.draws != KeptDraws::energy, ExitStatus::usage, "draws = energy",
          fmt::format("target {} is no model of spins: its draws are its coordinates", o.target),
          "Try --draws all or --draws moments?");
  require(!spins || !o.init.starts_with("file:"), ExitStatus::usage, "init = " + o.init,
          fmt::format("the spins of target {} start at random, or in order with zeros", o.target),
          "Try --init normal or --init zeros?");
}

nlohmann::json to_json(const Options& o) {
  nlohmann::json j;
  visit_options(OptionsToJson{j}, o);
  for (const auto& [name, value] : o.sampler_settings) j["sampler_settings"][name] = value;
  for (const auto& [name, value] : o.target_settings) j["target_settings"][name] = value;
  return j;
}

std::string text_of_value(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace kilochain
