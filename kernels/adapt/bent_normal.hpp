// Trajectories of a density that costs a fraction of the target's: a normal, bent by a few observations of a logistic
// regression. The target kicks at their ends and midway, by what its force differs by (Shahbaba et al. 2014).
//   log q = -|z|^2/2 + sum_k f_k(a_k.z),   x = m + F z,   a_k = F^T x_k;   f_k: log likelihood of observation k, less
//   the parabola that the normal has in its place:   f_k'(t) = s_k sigma(-s_k (t + c_k)) - o_k - w_k t
//   kick h:  r += h (F^T g + z - sum_k f_k'(a_k.z) a_k)
//   step e: z, r turned by e/2;  r += e sum_k f_k'(a_k.z) a_k;  turned by e/2.   Accept by lp - |r|^2/2 at both ends.
// Law: all are reversible and keep volume whatever f is, so the target's density alone decides what is drawn.
// Of no observations a turn is all of it, without kicks: a normal's draws, accepted by the density (Neal 1998, eq. 15).
// Layout: a twice, in panels of P (kernels/device/panels.hpp): [k of panel][coordinate] and [coordinate of panel][k].
// Cost: 4 K n multiply-adds a step or kick; the rows stay in L2 for all chains.
#pragma once
#include "kernels/device/math.hpp"
#include "kernels/device/runs.hpp"
#include "kernels/fields.hpp"

namespace kilochain {

template <class Real>
struct BentNormal {
  Scalar<double> bent;   ///< 1: trajectories are of this law
  Scalar<double> count;  ///< observations that bend it, at most the room that the table has
  Rows<Real> towards, back;
  Numbers<Real> logit, sign, offset, slope;  ///< c, s, o, w

  template <class V>
  static KC_HD void fields(V&& visit, BentNormal& b, Index room) {
    visit("bent", Keep::yes, b.bent, b.count);
    if (room == 0) return;
    visit("bend_towards", b.towards, room, Keep::yes);
    visit("bend_back", b.back, room, Keep::yes);
    visit("bend_logit", b.logit, room, Keep::yes);
    visit("bend_sign", b.sign, room, Keep::yes);
    visit("bend_offset", b.offset, room, Keep::yes);
    visit("bend_slope", b.slope, room, Keep::yes);
  }
};

/// Place of number j of line i, where lines lie in panels of P and have `length` numbers each.
template <int P>
constexpr KC_INLINE std::size_t lines_index(Index i, Index j, Index length) {
  return (std::size_t(i / P) * std::size_t(length) + std::size_t(j)) * P + std::size_t(i % P);
}

/// to[i] = line i . v, for lines in panels; the rest of its last panel is written too. Each by the lane that has entry
/// i elsewhere: who reads his own need not wait.
template <class Team, class Real>
KC_INLINE void multiply_lines(const Team& team, const Real* lines, Index count, Index length, const Real* v, Real* to) {
  constexpr int P = Team::template panel<Real>;
  each_panel<Real>(team, 0, (count + P - 1) / P, [&](Index p, auto rows) {
    const Real* panel = lines + std::size_t(p) * std::size_t(length) * P;
    auto s0 = rows.all(0), s1 = s0, s2 = s0, s3 = s0;
    Index j = 0;
    for (; j + 4 <= length; j += 4, panel += 4 * P) {
      s0 += rows.load(panel) * v[j];
      s1 += rows.load(panel + P) * v[j + 1];
      s2 += rows.load(panel + 2 * P) * v[j + 2];
      s3 += rows.load(panel + 3 * P) * v[j + 3];
    }
    for (; j < length; ++j, panel += P) s0 += rows.load(panel) * v[j];
    rows.store(to + p * P, (s0 + s1) + (s2 + s3));
  });
}

/// (z, r) kicked by all of `kick` but its F^T g, if that is not 0; then along `steps` steps of `angle`, or none if
/// steps is -1. bends: room for the observations; force: a row.
template <class Team, class Real>
KC_INLINE void follow_bent(const Team& team, const BentNormal<Real>& b, double kick, double angle, Index steps,
                           Row<Real> z, Row<Real> r, Numbers<Real> bends, Row<Real> force, Index n) {
  const Index count = Index(*b.count);
  for (Index k = kick != 0 ? -1 : 0; k <= steps || k < 0; ++k) {
    if (k >= 0) {
      double sine, cosine;
      math::sincos_turns((k == 0 || k == steps ? 0.5 : 1.0) * angle / 6.283185307179586, sine, cosine);
      const Real s = Real(sine), c = Real(cosine), e = Real(k > 0 && count > 0 ? angle : 0.0);
      team.for_each(n, [&](Index i) {
        const Real from = z[i], kicked = e != Real(0) ? r[i] + e * force[i] : r[i];
        z[i] = c * from + s * kicked;
        r[i] = c * kicked - s * from;
      });
      team.sync();
      if (k == steps || count == 0) continue;
    }
    multiply_lines(team, b.towards.data, count, n, z.data, bends.data);
    team.for_each(count, [&](Index i) {
      const Real t = bends[i], sign = b.sign[i], u = sign * (t + b.logit[i]);
      bends[i] = sign / (Real(1) + math::exp(u)) - b.offset[i] - b.slope[i] * t;
    });
    team.sync();
    multiply_lines(team, b.back.data, n, count, bends.data, force.data);
    if (k < 0) team.for_each(n, [&](Index i) { r[i] += Real(kick) * (z[i] - force[i]); });
  }
}

}  // namespace kilochain
