// Every registered target on CUDA: log density, gradient and Hessian product equal the CPU's to rounding.
#include <random>

#include "host/registry/registry.hpp"
#include "tests/gpu/device.hpp"
#include "tests/gpu/target_cases.hpp"

namespace kilochain {
namespace {

template <class Real>
struct Answers {
  std::vector<double> lp;
  std::vector<Real> gradient, product;
};

/// Chains ask in turn for nothing, a value, a gradient, a Hessian product (a gradient first, so that it has something
/// to keep).
template <class Real>
Answers<Real> answers(const Context& context, const TargetCase& which, const std::vector<Needs>& needs) {
  auto target = make_target<Real>(context, which.name, which.settings);
  const std::size_t chains = needs.size(), dim = static_cast<std::size_t>(target->info().dim),
                    row = padded(dim + (dim == 1));
  std::mt19937_64 bits(9);
  std::normal_distribution<double> normal;
  std::vector<Real> point(chains * row), direction(chains * row);
  for (std::size_t c = 0; c < chains; ++c)
    for (std::size_t i = 0; i < dim; ++i) {
      point[c * row + i] = static_cast<Real>(0.2 * normal(bits));
      direction[c * row + i] = static_cast<Real>(normal(bits));
    }
  Buffer<Real> p(context, chains * row), d(context, chains * row), g(context, chains * row), h(context, chains * row);
  Buffer<double> lp(context, chains), accepted(context, chains);
  Buffer<Needs> n(context, chains);
  p.upload(point.data()), d.upload(direction.data()), n.upload(needs.data());
  Exchange<Real> e{p.data(), d.data(), g.data(), h.data(), lp.data(), accepted.data(), n.data(), row};
  target->evaluate(e, 0, static_cast<Index>(chains));
  synchronize(context);
  return {lp.host(), g.host(), h.host()};
}

template <class Real>
double distance(const std::vector<Real>& a, const std::vector<Real>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
    size += double(a[i]) * double(a[i]);
  }
  return std::sqrt(difference / std::max(size, 1e-300));
}

class GpuTargets : public GpuTest {
 protected:
  template <class Real>
  void check(double bound) {
    for (const TargetCase& which : all_target_cases()) {
      std::vector<Needs> needs;
      for (int c = 0; c < 37; ++c) needs.push_back(static_cast<Needs>(c % (which.hessian ? 4 : 3)));
      SCOPED_TRACE(text_of(which));
      TargetCase on_host = which;
      on_host.settings.erase("evaluator");
      const auto cpu = answers<Real>(host(), on_host, needs), gpu = answers<Real>(device(), which, needs);
      std::vector<double> asked_cpu, asked_gpu;
      for (std::size_t c = 0; c < needs.size(); ++c)
        if (needs[c] == Needs::value || needs[c] == Needs::gradient)
          asked_cpu.push_back(cpu.lp[c]), asked_gpu.push_back(gpu.lp[c]);
      EXPECT_LE(distance(asked_cpu, asked_gpu), bound);
      const std::size_t row = cpu.gradient.size() / needs.size();
      for (std::size_t c = 0; c < needs.size(); ++c) {
        const auto part = [&](const std::vector<Real>& v) {
          return std::vector<Real>(v.begin() + std::ptrdiff_t(c * row), v.begin() + std::ptrdiff_t((c + 1) * row));
        };
        if (needs[c] == Needs::gradient) {
          EXPECT_LE(distance(part(cpu.gradient), part(gpu.gradient)), bound) << "gradient of chain " << c;
        }
        if (needs[c] == Needs::hessian_vector) {
          EXPECT_LE(distance(part(cpu.product), part(gpu.product)), bound) << "Hessian product of chain " << c;
          // A Hessian product leaves the value and the gradient of the point alone.
          EXPECT_EQ(gpu.lp[c], 0.0);
          EXPECT_EQ(part(gpu.gradient), std::vector<Real>(row)) << "chain " << c;
        }
        if (needs[c] == Needs::nothing) {
          EXPECT_EQ(gpu.lp[c], 0.0) << "chain " << c << " asked for nothing";
        }
      }
    }
  }
};

// Rounding, as |difference| / |value| over a vector: sums of at most 5822 x 86 terms that partly cancel.
TEST_F(GpuTargets, DoubleIsTheHosts) { check<double>(1e-11); }
TEST_F(GpuTargets, FloatIsTheHosts) { check<float>(2e-4); }

}  // namespace
}  // namespace kilochain
