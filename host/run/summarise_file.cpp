// The summary of a file of draws, read by groups of coordinates within a bound on memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/draws/draws_file.hpp"
#include "host/registry/registry.hpp"
#include "host/run/run.hpp"
#include "host/run/run_attributes.hpp"
#include "host/run/run_state.hpp"

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
void keep_chains(std::vector<double>& values, std::int64_t coordinates, std::int64_t chains, std::int64_t draws,
                 const std::vector<std::int64_t>& kept) {
  if (std::ssize(kept) == chains) return;
  double* to = values.data();
  for (std::int64_t p = 0; p < coordinates; ++p)
    for (const std::int64_t c : kept) to = std::copy_n(values.data() + (p * chains + c) * draws, draws, to);
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
  try {
    if (!fixed.empty()) s.fixed = nlohmann::json::parse(fixed).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ExitStatus::data, reader.path() + ": the list of values that do not change is damaged",
                fixed.substr(0, 100), "Is there a copy of it?");
  }
  return s;
}

/// Of a killed run: what `resume` begins with, where that is less than what is there.
std::int64_t resumes_from(const DrawsReader& reader, const std::string& path) {
  if (!reader.has_draws() || reader.last_of_warmup() || reader.attributes().contains("interrupted")) return -1;
  const std::vector<char> bytes = reader.state();
  if (bytes.empty()) return -1;
  const std::int64_t draws = run_state_of(bytes, path).draws;
  return draws < reader.draws_written() ? draws : -1;
}

/// Acceptance over the chains that count; and divergences where the draws are there: the attribute of a killed run
/// would not tell of them.
void summarise_stats(RunSummary& s, const DrawsReader& reader, const std::vector<std::int64_t>& kept) {
  std::vector<double> acceptance;
  const std::vector<double> rates = reader.mean_acceptance_rate();
  for (const std::int64_t c : kept)
    if (c < std::ssize(rates)) acceptance.push_back(rates[c]);
  set_acceptance(s, acceptance, kept);
  for (const SamplerEntry& e : samplers())
    if (e.name == s.sampler && e.asks_nothing())
      s.stuck = 0, s.stuck_chains.clear();  // cold spins may be right to stay
  if (!reader.has_draws()) return;
  s.divergences = 0;
  const std::vector<std::int64_t> diverging = reader.num_diverging();
  for (const std::int64_t c : kept) s.divergences += diverging[c];
}

std::vector<ParameterSummary> summarise_parameters(const DrawsReader& reader, const std::vector<std::int64_t>& kept,
                                                   const FileWishes& wishes, const Superchains& superchains) {
  const auto& names = reader.header().names;
  const std::int64_t dim = posterior_values(reader.header()), draws = reader.draws_written(), chains = std::ssize(kept);
  const std::int64_t group = std::min(dim, reader.parameters_within(wishes.max_bytes));
  std::vector<ParameterSummary> parameters(static_cast<std::size_t>(dim));
  std::vector<double> values;
  for (std::int64_t first = 0; first < dim; first += group) {
    const std::int64_t count = std::min(group, dim - first);
    reader.read_parameters(first, count, values);
    keep_chains(values, count, reader.header().num_chains, draws, kept);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t p = 0; p < count; ++p) {
      const Series series{values.data() + p * chains * draws, chains, draws};
      parameters.data()[first + p] = summarise(names.data()[first + p], series, superchains);
      if (wishes.look) wishes.look(first + p, series);
    }
  }
  return parameters;
}

}  // namespace

std::vector<std::int64_t> chains_that_count(const DrawsReader& reader, const std::vector<std::int64_t>& without) {
  const std::string& path = reader.path();
  const std::int64_t chains = reader.header().num_chains;
  std::vector<bool> out(static_cast<std::size_t>(chains));
  const auto leave_out = [&](const std::vector<std::int64_t>& list, ExitStatus status, const char* what,
                             const char* fix) {
    for (const std::int64_t c : list) {
      require(c >= 0 && c < chains, status, path + what, fmt::format("chain {} of {}", c, chains), fix);
      out[static_cast<std::size_t>(c)] = true;
    }
  };
  leave_out(reader.quarantined(), ExitStatus::data, ": the list of quarantined chains is damaged",
            "Is there a copy of it?");
  leave_out(without, ExitStatus::usage, ": no such chain to leave out", "Chains are numbered from 0.");
  std::vector<std::int64_t> kept;
  for (std::int64_t c = 0; c < chains; ++c)
    if (!out[static_cast<std::size_t>(c)]) kept.push_back(c);
  return kept;
}

RunSummary summarise_file(const std::string& path, const FileWishes& wishes) {
  const DrawsReader reader(path, DrawsReader::or_last_of_warmup);
  RunSummary s = summary_without_draws(reader);
  s.last_of_warmup = reader.last_of_warmup();
  const bool any = reader.has_draws() ? reader.draws_written() > 0 : reader.has_summary();
  require(any, ExitStatus::data, path + ": nothing was drawn",
          reader.has_draws() ? "0 draws of each chain: the run ended in its warm-up"
                             : "no summary: the run kept moments only, and did not come to its end",
          reader.state().empty() ? "Run it again?" : "Go on with it by `kilochain resume " + path + "`?");
  require(reader.has_draws() || wishes.without.empty(), ExitStatus::usage,
          path + ": no chain can be left out of the summary", "the run kept moments of all chains together",
          "Leave out --without-chains?");
  const std::vector<std::int64_t> kept = chains_that_count(reader, wishes.without);
  s.without = wishes.without;
  std::sort(s.without.begin(), s.without.end());
  s.without.erase(std::unique(s.without.begin(), s.without.end()), s.without.end());
  s.num_chains -= std::ssize(s.without);
  s.quarantined = s.num_chains - std::ssize(kept);
  s.resumes_from = resumes_from(reader, path);
  summarise_stats(s, reader, kept);
  if (!reader.has_draws())
    s.parameters = reader.read_summary();
  else if (!kept.empty())
    s.parameters = summarise_parameters(reader, kept, wishes, {kept, s.superchains});
  return s;
}

}  // namespace kilochain
