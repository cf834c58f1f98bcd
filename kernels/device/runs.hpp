// What a team takes of a triangular factor at once, so that algorithms are written once (docs/decisions/0001):
// on the CPU a register of P rows, a Pack; on a device one row, a Lane, and the team has P of them.
//   each_panel(team, from, to, body)   body(p, rows): the rows of panel p; what it does with one row needs no other
//   each_part(team, from, to, body)    body(p, rows, first, step): its columns first, first + step, ... alone
//   each_run(team, shape, n, body)     body(run): a column's entries in `rows`, to read, change and write
//   each_entry(team, shape, n, body)   body(i, j, place): one entry at a time on every team
//   column_sums, running_sums, solve_tile: what rows tell each other
// `rows` loads, stores and masks; its values add and multiply. Only each_entry and solve_tile end in step.
#pragma once
#include "kernels/device/pack.hpp"
#include "kernels/device/storage.hpp"
#include "kernels/device/team.hpp"

namespace kilochain {

/// One row of a panel, with Pack's operations.
template <class Real>
struct Lane {
  using Type = Real;
  Index lane = 0;
  KC_INLINE Index last() const { return lane; }
  KC_INLINE Real load(const Real* p) const { return p[lane]; }
  KC_INLINE void store(Real* p, Real v) const { p[lane] = v; }
  /// N columns of a factor with panels of N rows; they stay in memory, where a device has them at hand.
  template <int N>
  struct Columns {
    const Real* row;
    KC_INLINE Real operator[](int k) const { return row[k * N]; }
  };
  template <int N>
  KC_INLINE Columns<N> columns(const Real* p) const {
    return {p + lane};
  }
  static KC_INLINE Real all(Real v) { return v; }
  static KC_INLINE Real sqrt(Real v) { return std::sqrt(v); }
  KC_INLINE Real keep_from(Real v, Index first) const { return lane >= first ? v : Real(0); }
  KC_INLINE Real keep_only(Real v, Index which) const { return lane == which ? v : Real(0); }
};

/// Entries (first + lane, j) of a factor, for the lanes of `rows`; of a diagonal factor entry (j, j).
template <class Rows>
struct Run {
  using Type = typename Rows::Type;
  Rows rows;
  Index first, j;
  std::size_t place;  ///< of (first, j)

  template <class Real>
  KC_INLINE Type load(const Factor<Real>& A) const {
    KC_CHECK(place + std::size_t(rows.last()) < A.length);
    return rows.load(A.data + place);
  }
  template <class Real>
  KC_INLINE void store(const Factor<Real>& A, Type v) const {
    KC_CHECK(place + std::size_t(rows.last()) < A.length);
    rows.store(A.data + place, v);
  }
  /// The source's matrix here (kernels/signal.hpp).
  template <class Source>
  KC_INLINE Type of(const Source& source) const {
    if constexpr (requires { rows.lane; })
      return source(first + rows.lane, j, place + std::size_t(rows.lane));
    else
      return source.column(first, j, place);
  }
  /// v, and zero above the diagonal.
  KC_INLINE Type lower(Type v) const { return j >= first ? rows.keep_from(v, j - first) : v; }
  /// v below the diagonal, v + d on it, and zero above.
  KC_INLINE Type lower_plus(Type v, Type d) const {
    return j >= first ? rows.keep_from(v, j - first) + rows.keep_only(d, j - first) : v;
  }
  /// L_jj >= least, where it is in this run.
  template <class Real>
  KC_INLINE void floor_diagonal(const Factor<Real>& L, Real least) const {
    if (j < first) return;
    Real& entry = L[place + std::size_t(j - first)];
    if (!(entry >= least)) entry = least;
  }
};

/// body(p, rows) for the rows of panels from <= p < to.
template <class Real, class Team, class F>
KC_INLINE void each_panel(const Team& team, Index from, Index to, F&& body) {
  if constexpr (Team::on_host) {
    for (Index p = from; p < to; ++p) body(p, Pack<Real>{});
  } else {
    constexpr int P = Team::template panel<Real>;
    team.for_each((to - from) * P, [&](Index e) { body(from + e / P, Lane<Real>{e % P}); });
  }
}

/// As each_panel, where a row's columns may be worked on apart; a team that is spread shares them out.
template <class Real, class Team, class F>
KC_INLINE void each_part(const Team& team, Index from, Index to, F&& body) {
  if constexpr (is_spread<Team>) {
    constexpr int P = Team::template panel<Real>;
    const Index rows = (to - from) * P, parts = rows < team.size() ? team.size() / (rows > 0 ? rows : 1) : 1;
    team.for_each(rows * parts,
                  [&](Index e) { body(from + e / (P * parts), Lane<Real>{e % P}, e / P % parts, parts); });
  } else {
    each_panel<Real>(team, from, to, [&](Index p, auto rows) { body(p, rows, Index(0), Index(1)); });
  }
}

/// Row and column of place t of a lower triangle, row by row: t = row (row + 1)/2 + column, below 2^24.
KC_INLINE void triangle_place(Index t, Index& row, Index& column) {
  row = static_cast<Index>(sqrt(2.0f * static_cast<float>(t) + 0.25f) - 0.5f);
  if (row * (row + 1) / 2 > t) --row;
  if ((row + 1) * (row + 2) / 2 <= t) ++row;
  column = t - row * (row + 1) / 2;
}

/// body(i, j, place) for every entry of a factor, in the order of memory; tile by tile where the team is spread.
template <class Real, class Team, class F>
KC_HD void each_entry(const Team& team, FactorShape shape, Index n, F&& body) {
  constexpr int P = Team::template panel<Real>;
  const Index panels = (n + P - 1) / P;
  const auto at = [&](Index p, Index q, Index e) {
    const Index i = p * P + e % P, j = q * P + e / P;
    if (i < n && j <= i) body(i, j, panel_offset<P>(p) + std::size_t(q) * P * P + std::size_t(e));
  };
  if (shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { body(i, i, std::size_t(i)); });
  } else if constexpr (is_spread<Team>) {
    team.for_each(panels * (panels + 1) / 2 * P * P, [&](Index e) {
      Index p, q;
      triangle_place(e / (P * P), p, q);
      at(p, q, e % (P * P));
    });
  } else {
    for (Index p = 0; p < panels; ++p) team.for_each(P * panel_columns<P>(p, n), [&](Index e) { at(p, 0, e); });
  }
  team.sync();
}

/// body(run, of_rows(rows, first)) for every run of a factor: what of_rows gives is the same for all columns, and is
/// read before its rows' diagonal entries are written. On the CPU runs hold entries above the diagonal and past n too.
template <class Real, class Team, class G, class F>
KC_INLINE void each_run(const Team& team, FactorShape shape, Index n, G&& of_rows, F&& body) {
  const auto entry = [&](Index i, Index j, std::size_t place) {
    body(Run<Lane<Real>>{{0}, i, j, place}, of_rows(Lane<Real>{}, i));
  };
  if constexpr (Team::on_host) {
    constexpr int P = Team::template panel<Real>;
    if (shape == FactorShape::diagonal) {
      team.for_each(n, [&](Index i) { entry(i, i, std::size_t(i)); });
      return;
    }
    for (Index p = 0; p * P < n; ++p) {
      const auto shared = of_rows(Pack<Real>{}, p * P);
      const std::size_t base = panel_offset<P>(p);
      const Index columns = panel_columns<P>(p, n);
      for (Index j = 0; j < columns; ++j) body(Run<Pack<Real>>{{}, p * P, j, base + std::size_t(j) * P}, shared);
    }
  } else if constexpr (is_spread<Team>) {
    each_entry<Real>(team, shape, n, [&](Index i, Index j, std::size_t place) {
      if (i != j) entry(i, j, place);
    });
    team.for_each(n, [&](Index i) { entry(i, i, diagonal_index<Team::template panel<Real>>(shape, i)); });
    team.sync();
  } else {
    each_entry<Real>(team, shape, n, entry);
  }
}

template <class Real, class Team, class F>
KC_INLINE void each_run(const Team& team, FactorShape shape, Index n, F&& body) {
  each_run<Real>(
      team, shape, n, [](auto, Index) { return 0; }, [&](auto run, int) { body(run); });
}

/// L_ii of the rows from `first`; 1 in rows >= n.
template <class Team, class Rows, class Real>
KC_INLINE typename Rows::Type diagonals(Rows rows, Factor<Real> L, Index first, Index n) {
  constexpr int P = Team::template panel<Real>;
  if constexpr (requires { rows.lane; }) {
    return L[diagonal_index<P>(L.shape, first + rows.lane)];
  } else {
    Real out[P];
    for (Index l = 0; l < P; ++l) out[l] = first + l < n ? L[factor_index<P>(first + l, first + l)] : Real(1);
    return rows.load(out);
  }
}

/// out[c] for c < W: the sum over the rows of panels from <= p < to of row(p, rows)(c).
template <int W, class Real, class Team, class F>
KC_INLINE void column_sums(const Team& team, Index from, Index to, F&& row, Real* out) {
  constexpr int P = Team::template panel<Real>;
  if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    typename Vec::Type part[W];
    const auto top = row(from, Vec{});
    for (int c = 0; c < W; ++c) part[c] = top(c);
    for (Index p = from + 1; p < to; ++p) {
      const auto next = row(p, Vec{});
      for (int c = 0; c < W; ++c) part[c] += next(c);
    }
    if constexpr (W == P)
      Vec::store(out, Vec::sums(part));
    else
      for (int c = 0; c < W; ++c) out[c] = Vec::sum(part[c]);
  } else {
    const auto of_row = [&](Index e) { return row(from + e / P, Lane<Real>{e % P}); };
    if constexpr (sums_columns<Team>) {
      team.template sums<Real, W>((to - from) * P, of_row, [&](Index c, Real s) { out[c] = s; });
    } else {
      for (int c = 0; c < W; ++c) {
        const Real s = team.template sum<Real>((to - from) * P, [&](Index e) { return of_row(e)(c); });
        team.single([&] { out[c] = s; });
      }
    }
  }
}

/// give(rows, j, before, with) for places j < n: start + f(0) + ... + f(j - 1), and that with f(j). Returns the whole
/// sum. On the CPU f and give are of P places from j at once, f zero past n.
template <class Real, class Team, class F, class G>
KC_INLINE Real running_sums(const Team& team, Real start, Index n, F&& f, G&& give) {
  Real sum = start;
  if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    for (Index j = 0; j < n; j += Vec::size) {
      const auto with = Vec::all(sum) + Vec::running_sums(f(Vec{}, j)),
                 before = Vec::template shift_up<1>(with) + Vec::keep_only(Vec::all(sum), 0);
      sum = with[Vec::size - 1];
      give(Vec{}, j, before, with);
    }
  } else {
    constexpr Lane<Real> one;
    team.for_each(n, [&](Index j) {  // the same sum in the same order for each lane
      Real before = start;
      for (Index k = 0; k < j; ++k) before += f(one, k);
      give(one, j, before, before + f(one, j));
    });
    for (Index k = 0; k < n; ++k) sum += f(one, k);
  }
  return sum;
}

/// Solves L_pp y = right(rows) for the rows of one panel; y into `out`. tile: the first column of L_pp. size: rows that
/// are there. Ends in step.
template <class Real, class Team, class F>
KC_INLINE void solve_tile(const Team& team, const Real* tile, F&& right, Real* out, Index size) {
  constexpr int P = Team::template panel<Real>;
  if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    auto rest = right(Vec{});
    for (Index j = 0; j < size; ++j) {  // the column holds zeros above its diagonal
      const Real pivot = rest[j] / tile[j * P + j];
      rest -= Vec::load(tile + j * P) * pivot;
      out[j] = pivot;
    }
  } else {
    team.for_each(P, [&](Index l) { out[l] = right(Lane<Real>{l}); });
    team.sync();
    for (Index j = 0; j < size; ++j) {
      const Real pivot = out[j] / tile[j * P + j];
      team.sync();
      team.single([&] { out[j] = pivot; });
      team.for_each(size - j - 1, [&](Index r) { out[j + 1 + r] -= tile[j * P + j + 1 + r] * pivot; });
      team.sync();
    }
  }
}

}  // namespace kilochain
