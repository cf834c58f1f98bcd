#include "targets/regression_data.hpp"

#include <fmt/format.h>

namespace kilochain {

std::vector<int> digits_in(const std::string& text) {
  std::vector<int> digits;
  for (std::size_t k = 0; k < text.size(); k += 2) {
    const bool ends = k + 1 == text.size(), goes_on = k + 2 < text.size() && text[k + 1] == ',';
    if (text[k] < '0' || text[k] > '9' || !(ends || goes_on)) return {};
    digits.push_back(text[k] - '0');
  }
  return digits;
}

void record_table_units(const RegressionSettings& s, const Design& design, TargetInfo& info) {
  if (s.units == Units::standard) return;
  require(!design.centre.empty(), ExitStatus::usage, design.source + ": the weights are in the table's units already",
          "units = table, and nothing was standardised", "Leave units out?");
  require(s.bias, ExitStatus::usage, design.source + ": without an intercept there are no weights in the table's units",
          "units = table, bias = no: the features were centred", "Leave one of the two out?");
  const std::size_t n = design.columns, recorded = info.names.size(),
                    classes = std::max<std::size_t>(design.classes.size(), 1);
  if (info.variables.empty()) info.variables = {{info.variable, {recorded}}};
  info.variables.push_back({"w_table", {classes * n}});
  if (classes > 1) info.variables.back().shape = {classes, n};
  for (std::size_t k = 0; k < classes; ++k)
    for (const std::string& name : design.names)
      info.names.push_back(classes > 1 ? fmt::format("w_table[{}, {}]", design.classes[k], name)
                                       : fmt::format("w_table[{}]", name));
  info.constrain = [=, centre = design.centre, scale = design.scale, before = info.constrain, dim = info.dim](
                       const double* x, const DrawId& draw, double* out) {
    if (before)
      before(x, draw, out);
    else
      std::copy_n(x, dim, out);
    for (std::size_t k = 0; k < classes; ++k) {
      const double* const w = out + k * n;
      double *const table = out + recorded + k * n, *const bias = table + n - 1;
      *bias = w[n - 1];
      for (std::size_t j = 0; j + 1 < n; ++j) table[j] = w[j] / scale[j], *bias -= table[j] * centre[j];
    }
  };
}

}  // namespace kilochain
