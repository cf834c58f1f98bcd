// entropy_hmc: its log r and its signal against the definition, trajectories in plain loops with exact Hessians; that
// one step of it is gadMALAf's; what it asks for; what it learns from, and where it gets.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/entropy_hmc.hpp"
#include "kernels/samplers/gad_mala_fast.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/chains.hpp"
#include "tests/support/curved_targets.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/packed_factor.hpp"
#include "tests/support/scratch_files.hpp"
#include "tests/support/single_chain.hpp"

namespace kilochain::testing_support {
namespace {

using Entropy = EntropyHmc<double>;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
Vector vector_of(Row<double> row, Index n) { return Eigen::Map<const Vector>(row.data, n); }

/// A trajectory as it was, and what F is of it for another factor.
struct Trajectory {
  Oracle oracle;
  Index n, steps;
  Matrix C;
  Vector x;
  Vector v = {}, g_end = {}, e = {}, s = {}, last = {};
  Vector kicks = {}, shift = {};  ///< w = v + C^T kicks, q = x + C (L v + C^T shift)
  Matrix hessian = {};            ///< of -lp at the middle
  double log_r = 0, excess = 0, sign = 0;
  double at_C = 0;  ///< the norm of which `excess` is

  Vector gradient(const Vector& at) const {
    std::vector<double> g;
    oracle.lp(std::vector<double>(at.data(), at.data() + n), &g);
    return Eigen::Map<const Vector>(g.data(), n);
  }
  double lp(const Vector& at) const { return oracle.lp(std::vector<double>(at.data(), at.data() + n)); }
  Matrix D(const Matrix& factor) const {
    return -(double(steps) * double(steps) - 1) / 6 * factor.transpose() * hessian * factor;
  }

  void go() {
    Vector q = x, middle = x, w = v + 0.5 * C.transpose() * gradient(x);
    kicks = 0.5 * gradient(x), shift = kicks;
    for (Index k = 1; k <= steps; ++k) {
      q += C * w;
      g_end = gradient(q);
      w += (k < steps ? 1 : 0.5) * C.transpose() * g_end;
      kicks += (k < steps ? 1 : 0.5) * g_end;
      if (k < steps) shift += kicks;
      if (k == steps / 2) middle = q;
    }
    EXPECT_LT((q - x - C * (double(steps) * v + C.transpose() * shift)).norm(), 1e-12);
    EXPECT_LT((w - v - C.transpose() * kicks).norm(), 1e-12);
    log_r = lp(q) - lp(x) - 0.5 * w.squaredNorm() + 0.5 * v.squaredNorm();
    hessian = Matrix::Zero(n, n);
    const double h = 1e-4;
    for (Index i = 0; i < n; ++i) {
      const Vector step = h * Vector::Unit(n, i);
      hessian.col(i) = -(8 * (gradient(middle + step) - gradient(middle - step)) - gradient(middle + 2 * step) +
                         gradient(middle - 2 * step)) /
                       (12 * h);
    }
  }
  /// The series with the numbers of the iteration.
  void sum(const Entropy::Settings& settings, const Rng& rng) {
    std::vector<double> normal(std::size_t(n) + 64);
    normals(HostTeam{}, rng, Purpose::direction, row_of(normal), n);
    e.resize(n);
    for (Index i = 0; i < n; ++i) e[i] = normal[std::size_t(i)] < 0 ? -1 : 1;
    s = last = e;
    double weight = 1, u = uniform(rng, Purpose::trajectory);
    for (;; u /= settings.term_probability) {  // another term where u < p
      const Vector next = D(C) * last;
      const double norm = last.dot(next) / last.squaredNorm();
      sign = norm < 0 ? -1 : 1;
      excess = std::max(0.0, std::abs(norm) - settings.norm_bound);
      const bool bounded = next.norm() < settings.norm_bound * last.norm();
      if (!bounded || u >= settings.term_probability) break;
      weight *= -1 / settings.term_probability;
      s += weight * next;
      last = next;
    }
  }
  /// F with what its gradient holds constant: g(q) and the other gradients, s and e, and the last iterate.
  double objective(const Matrix& factor, double beta, double penalty) const {
    double out = 0;
    if (log_r < 0) {
      const Vector q = x + factor * (double(steps) * v + factor.transpose() * shift),
                   w = v + factor.transpose() * kicks;
      out += g_end.dot(q) - 0.5 * w.squaredNorm();
    }
    if (steps == 1) return out;
    const double norm = last.dot(D(factor) * last) / last.squaredNorm(), over = excess + sign * norm - sign * at_C;
    return out + beta * s.dot(D(factor) * e) - (excess > 0 ? penalty * over * over : 0.0);
  }
};

/// A chain that has a random factor of that scale, at a typical point.
struct Bench {
  static constexpr int P = HostTeam::panel<double>;
  std::unique_ptr<Target<double>> target;
  Index n;
  SingleChain<Entropy> chain;
  Matrix C;

  Bench(const CurvedTarget& c, const Entropy::Settings& settings, double scale)
      : target(make_target<double>(context, c.target, c.settings)),
        n(target->info().dim),
        chain(context, *target, settings),
        C(Matrix::Zero(n, n)) {
    const PackedFactor<HostTeam, double> L(n, settings.factor, 7);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        if (i != j && settings.factor == FactorShape::diagonal) continue;
        chain.adaptation.L[i == j ? diagonal_index<P>(settings.factor, i) : factor_index<P>(i, j)] = C(i, j) =
            scale * L.dense(i, j);
      }
    *chain.adaptation.beta = 0.7;
    chain.start(exact_draw(target->info(), 3, 0));
  }
  /// One adapting iteration, and the same by plain loops.
  Trajectory iterate(std::int64_t t, int& asked) {
    Trajectory out{Oracle{*target}, n, chain.settings().num_steps, C, vector_of(chain.state.x, n)};
    const Rng rng{31, 0, t};
    std::vector<double> noise(std::size_t(n) + 64);
    normals(HostTeam{}, rng, Purpose::momentum, row_of(noise), n);
    out.v = vector_of(row_of(noise), n);
    out.go();
    out.sum(chain.settings(), rng);
    out.at_C = out.last.dot(out.D(C) * out.last) / out.last.squaredNorm();
    asked = chain.iterate(rng, Schedule{t, 400, 1, true});
    return out;
  }
};

// By central differences, exact for what is of second order in C but for rounding; the Hessian products of the chain
// are differences of gradients 1e-5 apart. A factor C (I + A), or a diagonal C + A.
TEST(EntropyHmc, SignalIsTheGradient) {
  for (const CurvedTarget& c : curved_targets)
    for (const FactorShape factor : {FactorShape::dense, FactorShape::diagonal})
      for (const int steps : {1, 2, 5})
        for (const double bound : {0.9, 0.05}) {
          Entropy::Settings settings;
          settings.num_steps = steps, settings.factor = factor, settings.norm_bound = bound;
          Bench bench(c, settings, 0.4 / std::sqrt(double(steps)));
          int falls = 0, penalised = 0, summed = 0;
          for (std::int64_t t = 0; t < 40; ++t) {
            int asked = 0;
            const Trajectory past = bench.iterate(t, asked);
            SCOPED_TRACE(testing::Message() << c.target << ", " << bench.n << ", " << steps << " steps, " << t);
            ASSERT_NEAR(bench.chain.info.acceptance_rate, std::min(1.0, std::exp(past.log_r)), 1e-9);
            falls += past.log_r<0, penalised += past.excess> 0, summed += asked > steps + 1;
            if (past.log_r < -5) continue;  // differences of what is too large
            const ChainSource<double> source{bench.chain.signal()};
            const double h = 1e-4;
            for (Index i = 0; i < bench.n; ++i)
              for (Index j = 0; j <= i; ++j) {
                if (i != j && factor == FactorShape::diagonal) continue;
                Matrix A = Matrix::Zero(bench.n, bench.n);
                A(i, j) = h;
                if (factor == FactorShape::dense) A = past.C * A;
                const double slope = (past.objective(past.C + A, 0.7, settings.penalty) -
                                      past.objective(past.C - A, 0.7, settings.penalty)) /
                                     (2 * h);
                ASSERT_NEAR(source(i, j, 0), slope, 1e-4 * (1 + std::abs(slope))) << i << ", " << j;
              }
          }
          EXPECT_GT(falls, 5);
          if (steps > 1 && bound == 0.9) {
            EXPECT_GT(summed, 5);
          }
          if (steps == 5 && bound == 0.05) {
            EXPECT_GT(penalised, 5);
          }
        }
}

// The mean over all signs of a matrix' series is its trace: with every e once, s = (I + D)^-1 e gives the gradient of
// log det (I + D) itself.
TEST(EntropyHmc, MeanOfTheSeriesIsTheGradientOfTheEntropy) {
  Entropy::Settings settings;
  settings.norm_bound = 0.99, settings.term_probability = 0.5;
  Bench bench(curved_targets[0], settings, 0.12);
  int asked = 0;
  const Trajectory past = bench.iterate(0, asked);
  const Index n = bench.n;
  const Matrix D = past.D(past.C), inverse = (Matrix::Identity(n, n) + D).inverse();
  const auto log_det = [&](const Matrix& C) { return std::log((Matrix::Identity(n, n) + past.D(C)).determinant()); };
  // s of the chain's own rule, over N: sum_k P(N >= k) (-D)^k / p^k = (I + D)^-1.
  Matrix mean = Matrix::Zero(n, n), power = Matrix::Identity(n, n);
  for (int k = 0; k < 200; ++k, power = -power * D) mean += power;
  EXPECT_LT((mean - inverse).norm(), 1e-12);
  Matrix A = Matrix::Zero(n, n);
  for (unsigned signs = 0; signs < 1u << n; ++signs) {
    Vector e(n);
    for (Index i = 0; i < n; ++i) e[i] = (signs >> i & 1) != 0 ? 1 : -1;
    A += ((D * e) * (mean * e).transpose() + (D * mean * e) * e.transpose()) / double(1u << n);
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      Matrix B = Matrix::Zero(n, n);
      B(i, j) = 1e-4;
      EXPECT_NEAR(A(i, j), (log_det(past.C + past.C * B) - log_det(past.C - past.C * B)) / 2e-4, 1e-6);
    }
}

TEST(EntropyHmc, OneStepIsGadMala) {
  for (const CurvedTarget& c : curved_targets) {
    Entropy::Settings settings;
    settings.num_steps = 1;
    Bench bench(c, settings, 0.5);
    SingleChain<GadMalaFast<double>> mala(context, *bench.target, {});
    const Index n = bench.n;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) mala.adaptation.L[factor_index<Bench::P>(i, j)] = bench.C(i, j);
    for (std::int64_t t = 0; t < 20; ++t) {
      const Schedule at{t, 400, 1, true};
      const Rng rng{31, 0, t};
      mala.start({bench.chain.state.x.data, bench.chain.state.x.data + n});
      int asked = 0;
      const Trajectory past = bench.iterate(t, asked);
      EXPECT_EQ(asked, 1);
      auto& st = mala.state;  // the same noise
      const Vector h = past.v + 0.5 * vector_of(st.ltg, n);
      for (Index i = 0; i < n; ++i) st.h[i] = h[i];
      *st.eps_square = past.v.squaredNorm();
      multiply_lower(mala.team, mala.adaptation.L, st.h, mala.query.direction, n);
      GadMalaFast<double>::place(mala.team, mala.settings(), at, mala.adaptation, st, mala.query, n);
      mala.ask();
      GadMalaFast<double>::update(mala.team, rng, mala.settings(), at, mala.adaptation, st, mala.query, mala.reply,
                                  mala.info, n);
      EXPECT_NEAR(mala.info.acceptance_rate, bench.chain.info.acceptance_rate, 1e-12);
      EXPECT_EQ(mala.info.accepted, bench.chain.info.accepted);
      const ChainSource<double> theirs{mala.signal()}, ours{bench.chain.signal()};
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j) EXPECT_NEAR(ours(i, j, 0), theirs(i, j, 0), 1e-11) << c.target << i << j;
    }
  }
}

TEST(EntropyHmc, AsksBesideTheTrajectoryWhileItLearnsAlone) {
  Bench bench(curved_targets[1], {}, 0.1);
  int most = 0, fewest = 100;
  for (std::int64_t t = 0; t < 60; ++t) {
    int asked = 0;
    bench.iterate(t, asked);
    most = std::max(most, asked), fewest = std::min(fewest, asked);
    EXPECT_EQ(bench.chain.iterate(Rng{31, 1, t}, Schedule{t, 400, 1, false}), 5);
  }
  EXPECT_EQ(fewest, 6);
  EXPECT_GT(most, 7);
}

/// Mean acceptance after a warm-up that starts with C forty times too large: hardly any trajectory is stable.
TEST(EntropyHmc, ComesBackFromUnstableSteps) {
  const Index chains = 32, n = 4;
  for (const FactorShape factor : {FactorShape::dense, FactorShape::diagonal}) {
    Entropy::Settings settings;
    settings.initial_scale = 80, settings.factor = factor;
    const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "4"}});
    CpuChains<Entropy, double> sampler(context, chains, n, Scope::pooled, settings);
    start_at<double>(context, *target, sampler, chains, normal_points<double>(chains, n, 8));
    run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{0, 1000, 1000, true, 9});
    sampler.reset_counts();
    run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{1000, 200, 1000, false, 9});
    double rate = 0;
    for (const auto& c : sampler.controls()) rate += c.acceptance_sum / double(c.counted) / chains;
    EXPECT_GT(rate, 0.7);
  }
}

double condition(const Matrix& A) {
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(A).eigenvalues();
  return values.maxCoeff() / values.minCoeff();
}

// Ten coordinates, condition 1 000 about axes that are not theirs. What is learnt is C C^T ~ Sigma, by entropy and
// acceptance; noise of n^2/2 entries is what is left.
TEST(EntropyHmc, LearnsACovariance) {
  const Index n = 10;
  const Matrix Q = Eigen::HouseholderQR<Matrix>(Matrix::NullaryExpr(n, n, [](auto i, auto j) {
                     return scatter(std::uint32_t(i), std::uint32_t(j));
                   })).householderQ();
  const Vector spread = Vector::NullaryExpr(n, [](auto i) { return std::pow(10.0, -1.5 + double(i) / 3); });
  const Matrix sigma = Q * spread.asDiagonal() * Q.transpose();
  const ScratchFiles files;
  std::string rows;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) rows += std::to_string(0.5 * (sigma(i, j) + sigma(j, i))) + (j + 1 < n ? "," : "\n");
  const auto target = make_target<double>(context, "gaussian", {{"covariance", files.write("covariance.csv", rows)}});
  for (const auto& [scope, chains] : {std::pair<Scope, Index>{Scope::chain, 2}, {Scope::pooled, 16}}) {
    CpuChains<Entropy, double> sampler(context, chains, n, scope, {});
    start_at<double>(context, *target, sampler, chains, normal_points<double>(chains, n, 8));
    run_phase<double>(context, *target, sampler, chains, scope, Phase{0, 4000, 4000, true, 9});
    const auto a = sampler.view().adaptation<HostTeam::panel<double>>(0);
    Matrix C = Matrix::Zero(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) C(i, j) = a.L[factor_index<HostTeam::panel<double>>(i, j)];
    const Matrix whitened = C.transpose() * sigma.inverse() * C;
    EXPECT_GT(condition(sigma), 900);
    EXPECT_LT(condition(whitened), 4) << name_of(scope);
    // By the entropy alone c C^T H C = I/3.
    EXPECT_NEAR(whitened.trace() / n, 1.0 / 12, 0.03) << name_of(scope);
  }
}

}  // namespace
}  // namespace kilochain::testing_support
