// A file of draws as the Result of its run.
#include "host/draws/draws_file.hpp"
#include "host/run/run.hpp"

namespace kilochain {
namespace {

/// [value][chain][draw] of the file to [chain][draw][value].
std::vector<double> all_draws(const DrawsReader& reader) {
  const auto values = std::ssize(reader.header().names), rows = reader.header().num_chains * reader.draws_written();
  std::vector<double> one, out(static_cast<std::size_t>(rows * values));
  for (std::int64_t k = 0; k < values; ++k) {
    reader.read_parameters(k, 1, one);
    for (std::int64_t row = 0; row < rows; ++row) out[row * values + k] = one[row];
  }
  return out;
}

std::vector<Variable> variables_of_names(const DrawsHeader& header) {
  std::vector<Variable> out;
  for (const DrawsVariable& v : variables_of(header))
    out.push_back(
        {v.name, v.scalar ? std::vector<std::size_t>{} : std::vector{static_cast<std::size_t>(v.size)}, v.group});
  return out;
}

}  // namespace

Result read_result(const std::string& path) {
  Result r;
  r.summary = summarise_file(path);
  const DrawsReader reader(path);
  for (const std::int64_t chain : reader.quarantined())
    r.quarantined.push_back({chain, -1, "the file does not say why"});
  r.interrupted = !r.summary.finished;
  r.names = reader.header().names;
  r.variables = variables_of_names(reader.header());
  if (!reader.has_draws()) return r;
  r.draws_written = reader.draws_written();
  r.draws = all_draws(reader);
  r.lp = reader.lp();
  std::vector<std::string> statistics = reader.header().stats;
  statistics.insert(statistics.end(), {"acceptance_rate", "diverging"});
  for (const std::string& name : statistics) r.statistics[name] = reader.stat(name);
  return r;
}

}  // namespace kilochain
