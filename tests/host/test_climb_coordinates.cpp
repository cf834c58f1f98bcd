// A hierarchical model sends no scouts: its priors are found exactly at draws of a normal law, and in coordinates that
// know them one fits. It is right, whatever the data say of an effect, and resumed with the same bits.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/stopped_target.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::VectorXd;
using testing_support::options_of_mine;
using testing_support::run_quietly;
using testing_support::ScratchFiles;
using testing_support::StoppedTarget;

/// y_j ~ N(x_j, s_j^2), x_j ~ N(m, e^{2 v}), m ~ N(0, 5^2), v ~ N(0, 1); s_j grow from `least` to 10 times as much.
/// Coordinates: m, x_1, ..., x_k, v; or non-centred, z_j = (x_j - m) e^-v in place of x_j.
struct Groups {
  Eigen::Index k;
  double least;
  bool centred;
  ArrayXd sds = least * ArrayXd::LinSpaced(k, 0, 1).unaryExpr([](double t) { return std::pow(10.0, t); }), y = data();

  ArrayXd data() const {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    ArrayXd out(k);
    for (Eigen::Index j = 0; j < k; ++j) out[j] = 2 + 0.5 * normal(random) + sds[j] * normal(random);
    return out;
  }
  Eigen::Index dim() const { return k + 2; }
  double lp(const VectorXd& at, VectorXd& g) const {
    const double m = at[0], v = at[k + 1], scale = std::exp(v);
    const ArrayXd inner = at.segment(1, k), z = centred ? ArrayXd((inner - m) / scale) : inner,
                  x = centred ? inner : ArrayXd(m + scale * inner), pull = (y - x) / sds.square();
    g.resize(dim());
    g.segment(1, k) = centred ? ArrayXd(pull - z / scale) : ArrayXd(scale * pull - z);
    g[0] = (centred ? (z / scale).sum() : pull.sum()) - m / 25;
    g[k + 1] = (centred ? z.square().sum() - static_cast<double>(k) : scale * (pull * z).sum()) - v;
    return -((y - x) / sds).square().sum() / 2 - z.square().sum() / 2 - (centred ? v * static_cast<double>(k) : 0) -
           m * m / 50 - v * v / 2;
  }
  /// Means of m and v, by a sum over v: given it all else is normal.
  std::pair<double, double> means() const {
    double sum = 0, of_m = 0, of_v = 0;
    for (double v = -9; v < 5; v += 0.005) {
      const ArrayXd weights = (std::exp(2 * v) + sds.square()).inverse();
      const double precision = weights.sum() + 0.04, m = (weights * y).sum() / precision,
                   log_mass = weights.log().sum() / 2 - (weights * y.square()).sum() / 2 + precision * m * m / 2 -
                              std::log(precision) / 2 - v * v / 2,
                   mass = std::exp(log_mass);
      sum += mass, of_m += mass * m, of_v += mass * v;
    }
    return {of_m / sum, of_v / sum};
  }
};

// Of 16 figures one beyond 4.5 standard errors: 1 in 9 000.
TEST(ClimbCoordinates, AHierarchicalModelIsSampledWithoutScouts) {
  const ScratchFiles files;
  for (const Eigen::Index k : {8, 33})
    for (const double least : {0.02, 0.5})
      for (const bool centred : {true, false}) {
        StoppedTarget<Groups> target{{k, least, centred}};
        Options o = options_of_mine(32);
        o.output = files.path("run.nc"), o.overwrite = true;
        const Result r = run_quietly(o);
        SCOPED_TRACE(::testing::Message() << k << " groups, s from " << least << ", centred " << centred << ": "
                                          << r.summary.warmup_note << "; " << r.evaluation);
        EXPECT_NE(r.summary.warmup_note.find("16 climbs ended where one normal law fits"), std::string::npos);
        const auto [m, v] = target.model.means();
        const ParameterSummary &of_m = r.summary.parameters.front(), &of_v = r.summary.parameters.back();
        EXPECT_LT(std::abs(of_m.mean - m), 4.5 * of_m.mcse_mean) << m;
        EXPECT_LT(std::abs(of_v.mean - v), 4.5 * of_v.mcse_mean) << v;
      }
}

// Stopped in climbs, where coordinates are learnt, and after them.
TEST(ClimbCoordinates, ARunIsResumedInThem) {
  StoppedTarget<Groups> target{{8, 0.1, true}};
  Options o = options_of_mine(32);
  o.num_samples = 100;
  target.expect_resumed(o, {0.002, 0.01, 0.02, 0.03, 0.5});
}

}  // namespace
}  // namespace kilochain
