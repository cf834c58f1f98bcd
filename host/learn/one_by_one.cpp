#include "host/learn/one_by_one.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "host/learn/around.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double tells_nothing = 1e-3;  // data of an effect, of its prior
constexpr std::size_t most_movers = 16, most_others = 8;
constexpr Eigen::Index fewest = 8;  // effects: of one or two a law may seem to hold by chance

/// Of each effect a sign, and all of them moved by as many sds.
template <class Real>
VectorXd random_signs(const std::vector<Eigen::Index>& effects, const Around<Real>& around, std::mt19937_64& random,
                      std::vector<std::pair<Eigen::Index, double>>& there) {
  VectorXd signs(std::ssize(effects));
  for (Eigen::Index j = 0; const Eigen::Index i : effects) {
    signs[j] = random() >> 63 ? 1 : -1;
    there.emplace_back(i, signs[j++] * around.sd(i));
  }
  return signs;
}

/// What prior and data tell of each effect, in standard deviations: its precision, if none goes with another's. By two
/// moves of all of them, there and back.
template <class Real>
VectorXd told_of_each(const std::vector<Eigen::Index>& effects, const Around<Real>& around) {
  std::mt19937_64 random(1);
  VectorXd out = VectorXd::Zero(std::ssize(effects));
  for (int k = 0; k < 2; ++k) {
    typename Around<Real>::Moves moves(2);
    const VectorXd signs = random_signs(effects, around, random, moves[0]);
    moves[1] = moves[0];
    for (auto& [i, by] : moves[1]) by = -by;
    const MatrixXd g = around.at(moves)(effects, Eigen::all);
    out += signs.cwiseProduct(g.col(1) - g.col(0)) / 4;
  }
  return out;
}

/// Of effects whose priors are independent, in standard deviations: what two moves of all of them at once tell.
struct Independent {
  VectorXd prior, data;     ///< their precisions: (effect); that of data not below 0
  VectorXd pull;            ///< of data
  Eigen::Index widest = 0;  ///< with the largest precision: if they are not independent, their mean
};
/// None where two moves tell different precisions, so that one effect's prior goes with another.
template <class Real>
std::optional<Independent> independent(const ScaleOfPrior& p, const std::vector<Eigen::Index>& effects,
                                       const Around<Real>& around, Independent& seen) {
  std::mt19937_64 random(1);
  VectorXd before;
  const VectorXd change = p.change(effects);
  for (const int k : {0, 1}) {
    typename Around<Real>::Moves moves(3);
    const VectorXd signs = random_signs(effects, around, random, moves[1]);
    moves[2] = moves[1];
    moves[2].emplace_back(p.v, around.step(p.v));
    const MatrixXd g = around.at(moves)(effects, Eigen::all);
    seen.prior = -signs.cwiseProduct((g.col(2) - g.col(1)) / (p.q - 1) - change);
    seen.pull = g.col(0) - change;
    if (k == 0) before = seen.prior;
  }
  (seen.prior.cwiseAbs() + before.cwiseAbs()).maxCoeff(&seen.widest);
  if (!((seen.prior - before).norm() < of_curvature * before.norm()) || !(seen.prior.minCoeff() > 0)) return {};
  seen.data = (told_of_each(effects, around) - seen.prior).cwiseMax(0);
  return seen;
}

/// The step by which effects with independent priors about one number, or about another coordinate, are centred as far
/// as data tell each of them.
template <class Real>
std::optional<Noncentring> of_centred(const ScaleOfPrior& p, double middle, const Around<Real>& around) {
  std::vector<Eigen::Index> effects = p.effects();
  if (std::ssize(effects) < fewest) return {};
  Independent seen;
  auto found = independent(p, effects, around, seen);
  std::optional<Eigen::Index> mean;
  if (!found) {
    mean = effects[static_cast<std::size_t>(seen.widest)];
    effects.erase(effects.begin() + seen.widest);
    found = independent(p, effects, around, seen);
    if (!found) return {};
  }
  const auto k = std::ssize(effects);
  VectorXd sds(k), from(k), about(k);
  for (Eigen::Index j = 0; j < k; ++j) {
    const Eigen::Index i = effects[static_cast<std::size_t>(j)];
    sds[j] = around.sd(i), from[j] = around.at(i) - (mean ? around.at(*mean) : 0);
  }
  about = from + VectorXd(p.change(effects)).cwiseProduct(sds).cwiseQuotient(found->prior);  // of their priors
  if (mean && !(about.norm() < of_curvature * from.norm())) return {};
  const double here = p.scale.u(around.at(p.v)), centre = p.scale.u(middle);
  const ArrayXd share = found->data.array() / found->prior.array() * std::exp(2 * p.scale.rate * (centre - here));
  const ArrayXd zero = ArrayXd::Zero(k);
  ArrayXd fixed = about.array();
  if (mean) fixed = zero;
  const ArrayXd of_data = from.array() + (sds.array() * found->pull.array() / found->data.array().max(1e-300));
  const ArrayXd shifts = (share > tells_nothing).select(of_data - fixed, zero);
  if (!shifts.allFinite() || !share.allFinite()) return {};
  return Noncentring{p.v,  centre,  {},      {},  ArrayXd::Constant(k, p.scale.rate), share, fixed, shifts,
                     zero, p.scale, effects, mean};
}

/// A coordinate along which many gradients change: it may scale effects.
struct Mover {
  Eigen::Index v = 0;
  VectorXd change;  ///< a step away
  Eigen::Index moved() const { return (change.array() != 0).count(); }
};

/// What scales them, and the precision of their priors, which is the same of all.
struct Scaled {
  ScaleLaw scale;
  double prior = 0;
};
/// Whether e^{c u(v)} x_i stands wherever these effects do, but in their own priors.
template <class Real>
std::optional<Scaled> scaled_by(const Mover& m, const std::vector<Eigen::Index>& effects, const VectorXd& here,
                                const Around<Real>& around) {
  const double v = around.at(m.v), by = around.step(m.v);
  for (const ScaleLaw& scale : scale_laws) {
    const double f = std::exp(-scale.rate * (scale.u(v + by) - scale.u(v)));
    typename Around<Real>::Moves moves(1);
    for (const Eigen::Index i : effects) moves[0].emplace_back(i, (f - 1) * around.at(i));
    moves[0].emplace_back(m.v, by);
    VectorXd there = around.at(moves).col(0), others = there - here;
    others[m.v] = 0;
    others(effects).setZero();
    VectorXd all = m.change;
    const double bar = of_curvature * all.norm();
    if (!(others.norm() < bar)) continue;
    // Theirs are those of before over f, less their priors': x and g in standard deviations.
    VectorXd x(std::ssize(effects)), sds(x.size());
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      const Eigen::Index i = effects[static_cast<std::size_t>(j)];
      sds[j] = around.sd(i), x[j] = around.at(i) * sds[j];
    }
    const VectorXd off = there(effects) - here(effects) / f, per = (1 / f - f) * x;
    const double prior = off.dot(per) / std::max(per.squaredNorm(), 1e-300);
    if (prior > 0 && (off - prior * per).norm() < bar) return Scaled{scale, prior};
  }
  return {};
}

/// The step by which effects that v scales are centred, those that data tell and as far as they do.
template <class Real>
std::optional<Noncentring> of_scaled(const Mover& m, double middle, const Around<Real>& around) {
  const VectorXd here = around.at({{}}).col(0);
  std::vector<Eigen::Index> effects;
  for (Eigen::Index i = 0; i < m.change.size(); ++i)
    if (m.change[i] != 0) effects.push_back(i);
  // Coordinates in which the density is narrow stand beside all effects: they are others.
  std::ranges::sort(effects, [&](Eigen::Index a, Eigen::Index b) { return around.sd(a) < around.sd(b); });
  std::optional<Scaled> scaled;
  for (std::size_t k = 0; k <= most_others && std::ssize(effects) >= fewest; ++k, effects.erase(effects.begin()))
    if ((scaled = scaled_by(m, effects, here, around))) break;
  if (!scaled) return {};
  std::ranges::sort(effects);
  const auto k = std::ssize(effects);
  VectorXd sds(k), x(k), prior(k);
  for (Eigen::Index j = 0; j < k; ++j) {
    const Eigen::Index i = effects[static_cast<std::size_t>(j)];
    sds[j] = around.sd(i), x[j] = around.at(i), prior[j] = scaled->prior * sds[j] * sds[j];
  }
  const VectorXd data = (told_of_each(effects, around) - prior).cwiseMax(tells_nothing * prior);
  const VectorXd pull = here(effects) + prior.cwiseProduct(x).cwiseQuotient(sds);  // of data
  const ScaleLaw& law = scaled->scale;
  const double centre = law.u(middle), grows = std::exp(law.rate * (centre - law.u(around.at(m.v))));
  const ArrayXd share = prior.array() / (data.array() * grows * grows), zero = ArrayXd::Zero(k),
                place = (x.array() + sds.array() * pull.array() / data.array()) / grows;
  if (!share.allFinite() || !place.allFinite()) return {};
  return Noncentring{m.v, centre, {}, {}, ArrayXd::Constant(k, -law.rate), share, zero, zero, place, law, effects, {}};
}

}  // namespace

template <class Real>
LearntCoordinates centred_one_by_one(const std::vector<Real>& place, const VectorXd& sds, const VectorXd& middle,
                                     const GradientsAt<Real>& gradients_at) {
  LearntCoordinates out;
  const Around<Real> around(place, sds, gradients_at);
  std::vector<ScaleOfPrior> priors;
  std::vector<Mover> movers;
  each_along(around, [&](Eigen::Index v, const VectorXd& one, const VectorXd& two) {
    ScaleOfPrior found = scale_of_prior(around, v, one, two);
    if (found.pull > 0) return priors.push_back(std::move(found));
    movers.push_back({v, one});
    if (movers.back().moved() < fewest || movers.size() > most_movers)
      movers.erase(std::ranges::min_element(movers, {}, &Mover::moved));
  });
  keep_most(priors);
  std::vector<Eigen::Index> taken;
  const auto add = [&](const std::optional<Noncentring>& step) {
    if (!step || std::ranges::any_of(step->effects, [&](Eigen::Index i) { return std::ranges::count(taken, i) > 0; }))
      return;
    taken.insert(taken.end(), step->effects.begin(), step->effects.end());
    out.add(*step);
  };
  for (const ScaleOfPrior& p : priors) add(of_centred(p, middle[p.v], around));
  for (const Mover& m : movers) add(of_scaled(m, middle[m.v], around));
  return out;
}

template LearntCoordinates centred_one_by_one(const std::vector<float>&, const VectorXd&, const VectorXd&,
                                              const GradientsAt<float>&);
template LearntCoordinates centred_one_by_one(const std::vector<double>&, const VectorXd&, const VectorXd&,
                                              const GradientsAt<double>&);

}  // namespace kilochain
