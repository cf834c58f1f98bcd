// Which way many chains are evaluated on a device: the corners of the cost model.
#include <gtest/gtest.h>

#include <cmath>

#include "targets/engine.hpp"

namespace kilochain {
namespace {

constexpr int hopper = 132;

/// Logistic regression of floats, in tiles of `tile` chains where there are any.
EngineWork logistic(double rows, double dim, Index chains, Index tile) {
  EngineWork w;
  w.rows = rows, w.entries = rows * dim, w.chains = chains, w.multiprocessors = hopper;
  w.tile = tile, w.tile_warps = tile > 0 ? 16 : 0;
  w.offers_products = true;
  return w;
}

TEST(EngineCosts, TilesTakeDataThatFitIntoSharedMemory) {
  EXPECT_EQ(engine_costs(logistic(1000, 25, 4096, 32)).best(), Engine::tiles);  // German
  EXPECT_EQ(engine_costs(logistic(1000, 25, 16384, 32)).best(), Engine::tiles);
}
TEST(EngineCosts, ProductsTakeLargeDataAndManyChains) {
  EXPECT_EQ(engine_costs(logistic(11339, 785, 4096, 0)).best(), Engine::products);  // MNIST
  EXPECT_EQ(engine_costs(logistic(5822, 86, 4096, 0)).best(), Engine::products);    // Caravan
}
TEST(EngineCosts, WarpsTakeSmallDataWhereThereAreNoTiles) {
  EXPECT_EQ(engine_costs(logistic(23, 3, 1024, 0)).best(), Engine::warps);
}
TEST(EngineCosts, AWayThatIsNotThereCostsInfinitelyMuch) {
  EngineWork w = logistic(1000, 25, 4096, 0);
  w.offers_products = false;
  const EngineCosts costs = engine_costs(w);
  EXPECT_TRUE(std::isinf(costs.of(Engine::tiles)));
  EXPECT_TRUE(std::isinf(costs.of(Engine::products)));
  EXPECT_EQ(costs.best(), Engine::warps);
  EXPECT_EQ(text_of(costs).find("tiles"), std::string::npos);
}
TEST(EngineCosts, WholeIterationsSaveLaunches) {
  EngineWork w = logistic(23, 3, 64, 8);
  w.tile_warps = 1;
  const double apart = engine_costs(w).of(Engine::tiles);
  w.whole_iterations = true;
  const EngineCosts whole = engine_costs(w);
  EXPECT_LT(whole.of(Engine::tiles), apart - 1e-6);
  EXPECT_EQ(whole.best(), Engine::tiles);
}
TEST(EngineCosts, TilesOfFewWarpsLoseToWarps) {  // one warp of sixteen works: the block's other lanes wait
  EngineWork w = logistic(500, 90, 4096, 8);
  w.tile_warps = 1;
  w.offers_products = false;
  EXPECT_EQ(engine_costs(w).best(), Engine::warps);
}
TEST(EngineCosts, MoreChainsNeverCostLess) {
  for (const Engine e : {Engine::tiles, Engine::warps, Engine::products}) {
    double before = 0;
    for (Index chains : {1, 3, 33, 257, 1024, 4096, 16384, 65536}) {
      const double now = engine_costs(logistic(1000, 25, chains, 32)).of(e);
      EXPECT_GE(now, before) << engine_names[static_cast<int>(e)] << ", " << chains << " chains";
      before = now;
    }
  }
}

}  // namespace
}  // namespace kilochain
