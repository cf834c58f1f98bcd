// The figures of the page that need all draws of a parameter (or of the log density) at once.
#pragma once
#include <nlohmann/json.hpp>

#include "host/report/diagnosis.hpp"

namespace kilochain {

/// Keys: name; heat {chains, blocks, centre, scale, levels}: block means of the chains `shown`, a character each;
/// ecdf {bands, farthest, effective}: quantiles over chains of F_c(u) - u; growth {draws, rhat, ess_bulk, ess_tail}.
/// known: figures of all draws, or null.
nlohmann::json looked_at(const std::string& name, const Series& series, const Diagnosis& diagnosis,
                         const std::vector<std::size_t>& shown, const ParameterSummary* known);
/// Two parameters' draws as counts on a grid, and where trajectories diverged.
nlohmann::json pair_of(const std::string& x_name, const std::vector<double>& x, const std::string& y_name,
                       const std::vector<double>& y, const std::vector<std::array<double, 2>>& divergences);
/// Rows of Diagnosis::chains, farthest out first: at most `most`, half of them the farthest, the others spread evenly.
std::vector<std::size_t> chains_shown(const Diagnosis& diagnosis, std::size_t most);

}  // namespace kilochain
