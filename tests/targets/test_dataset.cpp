// load_labelled_csv: the design it makes, its refusals, and the public sets' counts.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "targets/data/dataset.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::expect_error;
using testing_support::ScratchFiles;
using testing_support::shared_data;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

TEST(LoadLabelledCsv, TakesTheLastColumnAsLabelAndAppendsTheBias) {
  ScratchFiles files;
  const std::string path = files.write("a.csv", "a,b,y\n1,2,0\n3,5,1\n");
  const Design design = load_labelled_csv(path, {}, false, true);
  EXPECT_EQ(design.rows, 2u);
  EXPECT_EQ(design.columns, 3u);
  EXPECT_EQ(design.x, (Values{1, 2, 1, 3, 5, 1}));
  EXPECT_EQ(design.y, (Values{0, 1}));
  EXPECT_EQ(design.names, (Names{"a", "b", "bias"}));
  EXPECT_EQ(design.source, path);
}

TEST(LoadLabelledCsv, FindsANamedLabel) {
  ScratchFiles files;
  const Design design = load_labelled_csv(files.write("a.csv", "a,y,b\n1,0,2\n3,1,5\n"), {"y"}, false, false);
  EXPECT_EQ(design.x, (Values{1, 2, 3, 5}));
  EXPECT_EQ(design.y, (Values{0, 1}));
  EXPECT_EQ(design.names, (Names{"a", "b"}));
}

TEST(LoadLabelledCsv, StandardisesWithNMinusOneAndLeavesTheBiasAlone) {
  ScratchFiles files;
  const Design design = load_labelled_csv(files.write("a.csv", "a,y\n1,0\n2,1\n3,1\n"), {}, true, true);
  EXPECT_EQ(design.x, (Values{-1, 1, 0, 1, 1, 1}));  // deviation 1 with n - 1, 0.816 with n
}

TEST(LoadLabelledCsv, AConstantColumnPassesWhenNotStandardised) {
  ScratchFiles files;
  EXPECT_EQ(load_labelled_csv(files.write("a.csv", "a,y\n7,0\n7,1\n"), {}, false, false).x, (Values{7, 7}));
}

TEST(LoadLabelledCsv, Refuses) {
  ScratchFiles files;
  const auto refuse = [&](const std::string& text, const std::string& label, ExitStatus status,
                          const std::string& message) {
    const std::string path = files.write("bad.csv", text);
    expect_error([&] { load_labelled_csv(path, {label}, true, true); }, status, path, message);
  };
  refuse("a,b,y\n1,2,0\n1,3,2\n", "", ExitStatus::data,
         ": a label is not 0 or 1 (2 in line 3, column \"y\"). Say which label counts as 1, as in --positive 2, or "
         "name the "
         "label's column?");
  refuse("income,b,label\n1,2,0\n1,3,1\n", "lable", ExitStatus::usage,
         ": there is no column \"lable\" (the nearest of its 3 columns is \"label\"). Is that the one?");
  // The mean of ten times 0.1 is not 0.1: constancy must not be asked of the variance.
  std::string constant = "a,rate,y\n";
  for (int i = 0; i < 10; ++i) constant += std::to_string(i) + ",0.1," + std::to_string(i % 2) + "\n";
  refuse(constant, "", ExitStatus::data,
         ": a column is constant and cannot be standardised (column \"rate\" is 0.1 in all 10 rows). Remove the "
         "column, or do not standardise?");
  refuse("a,y\n1,0\n", "", ExitStatus::data, ": too few rows (1, at least 2 needed). Is the file complete?");
  refuse("y\n1\n0\n", "", ExitStatus::data,
         ": there is no feature beside the label (one column, \"y\"). Add at least one column?");
  refuse("bias,y\n1,0\n2,1\n", "", ExitStatus::data,
         ": a column is already named \"bias\" (a bias column of ones is to be added under that name). Rename the "
         "column, or add no bias?");
  refuse("a,y\n1e300,0\n-1e300,1\n", "", ExitStatus::data,
         ": a column's spread is outside the range of a double (column \"a\" runs from -1e+300 to 1e+300). Rescale the "
         "column?");
  refuse("a,y\n1,0\nx,1\n", "", ExitStatus::data,
         ": \"x\" is not a number (line 3, column 1 \"a\"). Remove the row or write a number?");
}

TEST(Challenger, IsTheTableOfThePaper) {
  const Table table = read_csv(KILOCHAIN_SOURCE_DIR "/data/challenger.csv");
  EXPECT_EQ(table.columns, (Names{"temperature_f", "pressure_psi", "distress"}));
  ASSERT_EQ(table.rows, 23u);
  double temperature = 0, pressure = 0, distress = 0, cold_distress = 0;
  for (std::size_t i = 0; i < table.rows; ++i) {
    temperature += table.values[3 * i];
    pressure += table.values[3 * i + 1];
    distress += table.values[3 * i + 2];
    if (table.values[3 * i] < 66) cold_distress += table.values[3 * i + 2];
  }
  EXPECT_EQ(temperature, 1600);
  EXPECT_EQ(pressure, 6 * 50 + 2 * 100 + 15 * 200);
  EXPECT_EQ(distress, 7);
  EXPECT_EQ(cold_distress, 4);  // all of the flights below 66 degrees
}

struct PublicSet {
  const char* name;
  std::size_t rows, features;
  double ones;
};
void PrintTo(const PublicSet& set, std::ostream* out) { *out << set.name; }

class PublicSets : public ::testing::TestWithParam<PublicSet> {};

TEST_P(PublicSets, HaveTheirCountsAndStandardisedColumns) {
  const std::string folder = shared_data();
  if (folder.empty()) GTEST_SKIP();
  const PublicSet set = GetParam();
  const Design design = load_labelled_csv(folder + "/" + set.name + ".csv", {}, true, true);
  ASSERT_EQ(design.rows, set.rows);
  ASSERT_EQ(design.columns, set.features + 1);
  EXPECT_EQ(std::accumulate(design.y.begin(), design.y.end(), 0.0), set.ones);
  EXPECT_EQ(design.names.front(), "x1");
  EXPECT_EQ(design.names.back(), "bias");
  // Rounding tolerance c n eps, c = 8: n terms of magnitude about 1 (mean of squares), summed one after the other.
  const double n = static_cast<double>(set.rows), tolerance = 8 * n * std::numeric_limits<double>::epsilon();
  for (std::size_t j = 0; j < design.columns; ++j) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < design.rows; ++i) {
      const double value = design.x[i * design.columns + j];
      sum += value;
      squares += value * value;
    }
    if (j + 1 == design.columns) {
      EXPECT_EQ(sum, n);  // the bias is ones, exactly
    } else {
      EXPECT_NEAR(sum / n, 0, tolerance) << "column " << j;
      EXPECT_NEAR(squares / (n - 1), 1, tolerance) << "column " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, PublicSets,
                         ::testing::Values(PublicSet{"australian", 690, 14, 307}, PublicSet{"german", 1000, 24, 300},
                                           PublicSet{"heart", 270, 13, 120}, PublicSet{"pima", 532, 7, 177},
                                           PublicSet{"ripley", 250, 2, 125}, PublicSet{"caravan", 5822, 85, 348}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace kilochain
