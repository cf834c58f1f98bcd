#include "targets/gaussian_mixture.hpp"

#include <cmath>

#include "base/number_of.hpp"

namespace kilochain {
namespace {

/// Numbers between separators; blanks around them do not count. what: the setting, for messages.
std::vector<double> numbers(const std::string& text, const std::string& what) {
  std::vector<double> out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::size_t first = std::min(text.find_first_not_of(" \t", from), comma),
                      end = text.find_last_not_of(" \t", comma - (comma > 0)) + 1;
    const std::string field = end > first ? text.substr(first, std::min(end, comma) - first) : "";
    const auto v = number_of<double>(field);
    require(v && std::isfinite(*v), ExitStatus::usage, "gaussian_mixture: " + what + " = " + text,
            "\"" + field + "\" is not a number (number " + std::to_string(out.size() + 1) + ")",
            "Separate numbers by commas?");
    out.push_back(*v);
    from = comma + 1;
  }
  return out;
}

std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> out;
  std::size_t from = 0;
  while (true) {
    const std::size_t at = text.find(';', from);
    out.push_back(text.substr(from, at == std::string::npos ? at : at - from));
    if (at == std::string::npos) return out;
    from = at + 1;
  }
}

/// One positive number for each component: the text's, or `otherwise` when it is empty.
std::vector<double> each_component(const std::string& text, const std::string& what, std::size_t components,
                                   double otherwise) {
  if (text.empty()) return std::vector<double>(components, otherwise);
  const std::vector<double> v = numbers(text, what);
  require(v.size() == components, ExitStatus::usage, "gaussian_mixture: " + what + " = " + text,
          std::to_string(v.size()) + " numbers for " + std::to_string(components) + " components",
          "Give one number for each mean?");
  for (const double e : v)
    require(e > 0, ExitStatus::usage, "gaussian_mixture: " + what + " = " + text, "must be > 0",
            "Leave out components without weight?");
  return v;
}

}  // namespace

template <class Real>
typename GaussianMixture<Real>::Data GaussianMixture<Real>::prepare(const Settings& s, Arena<Real>& arena,
                                                                    TargetInfo& info) {
  const std::size_t n = s.dim;
  std::vector<std::vector<double>> means;
  for (const std::string& part : parts(s.means)) {
    means.push_back(numbers(part, "means"));
    require(means.back().size() <= n, ExitStatus::usage, "gaussian_mixture: means = " + s.means,
            "mean " + std::to_string(means.size()) + " has " + std::to_string(means.back().size()) +
                " coordinates, dim is " + std::to_string(n),
            "Set dim, or separate components by semicolons?");
    means.back().resize(n);
  }
  const std::size_t components = means.size();
  std::vector<double> weights = each_component(s.weights, "weights", components, 1.0);
  const std::vector<double> sds = each_component(s.sds, "sds", components, 1.0);
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;

  Data d;
  d.n = s.dim;
  d.row = static_cast<Index>(padded(n + (n == 1)));
  d.components = static_cast<Index>(components);
  d.log_constant = -0.9189385332046727 * n;
  std::vector<double> rows(components * d.row), precision, log_weight;
  info.exact.mean.assign(n, 0.0);
  info.exact.variance.assign(n, 0.0);
  for (std::size_t k = 0; k < components; ++k) {
    precision.push_back(1 / (sds[k] * sds[k]));
    log_weight.push_back(std::log(weights[k]) - n * std::log(sds[k]));
    for (std::size_t i = 0; i < n; ++i) {
      rows[k * d.row + i] = means[k][i];
      info.exact.mean[i] += weights[k] * means[k][i];
      info.exact.variance[i] += weights[k] * (sds[k] * sds[k] + means[k][i] * means[k][i]);
    }
  }
  for (std::size_t i = 0; i < n; ++i) info.exact.variance[i] -= info.exact.mean[i] * info.exact.mean[i];
  d.means = arena.put(rows);
  d.precision = arena.put(precision);
  d.log_weight = arena.put(log_weight);

  info.dim = s.dim;
  for (std::size_t i = 0; i < n; ++i) info.names.push_back("x[" + std::to_string(i) + "]");
  info.flops = 8.0 * (components * n);
  info.bytes = sizeof(Real) * components * n;
  info.exact.draw = [means, weights, sds](const std::vector<double>& z, double uniform) {
    std::size_t k = 0;
    for (double left = uniform; k + 1 < means.size() && left >= weights[k]; ++k) left -= weights[k];
    std::vector<double> x = means[k];
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += sds[k] * z[i];
    return x;
  };
  return d;
}

template struct GaussianMixture<float>;
template struct GaussianMixture<double>;

}  // namespace kilochain
