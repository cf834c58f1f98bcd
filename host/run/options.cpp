// Ranges of the options, and the options as JSON.
#include "host/run/options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kilochain {
namespace {

void in_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  require(value >= low && value <= high, ExitStatus::usage, fmt::format("{} = {}", name, value),
          fmt::format("must be >= {} and <= {}", low, high), fmt::format("Try {}?", value < low ? low : high));
}

nlohmann::json or_auto(const std::optional<std::int64_t>& count) {
  return count ? nlohmann::json(*count) : nlohmann::json("auto");
}

}  // namespace

void check(const Options& o) {
  require(!o.target.empty(), ExitStatus::usage, "no target", "target is not set",
          "Try --target logistic_regression? `kilochain targets` lists all.");
  in_range("num_chains", o.num_chains, 1, 1 << 24);
  if (o.num_warmup) in_range("num_warmup", *o.num_warmup, 0, std::int64_t(1) << 40);
  if (o.num_samples) in_range("num_samples", *o.num_samples, 1, std::int64_t(1) << 40);
  in_range("thin", o.thin, 1, 1 << 30);
  in_range("threads", o.threads, 0, 4096);
  in_range("chain_batch_size", o.chain_batch_size, 0, o.num_chains);
  require(o.chain_batch_size == 0 || o.num_chains % o.chain_batch_size == 0, ExitStatus::usage,
          fmt::format("chain_batch_size = {}", o.chain_batch_size),
          fmt::format("does not divide num_chains = {}", o.num_chains),
          fmt::format("Try --num-chains {}?",
                      (o.num_chains / std::max<std::int64_t>(1, o.chain_batch_size) + 1) * o.chain_batch_size));
  if (o.num_samples)
    require(o.thin <= *o.num_samples, ExitStatus::usage, fmt::format("thin = {}", o.thin),
            fmt::format("num_samples is {}, so no draw would be kept", *o.num_samples),
            "Use a smaller --thin or a larger --num-samples?");
  check_settings(o.sampler, o.sampler_settings, o.target, o.target_settings);
}

nlohmann::json to_json(const Options& o) {
  nlohmann::json j = {{"target", o.target},
                      {"sampler", o.sampler},
                      {"num_chains", o.num_chains},
                      {"thin", o.thin},
                      {"seed", o.seed},
                      {"adapt_scope", name_of(o.adapt_scope)},
                      {"init", o.init},
                      {"device", o.device},
                      {"real", o.real ? name_of(*o.real) : "auto"},
                      {"draws", name_of(o.draws)},
                      {"output", o.output},
                      {"save_warmup", o.save_warmup},
                      {"threads", o.threads},
                      {"chain_batch_size", o.chain_batch_size}};
  j["num_warmup"] = or_auto(o.num_warmup);
  j["num_samples"] = or_auto(o.num_samples);
  for (const auto& [name, value] : o.sampler_settings) j["sampler_settings"][name] = value;
  for (const auto& [name, value] : o.target_settings) j["target_settings"][name] = value;
  return j;
}

}  // namespace kilochain
