// Coordinates in which chains move: the map and its derivatives, what is learnt of models whose answer is known, and
// whole runs in them.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "host/draws/draws_file.hpp"
#include "host/learn/learn_coordinates.hpp"
#include "host/learn/learnt_coordinates.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;
using testing_support::run_quietly;
using testing_support::ScratchFiles;

constexpr double eps = 2.22e-16;

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double normal() { return normal_(bits_); }
  VectorXd normals(Eigen::Index n) {
    return VectorXd::NullaryExpr(n, [&] { return normal(); });
  }

 private:
  std::mt19937_64 bits_;
  std::normal_distribution<double> normal_;
};

/// k directions of n coordinates by coordinate `parent`, of every kind.
Noncentring some_step(Eigen::Index n, Eigen::Index k, Eigen::Index parent, Random& random) {
  MatrixXd square(n - 1, n - 1);
  for (Eigen::Index j = 0; j < n - 1; ++j)
    square.col(j) = 0.3 * random.normals(n - 1) / std::sqrt(n) + VectorXd::Unit(n - 1, j);
  const MatrixXd inverse = square.inverse();
  Noncentring step{parent, 0.3 * random.normal(), MatrixXd::Zero(n, k), MatrixXd::Zero(n, k), {}, {}, {}, {}, {}};
  for (Eigen::Index i = 0, row = 0; i < n; ++i) {
    if (i == parent) continue;
    step.directions.row(i) = square.row(row).head(k);
    step.along.row(i) = inverse.col(row).head(k).transpose();
    ++row;
  }
  const auto draw = [&] { return ArrayXd(0.5 * random.normals(k).array()); };
  step.rates = draw(), step.data = draw().abs(), step.fixed = draw(), step.shifts = draw(), step.between = draw();
  step.data[0] = 0;
  step.scale.bounded = k % 2 == 0;
  return step;
}

/// The same of coordinates alone: all but the parent, the last one, and their mean, the first.
Noncentring step_of_effects(Eigen::Index n, Random& random) {
  Noncentring step = some_step(n, n - 1 - (n > 2), n - 1, random);
  step.directions.resize(0, 0), step.along.resize(0, 0);
  if (n > 2) step.mean = 0;
  for (Eigen::Index i = n > 2; i < n - 1; ++i) step.effects.push_back(i);
  return step;
}

LearntCoordinates some_coordinates(Eigen::Index n, Random& random) {
  LearntCoordinates out;
  out.add(step_of_effects(n, random));
  for (const auto& [k, parent] : {std::pair<Eigen::Index, Eigen::Index>{1, 0}, {n - 1, n - 1}, {(n + 1) / 2, n / 2}})
    out.add(some_step(n, std::max<Eigen::Index>(1, std::min(k, n - 1)), parent, random));
  return out;
}

TEST(LearntCoordinates, GoThereAndBack) {
  Random random(1);
  for (const Eigen::Index n : {2, 3, 31, 32, 33, 65}) {
    const LearntCoordinates coordinates = some_coordinates(n, random);
    LearntCoordinates::Trace trace;
    const VectorXd y = 0.3 * random.normals(n), g = random.normals(n);
    VectorXd x = y, slopes = g;
    coordinates.to_target(x, trace);
    coordinates.pull_back(slopes, trace);
    coordinates.push_forward(slopes, trace);
    EXPECT_GT((x - y).norm(), 0.01);
    coordinates.from_target(x);
    // Four steps, whose matrices and scales have conditions below 100 each.
    EXPECT_LT((x - y).norm(), 1e4 * n * eps) << n;
    EXPECT_LT((slopes - g).norm(), 1e4 * n * eps) << n;
  }
}

/// Chains that are evaluated together must not know of each other.
TEST(LearntCoordinates, APointHasTheBitsOfOneAmongOthers) {
  Random random(4);
  for (const Eigen::Index n : {2, 3, 31, 32, 33, 65}) {
    const LearntCoordinates coordinates = some_coordinates(n, random);
    for (const Eigen::Index points : {2, 3, 5, 8, 13}) {
      MatrixXd y(n, points), g(n, points);
      for (Eigen::Index c = 0; c < points; ++c) y.col(c) = 0.3 * random.normals(n), g.col(c) = random.normals(n);
      MatrixXd x = y, slopes = g, back = y, forward = g;
      LearntCoordinates::Trace trace, of_one;
      coordinates.to_target(x, trace), coordinates.pull_back(slopes, trace), coordinates.push_forward(forward, trace);
      coordinates.from_target(back);
      for (Eigen::Index c = 0; c < points; ++c) {
        VectorXd one = y.col(c), slope = g.col(c), one_back = y.col(c), slope_forward = g.col(c);
        coordinates.to_target(one, of_one), coordinates.pull_back(slope, of_one);
        coordinates.push_forward(slope_forward, of_one), coordinates.from_target(one_back);
        EXPECT_EQ(one, x.col(c)) << n << " " << c;
        EXPECT_EQ(slope, slopes.col(c)) << n << " " << c;
        EXPECT_EQ(slope_forward, forward.col(c)) << n << " " << c;
        EXPECT_EQ(one_back, back.col(c)) << n << " " << c;
        EXPECT_EQ(of_one.log_jacobian[0], trace.log_jacobian[c]) << n << " " << c;
      }
    }
  }
}

/// The Jacobian by central differences: its determinant is the one told, and log density and gradient go with it.
TEST(LearntCoordinates, JacobianAndGradientAreThoseOfDifferences) {
  Random random(2);
  for (const Eigen::Index n : {2, 5, 9}) {
    const LearntCoordinates coordinates = some_coordinates(n, random);
    const VectorXd y = 0.3 * random.normals(n), pull = random.normals(n);
    // lp(x) = pull . x - x . x / 2
    const auto lp = [&](const VectorXd& at) {
      LearntCoordinates::Trace trace;
      VectorXd x = at;
      coordinates.to_target(x, trace);
      return pull.dot(x) - x.squaredNorm() / 2 + trace.log_jacobian[0];
    };
    LearntCoordinates::Trace trace;
    VectorXd x = y;
    coordinates.to_target(x, trace);
    VectorXd gradient = pull - x;
    coordinates.pull_back(gradient, trace);
    constexpr double step = 1e-5;  // error: step^2 by third derivatives, eps / step by rounding
    MatrixXd jacobian(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      VectorXd above = y, below = y;
      above[i] += step, below[i] -= step;
      const double slope = (lp(above) - lp(below)) / (2 * step);
      EXPECT_NEAR(gradient[i], slope, 1e-6 * (1 + std::abs(slope))) << n << " " << i;
      LearntCoordinates::Trace unused;
      coordinates.to_target(above, unused), coordinates.to_target(below, unused);
      jacobian.col(i) = (above - below) / (2 * step);
    }
    EXPECT_NEAR(std::log(std::abs(jacobian.determinant())), trace.log_jacobian[0], 1e-5);
  }
}

TEST(LearntCoordinates, AreNumbersAndBack) {
  Random random(3);
  const LearntCoordinates coordinates = some_coordinates(7, random);
  const std::vector<double> numbers = coordinates.to_numbers();
  EXPECT_EQ(LearntCoordinates::of_numbers(numbers).to_numbers(), numbers);
  EXPECT_EQ(LearntCoordinates::of_numbers({}).size(), 0u);
  std::vector<double> damaged = numbers;
  damaged.pop_back();
  EXPECT_THROW(LearntCoordinates::of_numbers(damaged), Error);
  for (const std::size_t k : {0, 1, 2, 6}) {  // of its head, and its first effect
    damaged = numbers;
    damaged[k] = -1;
    EXPECT_THROW(LearntCoordinates::of_numbers(damaged), Error) << k;
    damaged[k] = NAN;
    EXPECT_THROW(LearntCoordinates::of_numbers(damaged), Error) << k;
  }
}

/// v ~ N(0, sd^2), and given v normal with precision e^{-2 c v} P + R, where e^{-2 c v} P is about `above` and R about
/// `data`: a conjugate hierarchical model. Exact draws; gradients, that in v by central differences.
struct Hierarchy {
  MatrixXd P, R;
  VectorXd above, data;
  double rate = 1, sd = 1;

  std::pair<Eigen::LLT<MatrixXd>, VectorXd> given(double v) const {
    const double scale = std::exp(-2 * rate * v);
    Eigen::LLT<MatrixXd> llt(scale * P + R);
    const VectorXd mean = llt.solve(scale * (P * above) + R * data);
    return {llt, mean};
  }
  double lp(double v, const VectorXd& x) const {
    const auto [llt, mean] = given(v);
    const MatrixXd U = llt.matrixU();
    return -v * v / (2 * sd * sd) + U.diagonal().array().log().sum() - (U * (x - mean)).squaredNorm() / 2;
  }
  /// v is the last coordinate.
  DrawsAndGradients draws(Eigen::Index count, Random& random) const {
    const Eigen::Index m = P.rows();
    DrawsAndGradients out{MatrixXd(m + 1, count), MatrixXd(m + 1, count)};
    for (Eigen::Index k = 0; k < count; ++k) {
      const double v = sd * random.normal();
      const auto [llt, mean] = given(v);
      const VectorXd x = mean + llt.matrixU().solve(random.normals(m));
      constexpr double step = 1e-5;
      out.x.col(k) << x, v;
      out.g.col(k) << -((std::exp(-2 * rate * v) * P + R) * (x - mean)),
          (lp(v + step, x) - lp(v - step, x)) / (2 * step);
    }
    return out;
  }
};

/// m effects about a mean of their own, which is the last of x.
Hierarchy effects(Eigen::Index m, double rate, double data_precision) {
  Hierarchy out;
  out.P = MatrixXd::Zero(m + 1, m + 1);
  for (Eigen::Index i = 0; i < m; ++i) {
    VectorXd difference = VectorXd::Zero(m + 1);
    difference[i] = 1, difference[m] = -1;
    out.P += difference * difference.transpose();
  }
  out.R = MatrixXd::Zero(m + 1, m + 1);
  out.R.diagonal().setConstant(data_precision);
  out.R(m, m) = 0.1;
  out.above = VectorXd::Zero(m + 1);
  out.data = VectorXd::LinSpaced(m + 1, -2, 3);
  out.rate = rate;
  return out;
}

/// The least correlation of a coordinate with that of -A g, A the covariance of the draws: 1 of a Gaussian.
double least_agreement(const DrawsAndGradients& d) {
  double least = 1;
  const MatrixXd x = d.x.colwise() - d.x.rowwise().mean(), g = d.g.colwise() - d.g.rowwise().mean();
  const MatrixXd A = x * x.transpose() / static_cast<double>(x.cols()), fits = -(A * g);
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    least = std::min(least, x.row(i).dot(fits.row(i)) / (x.row(i).norm() * fits.row(i).norm()));
  return least;
}

/// Of a conjugate model the law of all other coordinates, given v, is told to rounding: what remains is v's own.
TEST(LearnCoordinates, FindAConjugateHierarchy) {
  for (const double rate : {1.0, 0.5, -1.0})
    for (const double data : {0.0, 0.01, 1.0})
      for (const Eigen::Index m : {2, 8, 31}) {
        if (data == 1 && m == 2) continue;  // two effects with data: next to a Gaussian
        Random random(7);
        const Hierarchy model = effects(m, rate, data);
        DrawsAndGradients draws = model.draws(std::max<Eigen::Index>(600, 12 * m), random);
        const double before = least_agreement(draws);
        LearntCoordinates coordinates;
        SCOPED_TRACE(testing::Message() << "rate " << rate << ", data " << data << ", effects " << m);
        ASSERT_EQ(learn_coordinates(coordinates, draws), Learning::better) << before;
        ASSERT_EQ(coordinates.size(), 1u);
        const Noncentring& step = coordinates.steps()[0];
        EXPECT_EQ(step.parent, m + 1);
        EXPECT_EQ(step.rates[0], rate);
        EXPECT_GT(least_agreement(draws), 0.9) << before;
        // Again, from draws that are in them: nothing better is found.
        EXPECT_EQ(learn_coordinates(coordinates, draws), Learning::none);
      }
}

/// Laws that have no such parent, from one fixed seed each: how often draws of others would be a false alarm has not
/// been counted. One would cost speed alone.
TEST(LearnCoordinates, AreNoneOfOthers) {
  Random random(9);
  for (const Eigen::Index n : {1, 2, 5, 31, 65}) {
    const Eigen::Index count = 12 * n + 100;
    MatrixXd L = MatrixXd::Identity(n, n);
    for (Eigen::Index i = 1; i < n; ++i) L(i, i - 1) = 2;
    DrawsAndGradients gaussian{MatrixXd(n, count), MatrixXd(n, count)}, student = gaussian, far = gaussian;
    for (Eigen::Index k = 0; k < count; ++k) {
      const VectorXd z = random.normals(n);
      gaussian.x.col(k) = L * z;
      gaussian.g.col(k) = -L.transpose().triangularView<Eigen::Upper>().solve(z);
      const double chi = random.normals(5).squaredNorm() / 5;  // t with 5 degrees of freedom, all coordinates together
      student.x.col(k) = z / std::sqrt(chi);
      student.g.col(k) = -student.x.col(k) * double(n + 5) / (5 + student.x.col(k).squaredNorm());
      far.x.col(k) = z, far.g.col(k) = -z;
      far.x(0, k) += k % 2 ? 8 : -8;
    }
    for (DrawsAndGradients* draws : {&gaussian, &student, &far}) {
      LearntCoordinates coordinates;
      EXPECT_EQ(learn_coordinates(coordinates, *draws), Learning::none) << n;
      EXPECT_EQ(coordinates.size(), 0u);
    }
  }
}

Options funnel(const std::string& output) {
  Options o;
  o.target = "funnel", o.target_settings = {{"dim", "10"}};
  o.num_chains = 32;
  o.seed = 3;
  o.device = "cpu";
  o.output = output;
  return o;
}

/// Neal's funnel, nothing said: its log density is that of the draws, whatever they were made in.
TEST(RunInCoordinates, IsRightOnAFunnel) {
  for (const Precision real : {Precision::double_precision, Precision::single_precision}) {
    const ScratchFiles files;
    Options o = funnel(files.path("funnel.nc"));
    o.real = real, o.keep_draws = true;
    const Result r = run_quietly(o);
    EXPECT_EQ(status_of(r), 0);
    EXPECT_NE(r.evaluation.find("learnt coordinates"), std::string::npos) << r.evaluation;
    const ParameterSummary& v = r.summary.parameters[0];
    ASSERT_EQ(v.name, "v");
    // z beyond 4.5: one run of 150 000. Squares: their variance is 2 sd^4.
    EXPECT_LT(std::abs(v.mean), 4.5 * 3 / std::sqrt(v.ess_bulk));
    EXPECT_LT(std::abs(v.sd - 3), 4.5 * 3 / std::sqrt(2 * std::min(v.ess_bulk, v.ess_tail)));
    const double rounding = real == Precision::double_precision ? 1e-9 : 1e-2;  // of x^2 e^{-v}, which cancels
    for (std::size_t k = 0; k < r.lp.size(); k += 97) {
      const double* x = r.draws.data() + 10 * k;
      double square = 0;
      for (int i = 1; i < 10; ++i) square += x[i] * x[i];
      const double lp =
          -x[0] * x[0] / 18 - std::log(3.0) - 4.5 * x[0] - std::exp(-x[0]) * square / 2 - 10 * 0.9189385332046727;
      ASSERT_NEAR(r.lp[k], lp, rounding * (1 + std::abs(lp))) << k;
    }
  }
}

/// Where starts are far out the log density is -1e69, and nothing is told of a v without a prior.
TEST(RunInCoordinates, ArrivesFromFarOut) {
  Options o = funnel("");
  o.target_settings = {{"dim", "5"}};
  o.num_chains = 64, o.init = "normal:100", o.seed = 12;
  const Result r = run_quietly(o);
  EXPECT_EQ(status_of(r), 0) << verdict_of(r.summary).reason;
  EXPECT_EQ(r.summary.flat, "");
}

/// Saved states know the coordinates.
TEST(RunInCoordinates, IsResumedWithTheSameDraws) {
  const ScratchFiles files;
  Options whole = funnel(files.path("whole.nc")), part = funnel(files.path("part.nc"));
  whole.num_samples = 90, part.num_samples = 40;
  const Result all = run_quietly(whole);
  ASSERT_NE(all.evaluation.find("learnt coordinates"), std::string::npos) << all.evaluation;
  EXPECT_TRUE(run_quietly(part).resumable);
  part.resume = read_run_state(part.output);
  part.num_samples = 90;
  run_quietly(part);
  const DrawsReader a(whole.output), b(part.output);
  std::vector<double> x, y;
  a.read_parameters(0, 10, x), b.read_parameters(0, 10, y);
  EXPECT_EQ(x, y);
  EXPECT_EQ(a.lp(), b.lp());
}

}  // namespace
}  // namespace kilochain
