#include "targets/glm.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace kilochain {

const Design& read_glm_design(const GlmFamily& family, const RegressionSettings& s) {
  require(!s.data.empty(), ExitStatus::usage, std::string(family.model) + ": no data", "data is not set",
          "Give --data FILE.csv?");
  return s.design([&] {
    if (family.binary) return load_labelled_csv(s.data, s.rules(), s.standardise, s.bias);
    return load_measured_csv(s.data, s.rules(), family.response, s.standardise, s.bias);
  });
}

GlmUnits glm_units(const GlmFamily& family, const RegressionSettings& s, const Design& design) {
  GlmUnits out;
  double mean = 0, squares = 0;
  for (const double y : design.y) mean += y / static_cast<double>(design.rows);
  for (const double y : design.y) squares += (y - mean) * (y - mean);
  const double spread = std::sqrt(squares / static_cast<double>(design.rows - 1));
  const bool varies = std::any_of(design.y.begin(), design.y.end(), [&](double y) { return y != design.y[0]; });
  if (family.response == Response::number)
    require(varies && spread > 0 && std::isfinite(spread), ExitStatus::data,
            design.source + ": what is predicted does not vary, or beyond a double's range",
            fmt::format("{} in the first of {} rows, standard deviation {}", design.y[0], design.rows, spread),
            "Name its column with --label?");
  if (family.log_link)
    require(mean > 0, ExitStatus::data, design.source + ": every count is 0", fmt::format("{} rows", design.rows),
            "Name the column of counts with --label?");
  if (family.response == Response::number) out.scale = spread;
  if (s.bias && family.response == Response::number) out.centre = mean;
  if (s.bias && family.log_link) out.shift = std::log(mean);
  return out;
}

TargetInfo describe_glm(const GlmFamily& family, const RegressionSettings& s, const Design& design,
                        std::size_t element) {
  const std::size_t n = design.columns, groups = design.groups.size(), own = family.parameter[0] ? 1 : 0,
                    dim = n + own + (groups > 0 ? groups + 1 : 0);
  require(dim < std::size_t(1) << 24, ExitStatus::data, design.source + ": too many coefficients",
          fmt::format("{} features and {} groups", n, groups), "Use fewer of either?");
  TargetInfo info;
  info.dim = static_cast<Index>(dim);
  info.offers = Needs::gradient;
  info.names = design.names;
  info.variables = {{"w", {n}}};
  if (own) info.names.push_back(family.parameter), info.variables.push_back({family.parameter, {}});
  for (const std::string& name : design.groups) info.names.push_back(fmt::format("alpha[{}]", name));
  if (groups > 0) {
    info.names.push_back("sigma_alpha");
    info.variables.insert(info.variables.end(), {{"alpha", {groups}}, {"sigma_alpha", {}}});
    info.constants.push_back({"group", {"observation"}, {design.rows}, design.group});
  }
  std::set<std::string> seen;
  for (const std::string& name : info.names)
    require(seen.insert(name).second, ExitStatus::data,
            fmt::format("{}: a column is named as a parameter is", design.source), fmt::format("\"{}\"", name),
            "Rename the column?");
  const GlmUnits units = glm_units(family, s, design);
  info.constrain = [=, bias = s.bias](const double* x, const DrawId&, double* out) {
    for (std::size_t j = 0; j < n; ++j) out[j] = units.scale * x[j];
    if (bias) out[n - 1] += units.centre + units.shift;
    if (own) out[n] = units.scale * std::exp(x[n]);
    if (groups == 0) return;
    const double sigma = units.scale * std::exp(x[dim - 1]);
    for (std::size_t g = 0; g < groups; ++g) out[n + own + g] = sigma * x[n + own + g];
    out[dim - 1] = sigma;
  };
  describe_observations(design, info);
  record_table_units(s, design, info);
  const double entries = static_cast<double>(design.rows) * static_cast<double>(n);
  info.flops = 4 * entries + 40 * static_cast<double>(design.rows);
  info.bytes = entries * static_cast<double>(element);
  return info;
}

GlmShape glm_shape(const GlmFamily& family, const RegressionSettings& s, const Design& design, Arena<double>& arena) {
  const double log_root = 0.5 * std::log(2 * std::numbers::pi), log_half = 0.5 * std::log(2 / std::numbers::pi);
  const double n = static_cast<double>(design.columns), groups = static_cast<double>(design.groups.size());
  GlmShape d{};
  d.n = static_cast<Index>(design.columns);
  d.groups = static_cast<Index>(design.groups.size());
  d.num_rows = static_cast<Index>(design.rows);
  d.inverse_variance = 1 / (s.prior_sd * s.prior_sd);
  d.shift = glm_units(family, s, design).shift;
  d.log_constant = -n * (std::log(s.prior_sd) + log_root);
  if (groups > 0) d.log_constant += log_half - groups * log_root;
  if (family.response == Response::number) d.log_constant -= static_cast<double>(design.rows) * log_root;
  std::map<double, double> times;
  for (const double y : design.y) {
    if (family.log_link) d.log_constant -= std::lgamma(y + 1);
    ++times[y];
  }
  if (!family.log_link || !family.parameter[0]) return d;
  d.log_constant += log_half - std::log(2);
  std::vector<double> distinct, often;
  for (const auto& [y, count] : times) distinct.push_back(y), often.push_back(count);
  d.num_distinct = static_cast<Index>(times.size());
  d.distinct = arena.put(distinct), d.times = arena.put(often);
  return d;
}

const double* glm_response(const GlmUnits& units, const Design& design, const std::vector<std::size_t>& order,
                           Arena<double>& arena) {
  std::vector<double> y;
  for (const std::size_t i : order) y.push_back((design.y[i] - units.centre) / units.scale);
  return arena.put(y);
}
const double* glm_groups(const Design& design, const std::vector<std::size_t>& order, Arena<double>& arena) {
  std::vector<double> group;
  for (const std::size_t i : order) group.push_back(design.groups.empty() ? 0 : design.group[i]);
  return arena.put(group);
}

}  // namespace kilochain
