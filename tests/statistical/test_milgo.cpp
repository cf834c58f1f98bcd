// The comparison paper's table at 400 runs a cell: published numbers more than four standard errors from ours are those
// that known_reason names, one by one; any other fails. 48 comparisons at 4 standard errors: a false alarm in 3e-3 of
// all seeds.
#include <gtest/gtest.h>

#include "papers/milgo/runs.hpp"

namespace kilochain::milgo {
namespace {

TEST(Milgo, PublishedNumbersThatDifferAreKnown) {
  const std::atomic<bool> never{false};
  for (const Cell& cell : table_1()) {
    const CellResult result = run_cell(cell, 0, 400, 20261121, never);
    ASSERT_EQ(result.num_runs(), 400u);
    for (const Comparison& c : compare(result)) {
      if (std::abs(c.z) > 4) {
        EXPECT_FALSE(c.reason.empty()) << cell.target << " " << cell.name << ": " << (c.deviation ? "sd" : "mean")
                                       << " of " << figure_names[c.figure] << ": published " << c.published << ", here "
                                       << c.ours << ", z " << c.z;
      }
    }
  }
}

/// The mean and deviation of numbers whose moments are known, and their standard errors.
TEST(Milgo, SpreadOfNumbers) {
  const Spread s = spread_of({1, 2, 3, 4});
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_DOUBLE_EQ(s.sd, std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(s.mean_error, std::sqrt(5.0 / 12));
  // m2 = 1.25, m4 = 2.5625: sqrt((2.5625 - 1.5625)/4)/(2 sd)
  EXPECT_DOUBLE_EQ(s.sd_error, 0.5 / (2 * std::sqrt(5.0 / 3)));
}

/// Deviations over a few runs have errors that these runs cannot tell: with two of them m4 is m2^2, and z infinite.
TEST(Milgo, FewRunsAreNotCompared) {
  CellResult result;
  result.cell = table_1().at(0);
  for (int count : {2, 9, 10}) {
    for (auto& figure : result.runs) figure.resize(count, 0.5);
    for (auto& figure : result.runs)
      for (int r = 0; r < count; ++r) figure[r] = r;
    EXPECT_EQ(compare(result).size(), count < 10 ? 0u : 2u * num_figures) << count;
  }
}

/// Every cell of the protocol, in two dimensions, says the same whether its runs come together or in parts.
TEST(Milgo, RunsDoNotHangOnTheirCompany) {
  const std::atomic<bool> never{false};
  for (const Cell& cell : all_cells()) {
    if (cell.dim != 2 || cell.target != "pi2") continue;
    const CellResult whole = run_cell(cell, 0, 3, 5, never), part = run_cell(cell, 2, 1, 5, never);
    for (int f = 0; f < num_figures; ++f)
      EXPECT_EQ(whole.runs[std::size_t(f)][2], part.runs[std::size_t(f)][0]) << cell.name;
  }
}

}  // namespace
}  // namespace kilochain::milgo
