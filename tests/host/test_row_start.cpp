// Where chains of a logistic regression begin: at the nearest normal, over which the gradient is 0 on average and the
// curvature its own; and a run from there is stopped wherever it may be and goes on with the same bits.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "host/draws/draws_file.hpp"
#include "host/learn/logistic_lines.hpp"
#include "host/learn/row_start.hpp"
#include "host/run/run_state.hpp"
#include "tests/support/file_draws.hpp"
#include "tests/support/rare_design.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;
using testing_support::rare_design;

/// Over many draws of the law: gradients whitened are 0 on average, and their slopes along their own draws are -1.
/// z 4.5 of at most 66 figures in each of four cases: a false alarm in 2000 runs. The law was found from 256 draws or
/// more, whose noise is less than that of lines over as many.
TEST(RowStart, IsTheNearestNormal) {
  for (const std::size_t columns : {1, 2, 5, 33}) {
    const Design d = rare_design(400, columns);
    const double prior_sd = 2;
    const auto start = row_start(d, prior_sd, {3, 0, 0});
    ASSERT_TRUE(start) << columns;
    const auto n = static_cast<Eigen::Index>(columns);
    const LogisticRows observed(d, prior_sd);
    const MatrixXd F = Eigen::Map<const LogisticRows::Matrix>(start->factor.data(), n, n);
    const VectorXd mean = Eigen::Map<const VectorXd>(start->mean.data(), n);
    constexpr Eigen::Index draws = 20000;
    std::mt19937_64 bits(8);
    std::normal_distribution<double> normal;
    MatrixXd slopes(n, draws), levels(n, draws);
    for (Eigen::Index k = 0; k < draws; ++k) {
      const VectorXd z = VectorXd::NullaryExpr(n, [&] { return normal(bits); }), x = mean + F * z;
      const ArrayXd u = observed.sign() * (observed.x() * x).array();
      const VectorXd g = F.transpose() * (observed.x().transpose() * (observed.sign() / (1 + u.exp())).matrix() -
                                          x / (prior_sd * prior_sd));
      levels.col(k) = g + z, slopes.col(k) = (g + z).cwiseProduct(z);
    }
    double worst = 0;
    for (const MatrixXd* const m : {&levels, &slopes}) {
      const ArrayXd middle = m->rowwise().mean(),
                    sd = (m->colwise() - middle.matrix()).array().square().rowwise().mean().sqrt();
      worst = std::max(worst, (middle.abs() / (sd * std::sqrt(1.0 / draws + 1.0 / 256))).maxCoeff());
    }
    std::printf("%zu columns: at most %.1f standard errors from the nearest normal\n", columns, worst);
    EXPECT_LT(worst, 4.5);
    EXPECT_EQ(start->draws.size() % columns, 0u);
    EXPECT_GE(start->draws.size() / columns, 1024u);
  }
}

TEST(RowStart, ArrivesWhereLabelsAreDividedOrColumnsTheSame) {
  Design d = rare_design(200, 4);
  for (std::size_t i = 0; i < d.rows; ++i) d.y[i] = d.x[4 * i + 1] > 0, d.x[4 * i + 2] = d.x[4 * i];
  for (const double prior_sd : {0.1, 1.0, 30.0}) {
    const auto start = row_start(d, prior_sd, {3, 0, 0});
    ASSERT_TRUE(start) << prior_sd;
    for (const double v : start->factor) EXPECT_TRUE(std::isfinite(v));
    EXPECT_GT(start->mean[1], 0);
  }
}

TEST(RowStart, LeavesLargeOnesToClimbs) {
  Design d;
  d.rows = 20000, d.columns = 400;  // 250 draws could be afforded
  d.x.assign(d.rows * d.columns, 0.5), d.y.assign(d.rows, 1);
  EXPECT_FALSE(row_start(d, 1, {3, 0, 0}));
}

TEST(RowStart, ARunFromThereThatIsStoppedGoesOnWithTheSameBits) {
  const testing_support::ScratchFiles files;
  const Design d = rare_design(800, 7);
  std::string table = "a,b,c,d,e,f,y\n";
  for (std::size_t i = 0; i < d.rows; ++i) {
    for (std::size_t j = 0; j + 1 < d.columns; ++j) table += std::to_string(d.x[i * d.columns + j]) + ",";
    table += d.y[i] > 0 ? "1\n" : "0\n";
  }
  Options o;
  o.target = "logistic_regression";
  o.target_settings = {{"data", files.write("rare.csv", table)}};
  o.num_chains = 16, o.num_samples = 20, o.seed = 4, o.device = "cpu", o.threads = 1;
  o.output = files.path("whole.nc");
  const Result whole = testing_support::run_quietly(o);
  const std::string& note = whole.summary.warmup_note;
  EXPECT_NE(note.find("in the learnt normal and"), std::string::npos) << note;
  EXPECT_NE(note.find("chains began at the nearest normal"), std::string::npos) << note;
  Options part = o;
  part.output = files.path("part.nc"), part.overwrite = true;
  int stops = 0;
  for (int k = 1; k <= 8; ++k) {  // wherever that is
    std::atomic<bool> stop{false};
    part.resume.reset();
    const auto after = std::chrono::duration<double>(whole.summary.seconds_warmup * k / 8);
    const std::jthread stopper([&](std::stop_token ended) {
      const auto until = std::chrono::steady_clock::now() + after;
      while (!ended.stop_requested() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      stop = true;
    });
    const Result first = run(part, nullptr, stop);
    if (first.interrupted) {
      part.resume = read_run_state(part.output);
      if (!part.resume) continue;
      stops += resumes_warmup(part);
      testing_support::run_quietly(part);
    }
    EXPECT_TRUE(testing_support::everything(part.output) == testing_support::everything(o.output))
        << "stopped after " << after.count() << " s";
  }
  std::printf("seed 4: %d stops in a warm-up of %lld iterations\n", stops,
              static_cast<long long>(whole.summary.num_warmup));
  EXPECT_GE(stops, 3);
}

}  // namespace
}  // namespace kilochain
