// The words are the published ones, and counters of different uses never meet.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "kernels/random/philox.hpp"

namespace kilochain {
namespace {

TEST(Philox, KnownAnswers) {
  std::ifstream file(KILOCHAIN_SOURCE_DIR "/tests/data/philox_known_answers.txt");
  ASSERT_TRUE(file);
  int answers = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    std::uint32_t v[10];
    for (auto& w : v) ASSERT_TRUE(in >> std::hex >> w) << line;
    const Words got = philox(v[0], v[1], v[2], v[3], v[4], v[5]);
    for (int k = 0; k < 4; ++k) EXPECT_EQ(got.v[k], v[6 + k]) << line << " word " << k;
    ++answers;
  }
  EXPECT_EQ(answers, 3);
}

TEST(Philox, CounterLayout) {
  const Rng rng{0x0123456789abcdefULL, 77, 0x0000ab1122334455LL};
  const Words got = rng.words(Purpose::momentum, 9);
  const Words want = philox(9, 0x22334455, 77, (3u << 24) | 0x00ab11, 0x89abcdef, 0x01234567);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(got.v[k], want.v[k]);
}

TEST(Philox, EveryCoordinateOfTheCounterMatters) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  int asked = 0;
  for (std::uint64_t seed : {1ULL, 1ULL << 32})
    for (std::uint32_t chain : {0u, 1u, 0xffffffffu})
      for (std::int64_t iteration : {0LL, 1LL, 1LL << 32, (1LL << 56) - 1})
        for (auto purpose : {Purpose::start, Purpose::proposal, Purpose::adaptation})
          for (std::uint32_t index : {0u, 1u}) {
            const Words w = Rng{seed, chain, iteration}.words(purpose, index);
            seen.insert({w.v[0], w.v[1], w.v[2], w.v[3]});
            ++asked;
          }
  EXPECT_EQ(static_cast<int>(seen.size()), asked);
}

}  // namespace
}  // namespace kilochain
