#include "targets/gaussian.hpp"

#include <cmath>
#include <numbers>

#include "base/dense.hpp"
#include "base/nearest_name.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {
namespace {

struct Moments {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

Moments preset_moments(const std::string& name) {
  Moments m;
  if (name == "gauss2d_corr") {
    m.covariance = Eigen::Matrix2d{{1.0, 0.99}, {0.99, 1.0}};
  } else if (name == "neal_gaussian") {
    Eigen::VectorXd sd(100);
    for (int i = 0; i < 100; ++i) sd[i] = 0.01 * (i + 1);
    m.covariance = sd.array().square().matrix().asDiagonal();
  } else if (name == "gp51_gaussian") {
    m.covariance.resize(51, 51);
    for (int i = 0; i < 51; ++i)
      for (int j = 0; j < 51; ++j) {
        const double d = 0.08 * (i - j);
        m.covariance(i, j) = std::exp(-0.5 * d * d / 0.16) + (i == j ? 0.01 : 0.0);
      }
  } else {
    const std::vector<std::string> known = {"gauss2d_corr", "gp51_gaussian", "neal_gaussian"};
    throw Error(ExitStatus::usage, "gaussian: unknown preset \"" + name + "\"",
                "known: gauss2d_corr, gp51_gaussian, neal_gaussian", did_you_mean(name, known, "Choose one of these?"));
  }
  m.mean = Eigen::VectorXd::Zero(m.covariance.rows());
  return m;
}

Moments read_moments(const std::string& mean_path, const std::string& covariance_path) {
  require(!covariance_path.empty(), ExitStatus::usage, "gaussian: no covariance",
          "neither preset nor covariance is set", "Give --covariance FILE or --preset neal_gaussian?");
  const Matrix c = read_matrix(covariance_path);
  const std::string shape = std::to_string(c.rows) + " x " + std::to_string(c.columns);
  require(c.rows == c.columns, ExitStatus::data, covariance_path + ": the covariance is not square", shape,
          "Write one row a line, n numbers each?");
  Moments m;
  const auto n = static_cast<Eigen::Index>(c.rows);
  m.covariance =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(c.values.data(), n, n);
  const double largest = m.covariance.cwiseAbs().maxCoeff();
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < i; ++j)
      require(std::abs(m.covariance(i, j) - m.covariance(j, i)) <= 1e-8 * largest, ExitStatus::data,
              covariance_path + ": the covariance is not symmetric",
              "entries (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) +
                  ") = " + std::to_string(m.covariance(i, j)) + " and " + std::to_string(m.covariance(j, i)),
              "Average it with its transpose?");
  m.mean = Eigen::VectorXd::Zero(n);
  if (!mean_path.empty()) {
    const Matrix v = read_matrix(mean_path);
    require(v.rows == 1 || v.columns == 1, ExitStatus::data, mean_path + ": the mean is not a vector",
            std::to_string(v.rows) + " x " + std::to_string(v.columns), "Write one number a line?");
    require(v.values.size() == c.rows, ExitStatus::data, "gaussian: mean and covariance differ in dimension",
            "mean " + std::to_string(v.values.size()) + " in " + mean_path + ", covariance " + shape + " in " +
                covariance_path,
            "Do both files describe the same variables?");
    m.mean = Eigen::Map<const Eigen::VectorXd>(v.values.data(), n);
  }
  return m;
}

}  // namespace

template <class Real>
typename Gaussian<Real>::Data Gaussian<Real>::prepare(const Settings& s, Arena<Real>& arena, TargetInfo& info) {
  require(s.preset.empty() || (s.mean.empty() && s.covariance.empty()), ExitStatus::usage,
          "gaussian: both a preset and files", "preset = " + s.preset, "Give one or the other?");
  const Moments m = s.preset.empty() ? read_moments(s.mean, s.covariance) : preset_moments(s.preset);
  const Eigen::Index n = m.mean.size();
  const auto factor = cholesky(m.covariance);
  if (!factor) {
    const auto eigen = symmetric_eigen(m.covariance);
    throw Error(ExitStatus::data, "gaussian: the covariance is not positive definite",
                "smallest eigenvalue " + std::to_string(eigen ? eigen->values[0] : NAN) + " in " + s.covariance,
                "Remove linearly dependent variables, or add a little to the diagonal?");
  }
  const Eigen::MatrixXd& lower = *factor;
  const bool diagonal = m.covariance.isDiagonal(0.0);
  Data d;
  d.n = static_cast<Index>(n);
  d.row = static_cast<Index>(padded(n + (n == 1)));
  d.diagonal = diagonal;
  d.log_constant = -0.5 * n * std::log(2 * std::numbers::pi) - lower.diagonal().array().log().sum();
  d.mean = arena.put({m.mean.data(), m.mean.data() + n});
  std::vector<double> precision;
  if (diagonal) {
    for (Eigen::Index i = 0; i < n; ++i) precision.push_back(1 / m.covariance(i, i));
  } else {
    const Eigen::MatrixXd inverse = solve_lower_transposed(lower, solve_lower(lower, Eigen::MatrixXd::Identity(n, n)));
    precision.assign(n * d.row, 0.0);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j) precision[i * d.row + j] = 0.5 * (inverse(i, j) + inverse(j, i));
  }
  d.precision = arena.put(precision);

  info.dim = d.n;
  info.variable = "x";
  for (Eigen::Index i = 0; i < n; ++i) info.names.push_back("x[" + std::to_string(i) + "]");
  const double size = n;
  info.flops = diagonal ? 4 * size : 2 * size * size;
  info.bytes = sizeof(Real) * (diagonal ? size : size * size);
  info.exact.mean.assign(m.mean.data(), m.mean.data() + n);
  for (Eigen::Index i = 0; i < n; ++i) info.exact.variance.push_back(m.covariance(i, i));
  info.exact.draw = [mean = m.mean, lower](const std::vector<double>& z, double) {
    const Eigen::VectorXd x = mean + lower * Eigen::Map<const Eigen::VectorXd>(z.data(), mean.size());
    return std::vector<double>(x.data(), x.data() + x.size());
  };
  return d;
}

template struct Gaussian<float>;
template struct Gaussian<double>;

}  // namespace kilochain
