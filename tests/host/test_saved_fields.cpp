// Fields of a warm-up's state: what is written is read back, bit by bit, and zeros take no room.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "host/run/saved_fields.hpp"

namespace kilochain {
namespace {

std::vector<double> read_back(const std::vector<double>& values, std::size_t* bytes = nullptr) {
  nlohmann::json j;
  ToJson{j}("values", values);
  const std::vector<std::uint8_t> cbor = nlohmann::json::to_cbor(j);
  if (bytes) *bytes = cbor.size();
  const nlohmann::json again = nlohmann::json::from_cbor(cbor);
  std::vector<double> out{1, 2, 3};
  FromJson{again}("values", out);
  return out;
}

void expect_same_bits(const std::vector<double>& values) {
  const std::vector<double> back = read_back(values);
  ASSERT_EQ(back.size(), values.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back[k]), std::bit_cast<std::uint64_t>(values[k])) << k;
}

TEST(SavedFields, AreReadBackBitByBit) {
  expect_same_bits({});
  expect_same_bits({0});
  expect_same_bits({1, -0.0, NAN, INFINITY, 0});
  for (const std::size_t size : {7, 8, 9, 16, 65, 257}) {
    std::vector<double> values(size, 0.0);
    for (const std::size_t step : {5, 3, 2, 1}) {  // fewer and fewer zeros
      expect_same_bits(values);
      for (std::size_t k = step / 2; k < size; k += 8 * step) values[k] = k % 2 ? -0.0 : 1.5 * static_cast<double>(k);
    }
    for (std::size_t k = 0; k < size; k += 2) values[k] = static_cast<double>(k) - 0.5;
    expect_same_bits(values);
  }
}

TEST(SavedFields, ADiagonalFactorTakesTheRoomOfItsDiagonal) {
  constexpr std::size_t n = 257;
  std::vector<double> factor(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) factor[i * n + i] = 1 + static_cast<double>(i);
  std::size_t bytes = 0;
  EXPECT_EQ(read_back(factor, &bytes), factor);
  EXPECT_LT(bytes, 16 * n + 100);  // a place and a value each, and names
}

}  // namespace
}  // namespace kilochain
