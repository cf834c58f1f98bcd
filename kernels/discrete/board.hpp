// Boards: how samplers see one replica (a copy of all spins) of an Ising-like model. Spins are -1 or +1. A slice is
// the set of states with so many spins "up": other than a reference, which is all -1 here (SpinModel::turned).
//   E(S) = offset - sum_(i,j) J_ij S_i S_j - sum_i h_i S_i,  f_i = h_i + sum_j J_ij S_j,  v_i = f_i S_i
// A flip of spin i changes E by 2 v_i, turns v_i into -v_i, and changes the fields of i's neighbours alone.
// Spin models run on the CPU's cores, a replica to a thread: a flip must be seen by the next one.
// A board is a model bound to one replica's memory, a plain value of pointers:
//   bytes(model)  assign(spins)  refresh()  energy()  up()  spin(i)
// A board to choose from (ClassBoard, TreeBoard, DenseBoard) knows besides, at any time and never stale:
//   set_law(law)  total(side)  choose(side, u)  value(i)  flip(i)
// A board to sweep over (ClassSpins, GraphSpins, LayerSpins) answers fields from the spins alone.
#pragma once
#include <cstdint>

#include "kernels/contract.hpp"

namespace kilochain::discrete {

/// Loops over spins, which vectorise, and sums of them in a fixed order.
inline constexpr HostTeam cpu{};

/// Hands out the arrays of one replica, 64-byte aligned; with no memory it only counts.
class Cut {
 public:
  KC_INLINE explicit Cut(char* memory) : memory_(memory) {}
  template <class T>
  KC_INLINE T* take(std::size_t count) {
    const std::size_t at = used_;
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    return memory_ ? reinterpret_cast<T*>(memory_ + at) : nullptr;
  }
  KC_INLINE std::size_t used() const { return used_; }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

/// What a sampler's settings may depend on.
struct Facts {
  Index n = 0, up = 0;  ///< spins, and those up on the slice
  bool slice = false;
  const char* expert = "";  ///< whose settings of the thesis fit: 2d, 3d, rbm
};

/// Where a step samples: at beta, which is `ratio` times the one asked for: 1 but on the rungs of a ladder.
struct Heat {
  double beta = 1, ratio = 1;
};

/// Whether two states are as likely, by the logarithm of their ratio: known to rounding, which differs between devices.
KC_INLINE bool is_tie(double log_ratio) { return log_ratio < 0x1p-40 && log_ratio > -0x1p-40; }

/// How likely a spin of value v is chosen, up to the sum over its side.
struct Law {
  /// equal: 1; heat_bath: 1 / (1 + exp(2 rate v)); half: exp(-rate v), the locally balanced choice.
  enum Kind : std::int32_t { equal, heat_bath, half } kind = equal;
  double rate = 0;

  KC_INLINE double operator()(double v) const {
    if (kind == equal) return 1;
    return kind == half ? math::exp(-rate * v) : 1 / (1 + math::exp(2 * rate * v));
  }
  KC_INLINE bool operator==(const Law& o) const { return kind == o.kind && rate == o.rate; }
};

KC_INLINE Index ones(std::uint64_t bits) { return __builtin_popcountll(bits); }

/// The place of set bit k.
KC_INLINE Index select(std::uint64_t set, Index k) {
#if defined(__BMI2__)
  return __builtin_ctzll(__builtin_ia32_pdep_di(std::uint64_t(1) << k, set));
#else
  Index place = 0;
  KC_UNROLL
  for (Index width = 32; width > 0; width /= 2) {  // no branch: it could not be foretold
    const Index below = ones(set & ((std::uint64_t(1) << width) - 1)), past = k >= below;
    k -= past * below, place += past * width, set >>= past * width;
  }
  return place;
#endif
}

/// Half a Philox block as 64 bits, or as a uniform on (0, 1) of 53 bits.
template <class Number>
KC_INLINE Number number_of(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = static_cast<std::uint64_t>(high) << 32 | low;
  if constexpr (std::is_same_v<Number, double>) return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  return static_cast<Number>(bits);
}

/// Two numbers of one Philox block; number t of a purpose is half t & 1 of block t >> 1.
template <class Number>
class Numbers {
 public:
  KC_INLINE Numbers(const Rng& rng, Purpose purpose) : rng_(rng), purpose_(purpose) {}
  KC_INLINE Number operator()(std::uint32_t t) {
    if (!(t & 1) || !fresh_) words_ = rng_.words(purpose_, t >> 1), fresh_ = true;
    return t & 1 ? number_of<Number>(words_.v[2], words_.v[3]) : number_of<Number>(words_.v[0], words_.v[1]);
  }

 private:
  const Rng& rng_;
  Purpose purpose_;
  Words words_{};
  bool fresh_ = false;
};
using Uniforms = Numbers<double>;

/// The same numbers in order, 0 .. count - 1: sixteen blocks at a time, which vectorise.
template <class Number>
class NumberSequence {
  static constexpr std::uint32_t blocks = 16, numbers = 2 * blocks;

 public:
  NumberSequence(const Rng& rng, Purpose purpose, std::uint32_t count)
      : rng_(rng), purpose_(purpose), count_(count), few_(rng, purpose) {}
  Number operator()(std::uint32_t t) {
    const std::uint32_t at = t % numbers, first = t - at;
    if (count_ - first < numbers / 2) return few_(t);
    if (at == 0) fill(first / 2);
    return value_[at & 1][at / 2];
  }

 private:
  void fill(std::uint32_t first) {
#pragma GCC ivdep
    for (std::uint32_t l = 0; l < blocks; ++l) {
      const Words w = rng_.words(purpose_, first + l);
      value_[0][l] = number_of<Number>(w.v[0], w.v[1]);
      value_[1][l] = number_of<Number>(w.v[2], w.v[3]);
    }
  }
  const Rng& rng_;
  Purpose purpose_;
  std::uint32_t count_;
  Numbers<Number> few_;
  Number value_[2][blocks];
};

}  // namespace kilochain::discrete
