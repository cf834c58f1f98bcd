#include "host/report/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "host/draws/draws_file.hpp"
#include "host/report/advice.hpp"
#include "host/statistics/chain_figures.hpp"
#include "host/statistics/ess.hpp"
#include "host/statistics/ranks.hpp"

namespace kilochain {
namespace {

/// Where the chains are in one parameter, beside what is known of other parameters. One caller at a time.
void note_places(std::vector<ChainFigures>& chains, const Places& places, std::int64_t parameter) {
  for (std::int64_t c = 0; c < std::ssize(places.at); ++c) {
    const double out = std::abs(places.out(c));
    if (out > chains[c].out) chains[c].out = out, chains[c].out_of = parameter;
  }
}

Spread spread_of(const Series& series) {
  std::vector<double> means = block_means(series, 1);
  std::sort(means.begin(), means.end());
  Spread s;
  for (int k = 0; const double p : {0.0, 0.05, 0.95, 1.0})
    s[k++] = quantile_of_sorted(means.data(), std::ssize(means), p);
  return s;
}

/// Log density, divergences, energy and depth of each chain.
void add_statistics(Diagnosis& d, const DrawsReader& reader, std::vector<std::vector<int>>& groups) {
  const std::int64_t draws = reader.draws_written(), count = std::ssize(d.chains);
  {
    const std::vector<double> lp = kept_rows(reader.lp(), d, draws);
    std::vector<double> sds(d.chains.size());
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t c = 0; c < count; ++c) {
      const Series one{lp.data() + c * draws, 1, draws};
      const Moments moments = moments_of(one);
      d.chains[c].lp = moments.mean, sds[c] = moments.sd;
      d.chains[c].ess_lp = ess_mean(one);
      d.chains[c].steps_lp = steps_over_variance(one.values, draws);
    }
    d.lp_sd = median_of(sds);
    const Places places = places_of({lp.data(), count, draws});
    note_places(d.chains, places, -1);
    if (!places.at.empty()) groups.push_back(groups_of(places));
  }
  const auto diverging = reader.num_diverging();
  for (ChainFigures& c : d.chains) c.divergences = diverging[c.number];
  if (d.run.thin == 1 && reader.has_stat("energy")) {
    const std::vector<float> energies = reader.stat("energy");
    for (ChainFigures& c : d.chains) c.e_bfmi = steps_over_variance(energies.data() + c.number * draws, draws);
  }
  const auto depths = chain_means(reader, d, "tree_depth"), deepest = chain_means(reader, d, "reached_max_treedepth");
  for (std::size_t c = 0; c < depths.size(); ++c) d.chains[c].tree_depth = depths[c];
  for (std::size_t c = 0; c < deepest.size(); ++c) d.chains[c].deepest = deepest[c];
}

/// Chains with the same group in all of them.
void add_clusters(Diagnosis& d, const DrawsReader& reader, std::vector<std::vector<int>> groups) {
  std::vector<std::vector<double>> means;
  std::vector<double> values;
  for (const std::size_t parameter : d.worst) {
    reader.read_parameters(static_cast<std::int64_t>(parameter), 1, values);
    values = kept_rows(values, d, reader.draws_written());
    const Series series{values.data(), std::ssize(d.chains), reader.draws_written()};
    groups.push_back(groups_of(places_of(series)));
    means.push_back(block_means(series, 1));
  }
  std::map<std::vector<int>, Cluster> by_groups;
  for (std::size_t c = 0; c < d.chains.size(); ++c) {
    std::vector<int> key;
    for (const auto& g : groups) key.push_back(g[c]);
    Cluster& cluster = by_groups[key];
    cluster.chains.push_back(d.chains[c].number);
    cluster.lp += d.chains[c].lp;
    cluster.means.resize(means.size());
    for (std::size_t k = 0; k < means.size(); ++k) cluster.means[k] += means[k][c];
  }
  for (auto& [key, cluster] : by_groups) {
    const double size = std::ssize(cluster.chains);
    cluster.lp /= size;
    for (double& mean : cluster.means) mean /= size;
    d.clusters.push_back(std::move(cluster));
  }
  std::stable_sort(d.clusters.begin(), d.clusters.end(),
                   [](const Cluster& a, const Cluster& b) { return a.chains.size() > b.chains.size(); });
}

/// Only what has diagnostics can be looked at more closely.
std::vector<std::size_t> worst_of(const RunSummary& run) {
  std::vector<std::size_t> out;
  for (const ParameterSummary& p : worst_first(run.parameters))
    for (std::size_t k = 0; k < run.parameters.size() && out.size() < 3 && std::isfinite(p.rhat); ++k)
      if (run.parameters[k].name == p.name) out.push_back(k);
  return out;
}

}  // namespace

std::vector<double> chain_means(const DrawsReader& reader, const Diagnosis& d, const char* stat) {
  std::vector<double> means;
  if (!reader.has_draws() || !reader.has_stat(stat)) return means;
  const std::vector<float> values = reader.stat(stat);
  const std::int64_t draws = reader.draws_written();
  for (const ChainFigures& c : d.chains) {
    const auto first = values.begin() + c.number * draws;
    means.push_back(std::accumulate(first, first + draws, 0.0) / static_cast<double>(draws));
  }
  return means;
}

std::vector<double> kept_rows(const std::vector<double>& values, const Diagnosis& d, std::int64_t draws) {
  std::vector<double> out(d.chains.size() * static_cast<std::size_t>(draws));
  for (std::size_t c = 0; c < d.chains.size(); ++c)
    std::copy_n(values.data() + d.chains[c].number * draws, draws, out.data() + c * draws);
  return out;
}

Diagnosis diagnose(const std::string& path, const std::vector<std::int64_t>& without) {
  Diagnosis d;
  {
    const DrawsReader reader(path, DrawsReader::or_last_of_warmup);
    const std::vector<double> rates = reader.mean_acceptance_rate();
    for (const std::int64_t c : chains_that_count(reader, without)) {
      d.chains.push_back({c});
      if (c < std::ssize(rates)) d.chains.back().acceptance = rates[c];
    }
    for (const std::int64_t c : reader.quarantined())
      if (std::find(without.begin(), without.end(), c) == without.end()) d.quarantined.push_back(c);
    if (reader.has_draws()) d.spreads.resize(static_cast<std::size_t>(posterior_values(reader.header())));
  }
  d.run = summarise_file(path, {without, [&](std::int64_t parameter, const Series& series) {
                                  const Places places = places_of(series);
                                  d.spreads[parameter] = spread_of(series);
#pragma omp critical(kilochain_note_places)
                                  note_places(d.chains, places, parameter);
                                }});
  d.worst = worst_of(d.run);
  const DrawsReader reader(path, DrawsReader::or_last_of_warmup);
  if (reader.has_draws() && !d.chains.empty()) {
    std::vector<std::vector<int>> groups;
    add_statistics(d, reader, groups);
    add_clusters(d, reader, std::move(groups));
  }
  if (!reader.has_draws())
    d.missing.push_back(
        "the draws: the run kept moments only, so chains cannot be compared with each other (--draws all)");
  else if (d.run.last_of_warmup)
    d.missing.push_back("the draws: the run was stopped in its warm-up, whose last draws these figures are of");
  else if (!reader.has_stat("energy"))
    d.missing.push_back("energies: sampler " + d.run.sampler + " has none, so there is no E-BFMI");
  else if (d.run.thin > 1)
    d.missing.push_back("E-BFMI: it needs every draw, and one in " + std::to_string(d.run.thin) + " was kept");
  add_findings(d);
  return d;
}

std::string chains_text(std::vector<std::int64_t> chains, std::size_t most) {
  std::sort(chains.begin(), chains.end());
  std::vector<std::string> parts;
  std::size_t k = 0;
  while (k < chains.size() && parts.size() < most) {
    std::size_t end = k + 1;
    while (end < chains.size() && chains[end] == chains[end - 1] + 1) ++end;
    parts.push_back(end - k > 2 ? fmt::format("{}-{}", chains[k], chains[end - 1]) : std::to_string(chains[k]));
    k = end - k > 2 ? end : k + 1;
  }
  const std::string text = fmt::format("{}", fmt::join(parts, ", "));
  return k < chains.size() ? fmt::format("{} and {} more", text, chains.size() - k) : text;
}

nlohmann::json to_json(const Diagnosis& d) {
  nlohmann::json out = to_json(d.run);
  const auto& names = d.run.parameters;
  out["quarantined_chains"] = d.quarantined;
  out["missing"] = d.missing;
  out["findings"] = out["clusters"] = out["chains"] = nlohmann::json::array();
  for (const Finding& f : d.findings)
    out["findings"].push_back({{"kind", f.kind}, {"chains", f.chains}, {"words", f.words}, {"advice", f.advice}});
  for (const Cluster& c : d.clusters) {
    nlohmann::json means = nlohmann::json::object();
    for (std::size_t k = 0; k < c.means.size(); ++k) means[names[d.worst[k]].name] = number_or_null(c.means[k]);
    out["clusters"].push_back({{"chains", c.chains}, {"lp", number_or_null(c.lp)}, {"means", means}});
  }
  for (const ChainFigures& c : d.chains)
    out["chains"].push_back({{"chain", c.number},
                             {"acceptance_rate", number_or_null(c.acceptance)},
                             {"lp", number_or_null(c.lp)},
                             {"ess_lp", number_or_null(c.ess_lp)},
                             {"e_bfmi", number_or_null(c.e_bfmi)},
                             {"tree_depth", number_or_null(c.tree_depth)},
                             {"divergences", c.divergences},
                             {"out", number_or_null(c.out)},
                             {"out_of", c.out_of < 0 ? "lp" : names[c.out_of].name}});
  return out;
}

}  // namespace kilochain
