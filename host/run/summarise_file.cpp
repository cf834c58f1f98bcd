// The summary of a file of draws, read by groups of coordinates within a bound on memory.
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "host/draws/draws_file.hpp"
#include "host/run/run.hpp"

namespace kilochain {
namespace {

double number(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_number() ? it->get<double>() : 0.0;
}
std::string text(const nlohmann::json& j, const char* key) {
  const auto it = j.find(key);
  return it != j.end() && it->is_string() ? it->get<std::string>() : std::string();
}

/// Moves the rows of the chains that count to the front of each coordinate.
std::int64_t keep_chains(std::vector<double>& values, std::int64_t coordinates, std::int64_t chains, std::int64_t draws,
                         const std::vector<bool>& out) {
  std::int64_t kept = 0;
  for (std::int64_t c = 0; c < chains; ++c) kept += !out[static_cast<std::size_t>(c)];
  if (kept == chains) return kept;
  double* to = values.data();
  for (std::int64_t p = 0; p < coordinates; ++p)
    for (std::int64_t c = 0; c < chains; ++c)
      if (!out[static_cast<std::size_t>(c)]) to = std::copy_n(values.data() + (p * chains + c) * draws, draws, to);
  return kept;
}

}  // namespace

RunSummary summarise_file(const std::string& path, std::size_t max_bytes) {
  const DrawsReader reader(path);
  const DrawsHeader& h = reader.header();
  const nlohmann::json& a = reader.attributes();
  RunSummary s;
  s.target = h.target;
  s.sampler = h.sampler;
  s.device = text(a, "device");
  s.real = h.real;
  s.num_chains = h.num_chains;
  s.num_warmup = a.contains("num_warmup") ? static_cast<std::int64_t>(number(a, "num_warmup")) : h.num_warmup;
  s.num_samples =
      reader.has_draws() ? reader.draws_written() * h.thin : static_cast<std::int64_t>(number(a, "num_samples"));
  s.thin = h.thin;
  s.seconds_warmup = number(a, "warmup_time");
  s.seconds_sampling = number(a, "sampling_time");
  s.seconds_total = s.seconds_warmup + s.seconds_sampling;
  s.gradient_evaluations = static_cast<std::int64_t>(number(a, "gradient_evaluations"));
  s.warmup_converged = !a.contains("warmup_converged") || number(a, "warmup_converged") != 0;
  s.warmup_note = text(a, "warmup_note");
  s.divergences = static_cast<std::int64_t>(number(a, "num_divergences"));
  const auto quarantined = reader.quarantined();
  s.quarantined = static_cast<std::int64_t>(quarantined.size());
  std::vector<bool> out(static_cast<std::size_t>(h.num_chains));
  for (const auto c : quarantined) out[static_cast<std::size_t>(c)] = true;
  std::vector<double> acceptance;
  const auto per_chain = reader.mean_acceptance_rate();
  for (std::size_t c = 0; c < per_chain.size(); ++c)
    if (!out[c]) acceptance.push_back(per_chain[c]);
  set_acceptance(s, acceptance);
  if (!reader.has_draws()) {
    if (reader.has_summary()) s.parameters = reader.read_summary();
    return s;
  }
  const auto diverging = reader.num_diverging();
  s.divergences = 0;
  for (std::size_t c = 0; c < diverging.size(); ++c)
    if (!out[c]) s.divergences += diverging[c];
  const std::int64_t draws = reader.draws_written(), dim = static_cast<std::int64_t>(h.names.size());
  if (draws == 0 || acceptance.empty()) return s;
  const std::int64_t group = std::min(dim, reader.parameters_within(static_cast<std::int64_t>(max_bytes)));
  s.parameters.resize(static_cast<std::size_t>(dim));
  std::vector<double> values;
  for (std::int64_t first = 0; first < dim; first += group) {
    const std::int64_t count = std::min(group, dim - first);
    reader.read_parameters(first, count, values);
    const std::int64_t kept = keep_chains(values, count, h.num_chains, draws, out);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t p = 0; p < count; ++p)
      s.parameters[static_cast<std::size_t>(first + p)] =
          summarise(h.names[static_cast<std::size_t>(first + p)],
                    BasicSeries<double>{values.data() + p * kept * draws, kept, draws});
  }
  return s;
}

}  // namespace kilochain
