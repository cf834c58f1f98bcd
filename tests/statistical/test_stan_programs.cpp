// Stan programs against the same posteriors written as models here: log densities up to a constant, and gradients. The
// programs are compiled, once; without Stan or without the suite that is said and skipped.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "examples/posteriors/arma.hpp"
#include "examples/posteriors/eight_schools.hpp"
#include "examples/posteriors/kidiq.hpp"
#include "examples/posteriors/low_dim_gauss_mix.hpp"
#include "examples/posteriors/mesquite.hpp"
#include "examples/posteriors/sblrc.hpp"
#include "kernels/random/draw.hpp"
#include "targets/stan/compile.hpp"
#include "targets/stan/stan_model.hpp"
#include "tests/models/evaluated.hpp"

namespace kilochain {
namespace {

std::string why_not(const std::string& folder) {
  if (!std::ifstream(folder + "/model.stan")) return folder + " is not there";
  try {
    stan::find_tools();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

template <class Model>
void compare(const std::string& name) {
  const std::string folder = KILOCHAIN_SOURCE_DIR "/../shared/posteriordb/" + name;
  if (const std::string why = why_not(folder); !why.empty()) {
    std::printf("SKIPPED: %s\n", why.c_str());
    GTEST_SKIP() << why;
  }
  std::ostringstream data;
  data << std::ifstream(folder + "/data.json").rdbuf();
  const StanModel program(SharedObject(stan::compiled(folder + "/model.stan")), data.str(), "data.json");
  testing_support::Evaluated<Model, double> model({folder + "/data.json"});
  const std::size_t n = static_cast<std::size_t>(program.dim());
  ASSERT_EQ(model.info.dim, program.dim());
  double constant = 0;
  for (std::uint32_t point = 0; point < 100; ++point) {
    std::vector<double> x(padded(n) + 32), gradient(n), ours;
    normals(HostTeam{}, Rng{1, point, 0}, Purpose::start, Row(x.data(), x.size()), program.dim());
    x.resize(n);
    double lp = 0;
    std::string why;
    ASSERT_TRUE(program.evaluate(x.data(), &lp, gradient.data(), why)) << why;
    const double mine = model.at(x, Needs::gradient, &ours);
    if (point == 0) constant = mine - lp;
    // Sums of thousands of terms that reach millions: relative to the largest.
    ASSERT_NEAR(mine - lp, constant, 1e-10 * std::max({1.0, std::abs(lp), std::abs(constant)})) << "point " << point;
    double largest = 1;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(ours[i], gradient[i], 1e-8 * largest) << "point " << point;
  }
}

TEST(StanPrograms, EightSchools) { compare<EightSchools>("eight_schools-eight_schools_noncentered"); }
TEST(StanPrograms, Arma) { compare<Arma>("arma-arma11"); }
TEST(StanPrograms, Kidiq) { compare<Kidiq>("kidiq-kidscore_momiq"); }
TEST(StanPrograms, LowDimGaussMix) { compare<LowDimGaussMix>("low_dim_gauss_mix-low_dim_gauss_mix"); }
TEST(StanPrograms, Mesquite) { compare<Mesquite>("mesquite-mesquite"); }
TEST(StanPrograms, Sblrc) { compare<Sblrc>("sblrc-blr"); }

}  // namespace
}  // namespace kilochain
