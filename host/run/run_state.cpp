#include "host/run/run_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "host/draws/draws_file.hpp"
#include "host/run/run_attributes.hpp"

namespace kilochain {
namespace {

/// What is kept as JSON, once. `State`: RunState or const RunState.
template <class Visitor, class State>
void visit_state(const Visitor& visit, State& s) {
  visit("warmup_iterations", s.warm.iterations);
  visit("warmup_gradients", s.warm.gradients);
  visit("warmup_seconds", s.warm.seconds);
  visit("warmup_ess_per_iteration", s.warm.ess_per_iteration);
  visit("warmup_converged", s.warm.converged);
  visit("warmup_superchains", s.warm.superchains);
  visit("warmup_note", s.warm.note);
  visit("warmup_advice", s.warm.advice);
  visit("warmup_coordinates", s.warm.coordinates);
  visit("warmup_symmetries", s.warm.symmetries);
  visit("warmup_modes", s.warm.modes);
  visit("iterations", s.iterations);
  visit("draws", s.draws);
  visit("wanted", s.wanted);
  visit("num_divergences", s.num_divergences);
  visit("seconds", s.seconds);
  visit("in_modes", s.in_modes);
  visit("value_of_first", s.value_of_first);
}

struct Read {
  const nlohmann::json& in;
  template <class T>
  void operator()(const char* name, T& value) const {
    in.at(name).get_to(value);
  }
  void operator()(const char* name, double& value) const {  // JSON has no NaN: null
    value = in.at(name).is_null() ? NAN : in.at(name).get<double>();
  }
  void operator()(const char* name, std::vector<double>& value) const {  // older files have none
    if (in.contains(name)) in.at(name).get_to(value);
  }
  void operator()(const char* name, std::optional<bool>& value) const {
    if (in.contains(name)) value = in.at(name).get<bool>();
  }
};

/// Writes length and bytes; returns where the next ones go.
char* put(char* to, const char* from, std::size_t size) {
  const std::uint64_t length = size;
  std::memcpy(to, &length, sizeof length);
  return std::copy_n(from, size, to + sizeof length);
}

}  // namespace

std::vector<char> to_bytes(const RunState& state) {
  nlohmann::json j;
  visit_state(WriteFields{j}, state);
  const auto& within = state.within_warmup;
  if (!within.empty()) j["within_warmup"] = true;
  const std::string text = j.dump();
  std::size_t size = text.size() + within.size() + 16;
  for (const auto& batch : state.chains) size += batch.size() + 8;
  std::vector<char> out(within.empty() ? size - 8 : size);
  char* to = put(out.data(), text.data(), text.size());
  if (!within.empty()) to = put(to, reinterpret_cast<const char*>(within.data()), within.size());
  for (const auto& batch : state.chains) to = put(to, batch.data(), batch.size());
  return out;
}

RunState run_state_of(const std::vector<char>& bytes, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitStatus::data, path + ": the state of its chains cannot be read", why,
                "Was the file made by kilochain sample of this version, and copied whole?");
  };
  std::size_t at = 0;
  const auto next = [&]() -> std::pair<const char*, std::size_t> {
    std::uint64_t length = 0;
    if (bytes.size() - at < sizeof length) refuse("it ends too early");
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += sizeof length;
    if (bytes.size() - at < length) refuse("it ends too early");
    at += length;
    return {bytes.data() + at - length, length};
  };
  RunState state;
  const auto [text, length] = next();
  bool within_warmup = false;
  try {
    const nlohmann::json j = nlohmann::json::parse(text, text + length);
    visit_state(Read{j}, state);
    within_warmup = j.contains("within_warmup");
  } catch (const nlohmann::json::exception&) {
    refuse("a number is missing, or of another kind");
  }
  if (within_warmup) {
    const auto [within, size] = next();
    state.within_warmup.assign(within, within + size);
  }
  while (at < bytes.size()) {
    const auto [batch, size] = next();
    state.chains.emplace_back(batch, batch + size);
  }
  return state;
}

std::shared_ptr<const RunState> read_run_state(const std::string& path) {
  const DrawsReader reader(path);
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitStatus::usage, path + ": the run cannot be resumed", why, "Begin it again?");
  };
  if (!reader.has_draws()) refuse("it kept moments only");
  const auto bytes = reader.state();
  if (!bytes.empty()) {
    RunState state = run_state_of(bytes, path);
    state.inputs = reader.header().inputs;
    return std::make_shared<const RunState>(std::move(state));
  }
  if (reader.draws_written() > 0)
    refuse("the state of its chains is not in the file: it takes more room than the draws");
  return nullptr;
}

template <class Real>
double value_of_first(const Phases<Real>& run) {
  std::vector<Real> x = run.chains.first_positions();
  if (run.target.info().offers == Needs::nothing) return static_cast<double>(x[0]);
  x.resize(static_cast<std::size_t>(run.dim()));
  Reporter silent;
  Ensemble<Real> one(run.context, run.target, {"rwm", {}}, silent, run.stop);
  one.start([&](Index, Index) { return x; });
  double lp = NAN;
  one.each(
      [&](Index, Chains<Real>& chain) { copy_to_host(run.context, &lp, chain.exchange(Phase::start).lp, sizeof lp); });
  return lp;
}

template <class Real>
void require_same_target(const Phases<Real>& run, const RunState& state) {
  const double now = value_of_first(run), before = state.value_of_first,
               near = 1e-3 * (1 + std::abs(before));  // float, perhaps on another device
  require(
      !std::isfinite(before) || std::abs(now - before) <= near, ExitStatus::data,
      run.options.output + ": the target is not the one that the draws are of",
      fmt::format("where the first chain stands its {} is {}, and was {}",
                  run.target.info().offers == Needs::nothing ? run.target.info().names[0] : "log density", now, before),
      "Have its data or its code changed since?");
}

template double value_of_first(const Phases<float>&);
template double value_of_first(const Phases<double>&);
template void require_same_target(const Phases<float>&, const RunState&);
template void require_same_target(const Phases<double>&, const RunState&);

}  // namespace kilochain
