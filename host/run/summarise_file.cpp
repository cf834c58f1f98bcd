// The summary of a file of draws, read by groups of coordinates within a bound on memory.
#include <algorithm>
#include <cmath>

#include "host/draws/draws_file.hpp"
#include "host/registry/registry.hpp"
#include "host/run/run.hpp"
#include "host/run/run_attributes.hpp"

namespace kilochain {
namespace {

template <class T>
struct ValueOf {
  using Type = T;
};
template <class T>
struct ValueOf<std::optional<T>> {
  using Type = T;
};

struct ReadAttribute {
  const nlohmann::json& attributes;
  /// Leaves a value as it is where there is none of its kind.
  template <class T>
  void operator()(const char* name, T& value) const {
    const auto it = attributes.find(name);
    if (it == attributes.end()) return;
    if constexpr (std::is_same_v<T, std::string>) {
      if (it->is_string()) value = it->template get<std::string>();
    } else {
      if (it->is_number()) value = static_cast<typename ValueOf<T>::Type>(it->template get<double>());
    }
  }
};

/// Moves the rows of the chains that count to the front of each coordinate.
std::int64_t keep_chains(std::vector<double>& values, std::int64_t coordinates, std::int64_t chains, std::int64_t draws,
                         const std::vector<bool>& out) {
  std::int64_t kept = 0;
  for (std::int64_t c = 0; c < chains; ++c) kept += !out[c];
  if (kept == chains) return kept;
  double* to = values.data();
  for (std::int64_t p = 0; p < coordinates; ++p)
    for (std::int64_t c = 0; c < chains; ++c)
      if (!out[c]) to = std::copy_n(values.data() + (p * chains + c) * draws, draws, to);
  return kept;
}

/// What the header and the closing attributes say.
RunSummary summary_without_draws(const DrawsReader& reader) {
  const DrawsHeader& h = reader.header();
  RunSummary s;
  s.target = h.target;
  s.sampler = h.sampler;
  s.real = h.real;
  s.num_chains = h.num_chains;
  s.num_warmup = h.num_warmup;
  s.thin = h.thin;
  s.draws = h.kept;
  const ReadAttribute read{reader.attributes()};
  visit_attributes(read, s);
  s.finished = reader.attributes().value("interrupted", 1) == 0;
  if (!reader.attributes().contains("interrupted")) {  // killed: device and num_samples are what was asked for
    s.device.clear();
    s.num_samples = reader.draws_written() * h.thin;
    s.seconds_warmup = s.seconds_sampling = NAN;
  }
  s.seconds_total = s.seconds_warmup + s.seconds_sampling;
  std::string fixed;
  read("fixed", fixed);
  if (!fixed.empty()) s.fixed = nlohmann::json::parse(fixed).get<std::vector<std::string>>();
  s.quarantined = std::ssize(reader.quarantined());
  return s;
}

/// Acceptance over the chains that count; and divergences where the draws are there: the attribute of a killed run
/// would not tell of them.
void summarise_stats(RunSummary& s, const DrawsReader& reader, const std::vector<bool>& out) {
  std::vector<double> acceptance;
  for (std::size_t c = 0; const double rate : reader.mean_acceptance_rate())
    if (!out[c++]) acceptance.push_back(rate);
  set_acceptance(s, acceptance);
  for (const SamplerEntry& e : samplers())
    if (e.name == s.sampler && e.asks_nothing()) s.stuck = 0;  // cold spins may be right to stay
  if (!reader.has_draws()) return;
  s.divergences = 0;
  for (std::size_t c = 0; const std::int64_t count : reader.num_diverging()) s.divergences += out[c++] ? 0 : count;
}

std::vector<ParameterSummary> summarise_parameters(const DrawsReader& reader, const std::vector<bool>& out,
                                                   std::size_t max_bytes) {
  const auto& names = reader.header().names;
  const std::int64_t dim = posterior_values(reader.header()), draws = reader.draws_written();
  const std::int64_t group = std::min(dim, reader.parameters_within(max_bytes));
  std::vector<ParameterSummary> parameters(static_cast<std::size_t>(dim));
  std::vector<double> values;
  for (std::int64_t first = 0; first < dim; first += group) {
    const std::int64_t count = std::min(group, dim - first);
    reader.read_parameters(first, count, values);
    const std::int64_t kept = keep_chains(values, count, reader.header().num_chains, draws, out);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t p = 0; p < count; ++p)
      parameters.data()[first + p] =
          summarise(names.data()[first + p], Series{values.data() + p * kept * draws, kept, draws});
  }
  return parameters;
}

}  // namespace

RunSummary summarise_file(const std::string& path, std::size_t max_bytes) {
  const DrawsReader reader(path);
  RunSummary s = summary_without_draws(reader);
  const bool any = reader.has_draws() ? reader.draws_written() > 0 : reader.has_summary();
  require(any, ExitStatus::data, path + ": nothing was drawn",
          reader.has_draws() ? "0 draws of each chain: the run ended in its warm-up"
                             : "no summary: the run kept moments only, and did not come to its end",
          "Run it again?");
  std::vector<bool> out(s.num_chains);
  for (const auto c : reader.quarantined()) {
    require(c >= 0 && c < s.num_chains, ExitStatus::data, path + ": the file is damaged",
            "quarantined chain " + std::to_string(c) + " of " + std::to_string(s.num_chains), "Is there a copy of it?");
    out[c] = true;
  }
  summarise_stats(s, reader, out);
  if (!reader.has_draws())
    s.parameters = reader.read_summary();
  else if (s.quarantined < s.num_chains)
    s.parameters = summarise_parameters(reader, out, max_bytes);
  return s;
}

}  // namespace kilochain
