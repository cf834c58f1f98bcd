// Which chains of a file of draws stand out, by number, and one sentence of advice about each kind of trouble.
//   stuck: accepted nothing. slow: effective draws of the log density below a tenth of the chains' median, and its
//   squared steps over its variance below a fifth (the first alone is a noisy figure of one chain).
//   apart: farther out than 6 se in a parameter or in the log density (statistics/chain_figures.hpp).
//   clusters: chains that no gap of 6 se parts, in the log density and the worst parameters.
//   low energy: E-BFMI below 0.3. deep: a tenth of its trajectories or more reached the greatest depth.
// Memory: as summarise_file, or 60 bytes for each draw of one parameter where that is more. One pass over the draws,
// and one over the worst parameters. Of a file of moments: what the file knows, and what is missing.
#pragma once
#include <array>
#include <cmath>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "host/run/run.hpp"

namespace kilochain {

struct ChainFigures {
  std::int64_t number = 0;
  double acceptance = NAN, lp = NAN, ess_lp = NAN, steps_lp = NAN, e_bfmi = NAN, tree_depth = NAN,
         deepest = NAN;  ///< means; a share
  std::int64_t divergences = 0;
  double out = 0;            ///< the largest, in se
  std::int64_t out_of = -1;  ///< parameter; -1: log density
};

struct Cluster {
  std::vector<std::int64_t> chains;  ///< numbers
  double lp = 0;
  std::vector<double> means;  ///< of the worst parameters
};

struct Finding {
  std::string kind;                  ///< stuck, slow, ...
  std::vector<std::int64_t> chains;  ///< numbers, worst first; empty: it is about all
  std::string words, advice;
};

/// Of the chains' means of a parameter: the lowest, 5 %, 95 %, the highest.
using Spread = std::array<double, 4>;

struct Diagnosis {
  RunSummary run;
  std::vector<ChainFigures> chains;  ///< those that count, by number
  std::vector<std::int64_t> quarantined;
  std::vector<std::size_t> worst;  ///< parameters with diagnostics, worst first; three at most
  std::vector<Cluster> clusters;   ///< largest first
  double lp_sd = NAN;              ///< of the log density in a chain, in the middle of the chains
  std::vector<Spread> spreads;     ///< of each parameter; empty of moments
  std::vector<Finding> findings;   ///< gravest first
  std::vector<std::string> missing;
};

/// Throws what summarise_file throws.
Diagnosis diagnose(const std::string& path, const std::vector<std::int64_t>& without = {});

/// "3, 17, 20-29 and 88 more": at most `most` parts.
std::string chains_text(std::vector<std::int64_t> chains, std::size_t most = 12);
/// Keys: the summary's, quarantined_chains, findings [{kind, chains, words, advice}], clusters [{chains, lp, means}],
/// chains [{chain, acceptance_rate, lp, ess_lp, e_bfmi, tree_depth, divergences, out, out_of}], missing.
nlohmann::json to_json(const Diagnosis& diagnosis);

/// What a statistic of each draw was on average in each chain that counts; empty where there is none.
std::vector<double> chain_means(const DrawsReader& reader, const Diagnosis& diagnosis, const char* stat);
/// values[chain][draws] of all chains of the file: of those that count.
std::vector<double> kept_rows(const std::vector<double>& values, const Diagnosis& diagnosis, std::int64_t draws);

}  // namespace kilochain
