#include "kernels/contract.hpp"
#include "kernels/device/launch.cuh"
#include "tests/gpu/device_draws.hpp"

namespace kilochain {
namespace {

__global__ void words_kernel(const CounterKey* counters, Words* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  const CounterKey& c = counters[i];
  out[i] = philox(c.c[0], c.c[1], c.c[2], c.c[3], c.k[0], c.k[1]);
}
template <class Real>
__global__ void normals_kernel(Rng rng, Real* z, Index n) {
  normals(WarpTeam{}, rng, Purpose::proposal, Row(z, padded(std::size_t(n))), n);
}
template <class Real>
__global__ void functions_kernel(const Real* x, Real* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  out[4 * i] = math::exp(x[i]);
  out[4 * i + 1] = math::log(x[i] > 0 ? x[i] : -x[i]);
  Real turns = x[i] - static_cast<Real>(static_cast<long long>(x[i]));
  turns = turns > Real(0.5) ? turns - 1 : (turns < Real(-0.5) ? turns + 1 : turns);
  math::sincos_turns(turns, out[4 * i + 2], out[4 * i + 3]);
}

}  // namespace

std::vector<Words> device_words(const Context& context, const std::vector<CounterKey>& counters) {
  Buffer<CounterKey> in(context, counters.size());
  in.upload(counters.data());
  Buffer<Words> out(context, counters.size());
  const int count = static_cast<int>(counters.size());
  cuda::launch(context, words_kernel, dim3(static_cast<unsigned>(count + 127) / 128), 128, in.data(), out.data(),
               count);
  return out.host();
}

template <class Real>
std::vector<Real> device_normals(const Context& context, const Rng& rng, Index n) {
  Buffer<Real> z(context, static_cast<std::size_t>(n) + 64);
  cuda::launch(context, normals_kernel<Real>, dim3(1), 32, rng, z.data(), n);
  std::vector<Real> out = z.host();
  out.resize(static_cast<std::size_t>(n));
  return out;
}
template std::vector<float> device_normals(const Context&, const Rng&, Index);
template std::vector<double> device_normals(const Context&, const Rng&, Index);

template <class Real>
std::vector<Real> device_functions(const Context& context, const std::vector<Real>& x) {
  Buffer<Real> in(context, x.size()), out(context, 4 * x.size());
  in.upload(x.data());
  const int count = static_cast<int>(x.size());
  cuda::launch(context, functions_kernel<Real>, dim3(static_cast<unsigned>(count + 127) / 128), 128,
               static_cast<const Real*>(in.data()), out.data(), count);
  return out.host();
}
template std::vector<float> device_functions(const Context&, const std::vector<float>&);
template std::vector<double> device_functions(const Context&, const std::vector<double>&);

}  // namespace kilochain
