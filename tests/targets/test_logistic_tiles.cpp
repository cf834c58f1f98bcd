// A chain's result has the same bits whichever chains are evaluated with it, and on whichever thread.
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "tests/targets/logistic_chains.hpp"

namespace kilochain::testing_support {
namespace {

using Table = SettingTexts (*)(const ScratchFiles&, std::size_t, std::size_t);

template <class Real>
void independent_of_tiles(const std::string& evaluator, std::size_t rows, std::size_t columns,
                          Table table = generated_logistic) {
  SCOPED_TRACE(evaluator + " " + std::to_string(rows) + " x " + std::to_string(columns));
  const ScratchFiles files;
  constexpr Index chains = 33;
  LogisticChains<Real> t(table(files, rows, columns), evaluator, chains);
  t.scatter(0.3);
  const auto forget = [&] {
    std::fill_n(t.gradient.data(), t.row * chains, Real(-1));
    std::fill_n(t.product.data(), t.row * chains, Real(-1));
    std::fill_n(t.lp.data(), chains, -1.0);
  };
  for (const Needs needs : {Needs::gradient, Needs::value, Needs::hessian_vector}) {
    t.ask(needs);
    forget();
    for (Index c = 0; c < chains; ++c) t.evaluate(c, c + 1);  // alone
    const auto lp = t.lp.host();
    const auto gradient = t.gradient.host(), product = t.product.host();
    const auto same = [&](const std::string& how) {
      EXPECT_EQ(t.lp.host(), lp) << how;
      EXPECT_EQ(t.gradient.host(), gradient) << how;
      EXPECT_EQ(t.product.host(), product) << how;
    };
    for (Index width = 2; width <= 17; ++width)
      for (const Index offset : {0, 1, 7}) {
        forget();
        if (offset) t.evaluate(0, offset);
        for (Index c = offset; c < chains; c += width) t.evaluate(c, std::min(chains, c + width));
        same("tiles of " + std::to_string(width) + " from " + std::to_string(offset));
      }
    forget();
    std::thread other([&] { t.evaluate(0, 13); });
    t.evaluate(13, chains);
    other.join();
    same("two threads");
  }
  // A chain that has run off to infinity harms nobody.
  t.ask(Needs::gradient), t.evaluate();
  const auto before = t.gradient.host();
  const auto kept = t.copy(t.point, 4);
  std::fill_n(t.at(t.point, 4), t.n, std::numeric_limits<Real>::infinity());
  t.at(t.point, 4)[0] = std::numeric_limits<Real>::quiet_NaN();
  t.evaluate();
  for (Index c = 0; c < chains; ++c) {
    if (c == 4) continue;
    for (Index j = 0; j < t.n; ++j) EXPECT_EQ(t.at(t.gradient, c)[j], before[t.row * c + j]) << "beside a NaN";
  }
  std::copy(kept.begin(), kept.end(), t.at(t.point, 4));
  // A value has the same bits as the value that comes with a gradient, in the company of chains that want other things.
  t.ask(Needs::gradient), t.evaluate();
  const auto lp = t.lp.host();
  const auto gradient = t.gradient.host();
  t.ask(Needs::hessian_vector), t.evaluate();
  const auto product = t.product.host();
  forget();
  for (Index c = 0; c < chains; ++c) t.needs.data()[c] = static_cast<Needs>(c % 4);
  t.evaluate();
  for (Index c = 0; c < chains; ++c) {
    const Needs needs = t.needs.data()[c];
    EXPECT_EQ(t.lp.data()[c], needs == Needs::value || needs == Needs::gradient ? lp[c] : -1.0);
    for (Index j = 0; j < t.n; ++j) {
      EXPECT_EQ(t.at(t.gradient, c)[j], needs == Needs::gradient ? gradient[t.row * c + j] : Real(-1));
      EXPECT_EQ(t.at(t.product, c)[j], needs == Needs::hessian_vector ? product[t.row * c + j] : Real(-1));
    }
  }
}

TEST(LogisticTiles, Bitwise) {
  for (const char* evaluator : logistic_evaluators)
    for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{131, 7}, {300, 50}}) {
      independent_of_tiles<float>(evaluator, rows, columns);
      independent_of_tiles<double>(evaluator, rows, columns);
    }
  independent_of_tiles<float>("blocked", 1500, 97);  // several slabs
  independent_of_tiles<double>("blocked", 1500, 97);
  for (const Table table : {sparse_numbers, sparse_levels}) {
    independent_of_tiles<float>("sparse", 1500, 131, table);
    independent_of_tiles<double>("sparse", 1500, 131, table);
  }
}

TEST(LogisticTiles, TileFitsTheChains) {
  const ScratchFiles files;
  LogisticChains<float> t(generated_logistic(files, 100, 5), "auto", 1);
  for (const Index chains : {1, 2, 7, 64, 1000})
    for (const int threads : {1, 2, 16}) {
      const Index tile = t.target->tile(chains, threads);
      EXPECT_GE(tile, 1);
      EXPECT_LE(tile, 64);
      EXPECT_LE(tile, (chains + threads - 1) / threads) << "a thread would have nothing to do";
    }
}

}  // namespace
}  // namespace kilochain::testing_support
