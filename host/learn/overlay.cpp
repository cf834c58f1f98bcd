#include "host/learn/overlay.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"

namespace kilochain {

double log_sum(std::span<const double> logs) {
  const double most = std::ranges::max(logs);
  if (!(most > -INFINITY)) return -INFINITY;
  double sum = 0;
  for (const double v : logs) sum += std::exp(v - most);
  return most + std::log(sum);
}

Overlay::Overlay(std::vector<Law> laws) : laws_(std::move(laws)) {
  if (laws_.empty()) return;
  const Eigen::Index n = laws_[0].mean.size(), modes = std::ssize(laws_);
  inverses_.setZero(modes * n, n), centres_.resize(modes * n), heights_.resize(modes);
  for (Eigen::Index k = 0; k < modes; ++k) {
    const Law& law = laws_[static_cast<std::size_t>(k)];
    const Eigen::MatrixXd lower = law.factor.triangularView<Eigen::Lower>();
    inverses_.middleRows(k * n, n) = solve_lower(lower, Eigen::MatrixXd::Identity(n, n));
    centres_.segment(k * n, n) = inverses_.middleRows(k * n, n) * (law.mean - laws_[0].mean);
    maps_.push_back(times(lower, inverses_.topRows(n)));
    log_volumes_.push_back(lower.diagonal().array().log().sum());
    heights_[k] = law.log_share - log_volumes_.back();
  }
}

void Overlay::image(std::size_t k, const Vector& u, Vector& x) const {
  if (k == 0)
    x = u;
  else
    x.noalias() = laws_[k].mean + maps_[k].triangularView<Eigen::Lower>() * (u - laws_[0].mean);
}

Eigen::ArrayXd Overlay::heights(const Vector& x, Vector& z) const {
  z.noalias() = inverses_ * (x - laws_[0].mean) - centres_;
  return heights_ - 0.5 * z.reshaped(x.size(), heights_.size()).colwise().squaredNorm().transpose().array();
}

double Overlay::log_weight(std::size_t k, const Vector& x, Vector* slope) const {
  Vector z;
  const Eigen::ArrayXd of = heights(x, z);
  const double all = log_sum({of.data(), laws_.size()});
  const auto mode = static_cast<Eigen::Index>(k);
  if (slope) {  // log w_k N_k less log sum_j w_j N_j: the slope of each is -L_j^-T z_j
    Vector shares = -(of - all).exp();
    shares[mode] += 1;
    z.reshaped(x.size(), heights_.size()) *= shares.asDiagonal();
    *slope -= inverses_.transpose() * z;
  }
  return of[mode] - all + log_volumes_[k] - log_volumes_[0];
}

void Overlay::pull_back(std::size_t k, Vector& slope) const {
  if (k > 0) slope = maps_[k].triangularView<Eigen::Lower>().transpose() * slope;
}

std::size_t Overlay::lay(Vector& x) const {
  Eigen::Index k;
  Vector z;
  heights(x, z).maxCoeff(&k);
  if (k > 0) x = laws_[0].mean + laws_[0].factor.triangularView<Eigen::Lower>() * z.segment(k * x.size(), x.size());
  return static_cast<std::size_t>(k);
}

std::size_t Overlay::pick(std::span<const double> log_terms, double uniform) {
  const double all = log_sum(log_terms);
  std::size_t last = 0;
  for (std::size_t k = 0; k < log_terms.size(); ++k) {
    const double share = std::exp(log_terms[k] - all);
    if (!(share > 0)) continue;
    last = k;
    if ((uniform -= share) < 0) break;
  }
  return last;
}

std::vector<double> Overlay::to_numbers() const {
  if (!any()) return {};
  std::vector<double> out = {static_cast<double>(laws_.size())};
  for (const Law& law : laws_) {
    out.push_back(law.log_share);
    out.insert(out.end(), law.mean.begin(), law.mean.end());
    out.insert(out.end(), law.factor.data(), law.factor.data() + law.factor.size());
  }
  return out;
}

Overlay Overlay::of_numbers(const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  const auto size = static_cast<std::size_t>(numbers[0]);
  const double each = static_cast<double>(numbers.size() - 1) / static_cast<double>(size);  // 1 + n + n^2
  const auto n = static_cast<Eigen::Index>(std::llround((std::sqrt(4 * each - 3) - 1) / 2));
  std::vector<Law> laws(size);
  const double* at = numbers.data() + 1;
  for (Law& law : laws) {
    law.log_share = *at++;
    law.mean = Eigen::Map<const Vector>(at, n), at += n;
    law.factor = Eigen::Map<const Eigen::MatrixXd>(at, n, n), at += n * n;
  }
  return Overlay(std::move(laws));
}

}  // namespace kilochain
