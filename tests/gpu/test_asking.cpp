// Matrix products of the chains that ask alone: the bits of an answer depend neither on who else asks nor on how many
// the host thinks do, whoever does not ask keeps what it has, and the answers are those of the definition.
#include <cmath>

#include "host/registry/registry.hpp"
#include "targets/matmul.hpp"
#include "tests/gpu/device.hpp"
#include "tests/gpu/logistic_table.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::ScratchFiles;

constexpr int rows = 130, columns = 33;
constexpr double untouched = 77;

template <class Real>
struct Answers {
  std::vector<double> lp;
  std::vector<Real> gradient;
};

/// One target, asked again and again.
template <class Real>
class Asked {
 public:
  Asked(const Context& context, const SettingTexts& settings, const char* name = "logistic_regression")
      : context_(context), target_(make_target<Real>(context, name, settings)) {}

  /// asking: the bound that the target is told; -1: all are asked at once, as by samplers that ask once.
  Answers<Real> operator()(const std::vector<Needs>& needs, Index asking, std::size_t nan_at = ~std::size_t(0)) {
    const std::size_t chains = needs.size(), dim = static_cast<std::size_t>(target_->info().dim), row = padded(dim);
    std::mt19937_64 bits(2);
    std::normal_distribution<double> normal;
    std::vector<Real> point(chains * row), sentinels(chains * row, static_cast<Real>(untouched));
    for (std::size_t c = 0; c < chains; ++c)
      for (std::size_t j = 0; j < dim; ++j) {
        const auto x = static_cast<Real>(static_cast<float>(0.003 * normal(bits)));
        point[c * row + j] = c == nan_at ? std::numeric_limits<Real>::quiet_NaN() : x;
      }
    Buffer<Real> p(context_, chains * row), g(context_, chains * row);
    Buffer<double> lp(context_, chains), accepted(context_, chains);
    Buffer<Needs> n(context_, chains);
    p.upload(point.data()), g.upload(sentinels.data()), n.upload(needs.data());
    lp.upload(std::vector<double>(chains, untouched).data());
    Exchange<Real> e{p.data(), nullptr, g.data(), nullptr, lp.data(), accepted.data(), n.data(), row, Needs::gradient};
    if (asking >= 0) e.asks = Asks::often, e.asking = asking;
    target_->evaluate(e, 0, static_cast<Index>(chains));
    synchronize(context_);
    return {lp.host(), g.host()};
  }
  const Target<Real>& target() const { return *target_; }

 private:
  const Context& context_;
  std::unique_ptr<Target<Real>> target_;
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), size += a[i] * a[i];
  return std::sqrt(difference / size);
}
template <class Real>
std::vector<double> doubles(const std::vector<Real>& v) {
  return {v.begin(), v.end()};
}

class GpuAsking : public GpuTest {
 protected:
  SettingTexts data(bool counts) const {
    return {{"data", write_logistic_table(files_.path(counts ? "counts.csv" : "numbers.csv"), rows, columns, counts)},
            {"standardise", "false"}};
  }
  template <class Real>
  void check(bool counts, const std::string& matmul, double bound, const char* name = "logistic_regression") {
    if (const std::string why = tensor_cores_missing(device()); matmul != "float32" && !why.empty())
      return skip_aloud("matmul = " + matmul + ": " + why);
    SCOPED_TRACE(name + (", " + matmul) + (counts ? ", counts" : ", numbers"));
    SettingTexts settings = data(counts);
    Asked<double> exact(host(), settings, name);
    settings["matmul"] = matmul;
    Asked<Real> asked(device(), settings, name);
    const auto dim = static_cast<std::size_t>(exact.target().info().dim);
    std::mt19937 coin(6);
    for (const std::size_t chains : {1, 2, 31, 33, 257}) {
      SCOPED_TRACE(std::to_string(chains) + " chains");
      const std::vector<Needs> everyone(chains, Needs::gradient);
      const auto count = static_cast<Index>(chains);
      const Answers<Real> all = asked(everyone, count);
      const Answers<double> right = exact(everyone, -1);
      EXPECT_LE(distance(right.lp, all.lp), bound);
      EXPECT_LE(distance(right.gradient, doubles(all.gradient)), bound);
      for (const int of_ten : {0, 2, 9}) {
        std::vector<Needs> needs(chains, Needs::nothing);
        Index asking = 0;
        for (Needs& n : needs)
          if (static_cast<int>(coin() % 10) < of_ten) n = Needs::gradient, ++asking;
        for (const Index told : {asking, (asking + count) / 2, count}) {
          const Answers<Real> some = asked(needs, told);
          for (std::size_t c = 0; c < chains; ++c) {
            const bool asks = needs[c] == Needs::gradient;
            ASSERT_EQ(some.lp[c], asks ? all.lp[c] : untouched) << "chain " << c << " of " << asking << ", " << told;
            for (std::size_t j = 0; j < dim; ++j) {
              const std::size_t at = c * padded(dim) + j;
              ASSERT_EQ(some.gradient[at], asks ? all.gradient[at] : static_cast<Real>(untouched)) << "chain " << c;
            }
          }
        }
      }
    }
  }
  ScratchFiles files_;
};

// Rounding as in tests/emulated_device/test_products.cpp: 30 eps of sums of 130 and 34 terms.
TEST_F(GpuAsking, AnswersDoNotDependOnWhoElseAsks) {
  check<double>(false, "float32", 30 * 2.3e-16);
  check<float>(false, "float32", 30 * 1.2e-7);
  check<float>(true, "bf16x3", 30 * 1.2e-7);
  check<float>(false, "bf16x3", 30 * 1.2e-7);
  check<float>(true, "bf16x3", 30 * 1.2e-7, "softmax_regression");
}

TEST_F(GpuAsking, AChainThatIsNotFiniteStaysAlone) {
  SettingTexts settings = data(false);
  settings["matmul"] = "float32";
  Asked<float> asked(device(), settings);
  std::vector<Needs> needs(65, Needs::gradient);
  needs[3] = needs[40] = Needs::nothing;
  const Answers<float> all = asked(needs, 63), beside = asked(needs, 63, 17);
  EXPECT_FALSE(std::isfinite(beside.lp[17]));
  for (std::size_t c = 0; c < needs.size(); ++c)
    if (c != 17) {
      ASSERT_EQ(all.lp[c], beside.lp[c]) << "chain " << c;
      ASSERT_EQ(all.gradient[c * padded(columns + 1)], beside.gradient[c * padded(columns + 1)]) << "chain " << c;
    }
  EXPECT_NE(asked.target().evaluation().find("of chains that ask"), std::string::npos);
}

}  // namespace
}  // namespace kilochain
