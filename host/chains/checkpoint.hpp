// Checkpoints of chains: the fields marked Keep::yes of every chain and the host's record of it, by name, nothing else.
//   header, then for each field: name, copies, length of one, bytes of an element, elements. Numbers are 64 bits, as
//   they lie.
// Promise: chains that load what others of the same sampler, settings, precision and backend have saved go on with the
// same bits; anything else is an Error that names the field, and changes nothing. Not promised: other machines' byte
// orders.
#pragma once
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "kernels/fields.hpp"

namespace kilochain {

/// Calls f(name, first, length, row, keep) for each field of a table: chain c's elements begin at first + c * row.
template <int P, class F>
struct FieldWalker : FieldVisitor<P, FieldWalker<P, F>> {
  char* base;
  std::size_t chains, offset = 0;
  F f;
  FieldWalker(char* base_, Index dim, std::size_t chains_, F f_)
      : FieldVisitor<P, FieldWalker<P, F>>{dim}, base(base_), chains(chains_), f(f_) {}

  template <class T>
  void field(const char* name, T*&, std::size_t length, std::size_t row, Keep keep) {
    f(name, reinterpret_cast<T*>(base + offset), length, row, keep);
    offset += (row * chains * sizeof(T) + 127) / 128 * 128;
  }
};

/// Counts the bytes of a chain that its checkpoint has.
template <int P>
struct SavedBytes : FieldVisitor<P, SavedBytes<P>> {
  std::size_t bytes = 0;
  KC_INLINE explicit SavedBytes(Index dim) : FieldVisitor<P, SavedBytes<P>>{dim} {}

  template <class T>
  KC_INLINE void field(const char*, T*&, std::size_t length, std::size_t, Keep keep) {
    if (keep == Keep::yes) bytes += length * sizeof(T);
  }
};

/// What no algorithm may take for a value: NaN, or an absurd integer.
template <class T>
constexpr KC_INLINE T poison() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::quiet_NaN();
  else
    return static_cast<T>(-1234567);
}

/// Writes poison over the workspace of one chain, padding left alone; the fields must be bound.
template <int P, class Team>
struct FieldPoison : FieldVisitor<P, FieldPoison<P, Team>> {
  Team team;
  KC_INLINE FieldPoison(Index dim, const Team& team_) : FieldVisitor<P, FieldPoison<P, Team>>{dim}, team(team_) {}

  template <class T>
  KC_INLINE void field(const char*, T*& pointer, std::size_t length, std::size_t, Keep keep) {
    if (keep == Keep::no && pointer)
      team.for_each(static_cast<Index>(length), [p = pointer](Index i) { p[i] = poison<T>(); });
  }
};

/// Appends fields to a checkpoint.
class CheckpointWriter {
 public:
  static constexpr char magic[] = "kilochain chains 1";
  explicit CheckpointWriter(const std::string& what) { put_text(magic), put_text(what); }
  template <class T>
  void field(const char* name, const T* first, std::size_t copies, std::size_t length, std::size_t row) {
    put_text(name);
    for (const std::uint64_t v : {copies, length, sizeof(T)}) put(&v, sizeof v);
    for (std::size_t c = 0; c < copies; ++c) put(first + c * row, length * sizeof(T));
  }
  std::vector<char> bytes() && { return std::move(bytes_); }

 private:
  void put(const void* from, std::size_t size) {
    const char* p = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), p, p + size);
  }
  void put_text(const std::string& text) {
    const std::uint64_t size = text.size();
    put(&size, sizeof size), put(text.data(), size);
  }
  std::vector<char> bytes_;
};

/// Takes fields out of a checkpoint in their order. Throws Error (data) for one that is not what is asked for.
class CheckpointReader {
 public:
  CheckpointReader(const std::vector<char>& bytes, const std::string& what) : bytes_(bytes) {
    if (text("the header") != CheckpointWriter::magic)
      refuse("the header", "not of these chains, or of another version");
    const std::string of = text("the header");
    if (of != what) refuse("the header", "of " + of + ", these chains are " + what);
  }
  /// The elements of copy after copy, at any alignment.
  const char* field(const char* name, std::size_t copies, std::size_t length, std::size_t element) {
    const std::string found = text(name);
    if (found != name) refuse(name, "field " + found + " stands in its place");
    const std::uint64_t has[] = {number(name), number(name), number(name)};
    const auto shape = [](std::uint64_t c, std::uint64_t n, std::uint64_t size) {
      return std::to_string(c) + " x " + std::to_string(n) + " of " + std::to_string(size) + " bytes";
    };
    if (has[0] != copies || has[1] != length || has[2] != element)
      refuse(name, shape(has[0], has[1], has[2]) + ", these chains have " + shape(copies, length, element));
    return take(name, copies * length * element);
  }
  void end() {
    if (at_ != bytes_.size())
      refuse("its end", std::to_string(bytes_.size() - at_) + " bytes more than these chains have");
  }

 private:
  const char* take(const char* name, std::uint64_t size) {
    if (size > bytes_.size() - at_) refuse(name, "it ends after " + std::to_string(bytes_.size()) + " bytes");
    const char* from = bytes_.data() + at_;
    at_ += size;
    return from;
  }
  std::uint64_t number(const char* name) {
    std::uint64_t v = 0;
    std::memcpy(&v, take(name, sizeof v), sizeof v);
    return v;
  }
  std::string text(const char* name) {
    const std::uint64_t size = number(name);
    const char* from = take(name, size);
    return {from, from + size};
  }
  [[noreturn]] static void refuse(const std::string& name, const std::string& why) {
    throw Error(ExitStatus::data, "the checkpoint does not fit these chains", name + ": " + why,
                "Load it into chains of the same sampler, settings, target, precision and device?");
  }
  const std::vector<char>& bytes_;
  std::size_t at_ = 0;
};

}  // namespace kilochain
