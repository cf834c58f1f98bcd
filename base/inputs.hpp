// What a run has read, by name and by what was in it: a run that is resumed has to read the same.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kilochain {

/// 64 bits that tell contents apart, not a cryptographic hash. Each step is one to one in the hash and in the word, so
/// that one word of eight bytes that differs is always seen.
std::uint64_t hash_bits(std::string_view bytes, std::uint64_t seed = 0);
/// The same as 16 hexadecimal digits.
std::string hash_text(std::string_view bytes);

/// A name, and 16 hexadecimal digits of what was read under it.
using Input = std::pair<std::string, std::string>;

/// While one lives, what its thread reads is noted; each name and content once.
class NoteInputs {
 public:
  NoteInputs();
  ~NoteInputs();
  NoteInputs(const NoteInputs&) = delete;
  const std::vector<Input>& noted() const { return noted_; }

 private:
  friend void note_input(const std::string& name, std::string_view bytes);
  std::vector<Input> noted_;
  NoteInputs* const before_;
};

/// Every reader of data calls one of these. Cost: a multiplication for 8 bytes, where somebody takes note.
void note_input(const std::string& name, std::string_view bytes);
void note_file(const std::string& path);

/// Throws Error (data), naming what differs, unless the same was read. `subject`: of the message.
void require_same_inputs(const std::string& subject, const std::vector<Input>& now, const std::vector<Input>& before);

}  // namespace kilochain
