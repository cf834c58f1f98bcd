// A checkpoint of chains is refused by chains that are not like those that saved it, with the field's name, and a
// refusal changes nothing. That chains go on with the same bits is tested for every sampler in test_bits.cpp.
#include <gtest/gtest.h>

#include "tests/support/chains.hpp"

namespace kilochain {
namespace {

using testing_support::make_chains, testing_support::normal_points;

constexpr Index chains = 3, dim = 5;

template <class Real>
std::unique_ptr<Chains<Real>> started(const std::string& sampler, const SettingTexts& settings = {},
                                      Scope scope = Scope::pooled, Index n = dim, Index count = chains) {
  const Context context = cpu_context(1);
  auto made = make_chains<Real>(context, sampler, settings, count, n, scope);
  made->place(normal_points<Real>(count, n, 4));
  return made;
}

template <class Real>
void expect_refused(Chains<Real>& by, const std::vector<char>& bytes, const std::string& words) {
  const std::vector<char> before = by.save();
  try {
    by.load(bytes);
    ADD_FAILURE() << "loaded; wanted: " << words;
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), ExitStatus::data);
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
  EXPECT_EQ(by.save(), before);
}

TEST(Checkpoint, OtherChainsRefuseIt) {
  const auto bytes = started<double>("gad_mala_fast")->save();
  expect_refused(*started<double>("rwm"), bytes, "the header: of");
  expect_refused(*started<float>("gad_mala_fast"), bytes, "double");
  expect_refused(*started<double>("gad_mala_fast", {}, Scope::chain), bytes, "pooled");
  expect_refused(*started<double>("gad_mala_fast", {}, Scope::pooled, dim + 1), bytes, "dimension 5");
  expect_refused(*started<double>("gad_mala_fast", {}, Scope::pooled, dim, chains + 1), bytes, "3 chains");
}

TEST(Checkpoint, OtherSettingsRefuseItWithTheFieldsName) {
  const auto dense = started<double>("gad_mala_fast", {{"factor", "dense"}});
  const auto diagonal = started<double>("gad_mala_fast", {{"factor", "diagonal"}});
  expect_refused(*diagonal, dense->save(), "L: ");
  expect_refused(*dense, diagonal->save(), "L: ");
}

TEST(Checkpoint, DamagedOnesAreRefused) {
  const auto some = started<double>("nuts");
  const std::vector<char> bytes = some->save();
  expect_refused(*some, {}, "the header: it ends after 0 bytes");
  expect_refused(*some, std::vector<char>(100, 'x'), "the header: ");
  for (std::size_t size = 0; size < bytes.size(); size += 37)
    expect_refused(*some, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, "it ends after");
  std::vector<char> longer = bytes;
  longer.push_back(0);
  expect_refused(*some, longer, "its end: 1 bytes more");
}

}  // namespace
}  // namespace kilochain
