// Tables in place of code: a State or an Adaptation names each of its fields (kernels/device/storage.hpp) once,
//   visit("x", s.x, Keep::yes);   visit("L", a.L, s.factor, Keep::yes);   visit("tree", s.tree, num_slots, Keep::no);
// and from the table the host counts bytes, binds, saves and loads; no sampler has code for any of these. Lengths
// follow from the types: a row has one element for each coordinate. A table that leaves a field out (settings decide)
// leaves it null. Over all chains a field is (chain, length padded to 32), a number alone unpadded: one team owns one
// row, and the same memory is a column-major matrix for GEMM. Padding is zero at the start; nothing else may be written
// there.
#pragma once
#include "kernels/device/storage.hpp"

namespace kilochain {

/// yes: part of a chain's state between iterations, which is what a checkpoint holds.
/// no: workspace of one iteration; the next may not rely on what it finds there.
enum class Keep { yes, no };

/// What every visitor of a table shares: the lengths that the types stand for, for one chain of `dim` coordinates whose
/// factors lie in panels of P rows. Self::field(name, pointer, length, padded length, keep) does the rest.
template <int P, class Self>
struct FieldVisitor {
  Index dim;

  template <class T>
  KC_INLINE void operator()(const char* name, Scalar<T>& f, Keep keep) {
    self().field(name, f.data, 1, 1, keep);
  }
  /// Numbers that lie beside each other, so that a kernel holds one pointer for all of them.
  template <class T, class... More>
  KC_INLINE void operator()(const char* name, Keep keep, Scalar<T>& first, More&... more) {
    constexpr std::size_t count = 1 + sizeof...(More);
    self().field(name, first.data, count, count, keep);
    T* next = first.data;
    ((more.data = ++next), ...);
  }
  template <class T>
  KC_INLINE void operator()(const char* name, Numbers<T>& f, Index count, Keep keep) {
    T* data = f.data;
    self().field(name, data, std::size_t(count), padded(std::size_t(count)), keep);
    f = {data, std::size_t(count)};
  }
  template <class T>
  KC_INLINE void operator()(const char* name, Row<T>& f, Keep keep) {
    T* data = f.data;
    self().field(name, data, std::size_t(dim), padded(std::size_t(dim)), keep);
    f = {data, std::size_t(dim)};
  }
  template <class T>
  KC_INLINE void operator()(const char* name, Rows<T>& f, Index count, Keep keep) {
    const std::size_t length = std::size_t(count) * padded(std::size_t(dim));
    T* data = f.data;
    self().field(name, data, length, length, keep);
    f = {data, length};
  }
  template <class T>
  KC_INLINE void operator()(const char* name, Factor<T>& f, FactorShape shape, Keep keep) {
    KC_CHECK(keep == Keep::yes);  // the zeros above its diagonal are there from the start, and nobody writes them again
    const std::size_t length = factor_size<P>(dim, shape);
    T* data = f.data;
    self().field(name, data, length, padded(length), keep);
    f = {data, length, shape};
  }

 private:
  KC_INLINE Self& self() { return static_cast<Self&>(*this); }
};

/// Points the fields of one chain into the memory that `chains` of them share. `offset`: the bytes taken so far.
template <int P>
struct FieldBinder : FieldVisitor<P, FieldBinder<P>> {
  char* base;
  std::size_t chains, chain, offset = 0;
  KC_INLINE FieldBinder(char* base_, Index dim, std::size_t chains_, std::size_t chain_)
      : FieldVisitor<P, FieldBinder<P>>{dim}, base(base_), chains(chains_), chain(chain_) {}

  template <class T>
  KC_INLINE void field(const char*, T*& pointer, std::size_t, std::size_t row, Keep) {
    pointer = reinterpret_cast<T*>(base + offset) + row * chain;
    offset += (row * chains * sizeof(T) + 127) / 128 * 128;
  }
};

/// Counts what is not finite in the bound fields that a chain keeps: each lane of the team its own share.
template <int P, class Team>
struct NonFiniteCounter : FieldVisitor<P, NonFiniteCounter<P, Team>> {
  const Team& team;
  float count = 0;
  KC_INLINE NonFiniteCounter(Index dim, const Team& team_)
      : FieldVisitor<P, NonFiniteCounter<P, Team>>{dim}, team(team_) {}

  template <class T>
  KC_INLINE void field(const char*, T* first, std::size_t length, std::size_t, Keep keep) {
    if (keep == Keep::yes && first)
      team.for_each(Index(length), [&](Index i) { count += first[i] - first[i] == T(0) ? 0 : 1; });
  }
  /// Whether there is none, the same answer on the whole team.
  KC_INLINE bool all_finite() const {
    return team.template sum<float>(Team::lanes, [&](Index) { return count; }) == 0;
  }
};

}  // namespace kilochain
