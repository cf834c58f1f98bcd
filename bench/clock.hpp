// What every benchmark measures with: the thread's own processor time, best of many calls,
// and the processor's multiply-add rate.
#pragma once
#include <algorithm>

#include "host/chains/thread_seconds.hpp"
#include "kernels/device/context.hpp"
#include "kernels/device/pack.hpp"
#include "kernels/device/platform.hpp"

namespace kilochain::bench {

/// Seconds of one call, the best of many; calls too short for the clock are timed several at a time.
template <class F>
double best_of(double budget, F&& f) {
  double best = 1e30, spent = 0;
  for (int round = 0, calls = 1; round < 3 || spent < budget; ++round) {
    const double begin = thread_seconds();
    for (int k = 0; k < calls; ++k) f();
    const double s = thread_seconds() - begin;
    best = std::min(best, s / calls), spent += s;
    if (s < 50e-6) calls *= 2;
  }
  return best;
}

/// Operations a second of multiply-adds that never leave the registers.
template <class Real>
double peak_flops(double budget) {
  using P = Register<Real>;
  constexpr int registers = 12, rounds = 20000;  // enough to hide a latency of 4 cycles at 2 a cycle
  const double s = best_of(budget, [] {
    typename P::Wide a[registers], x = P::all(Real(0.999));
    for (int k = 0; k < registers; ++k) a[k] = P::all(Real(k));
    for (int i = 0; i < rounds; ++i) {
      asm volatile("" : "+m"(i));  // no round is known in advance
      KC_UNROLL
      for (int k = 0; k < registers; ++k) a[k] = a[k] * x + x;
    }
    for (int k = 1; k < registers; ++k) a[0] += a[k];
    volatile Real sink = P::sum(a[0]);
    (void)sink;
  });
  return 2.0 * registers * rounds * P::size / s;
}

/// Bytes a second of reading `bytes` again and again.
inline double reading(double bytes, double budget) {
  using P = Pack<double>;
  const Context context = cpu_context(1);
  const Buffer<double> memory(context, static_cast<std::size_t>(bytes / 8) / 32 * 32 + 32);
  std::fill_n(memory.data(), memory.size(), 1.0);  // pages that were never written are all the same one
  const double s = best_of(budget, [&] {
    typename P::Wide a[4] = {};
    for (std::size_t i = 0; i < memory.size(); i += 4 * P::size)
      for (int k = 0; k < 4; ++k) a[k] += P::load(memory.data() + i + k * P::size);
    volatile double sink = P::sum(a[0] + a[1] + a[2] + a[3]);
    (void)sink;
  });
  return static_cast<double>(memory.size()) * 8 / s;
}

/// Seconds of one square root and one division, a register at a time: the floor of an adaptive step of one entry of a
/// factor.
template <class Real>
double root_and_division(double budget) {
  using P = Register<Real>;
  constexpr int registers = 8, rounds = 5000;
  const double s = best_of(budget, [] {
    typename P::Type a[registers];
    for (int k = 0; k < registers; ++k) a[k] = P::all(Real(k + 1));
    for (int i = 0; i < rounds; ++i) {
      asm volatile("" : "+m"(i));
      for (int k = 0; k < registers; ++k) a[k] = Real(3) / (Real(1) + P::sqrt(a[k]));
    }
    for (int k = 1; k < registers; ++k) a[0] += a[k];
    volatile Real sink = P::sum(a[0]);
    (void)sink;
  });
  return s / (registers * rounds * P::size);
}

}  // namespace kilochain::bench
