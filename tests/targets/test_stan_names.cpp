// Stan's names of values become names, shapes and an order.
#include <gtest/gtest.h>

#include "targets/stan/stan_names.hpp"

namespace kilochain {
namespace {

using Words = std::vector<std::string>;
using Sizes = std::vector<std::size_t>;

TEST(StanNames, ColumnsFirstBecomesRowsFirst) {
  const StanNames n = stan_names("mu,L.1.1,L.2.1,L.1.2,L.2.2,L.1.3,L.2.3,tau.1,tau.2");
  EXPECT_EQ(n.names, (Words{"mu", "L[1,1]", "L[1,2]", "L[1,3]", "L[2,1]", "L[2,2]", "L[2,3]", "tau[1]", "tau[2]"}));
  EXPECT_EQ(n.source, (Sizes{0, 1, 3, 5, 2, 4, 6, 7, 8}));
  ASSERT_EQ(n.variables.size(), 3u);
  EXPECT_EQ(n.variables[1].name, "L");
  EXPECT_EQ(n.variables[1].shape, (Sizes{2, 3}));
  EXPECT_TRUE(n.variables[0].shape.empty());
  EXPECT_EQ(n.variables[2].shape, Sizes{2});
}

TEST(StanNames, IndicesAreNumbersNotTexts) {
  std::string names = "x.1";
  for (int k = 2; k <= 12; ++k) names += ",x." + std::to_string(k);
  const StanNames n = stan_names(names);
  EXPECT_EQ(n.names[1], "x[2]");
  EXPECT_EQ(n.names[9], "x[10]");
  EXPECT_EQ(n.variables[0].shape, Sizes{12});
}

TEST(StanNames, PartsOfTuplesAndOfComplexNumbersAreVariables) {
  const StanNames n = stan_names("t:1,t:2.1,t:2.2,z.real,z.imag");
  EXPECT_EQ(n.names, (Words{"t:1", "t:2[1]", "t:2[2]", "z.real", "z.imag"}));
  EXPECT_EQ(n.variables.size(), 4u);
}

TEST(StanNames, NoNames) { EXPECT_TRUE(stan_names("").names.empty()); }

}  // namespace
}  // namespace kilochain
