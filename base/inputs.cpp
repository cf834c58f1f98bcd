#include "base/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace kilochain {
namespace {

thread_local NoteInputs* noting = nullptr;

/// "german.csv 0123456789abcdef" of those whose content is not among the others'.
std::string without(const std::vector<Input>& inputs, const std::vector<Input>& others) {
  std::string out;
  for (const auto& [name, hash] : inputs)
    if (std::none_of(others.begin(), others.end(), [&](const Input& other) { return other.second == hash; }))
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, hash);
  return out.empty() ? "nothing" : out;
}

}  // namespace

std::uint64_t hash_bits(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = seed ^ 14695981039346656037u ^ bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::string hash_text(std::string_view bytes) { return fmt::format("{:016x}", hash_bits(bytes)); }

NoteInputs::NoteInputs() : before_(noting) { noting = this; }
NoteInputs::~NoteInputs() { noting = before_; }

void note_input(const std::string& name, std::string_view bytes) {
  if (!noting) return;
  Input input(name, hash_text(bytes));
  auto& noted = noting->noted_;
  if (std::find(noted.begin(), noted.end(), input) == noted.end()) noted.push_back(std::move(input));
}

void note_file(const std::string& path) {
  if (!noting) return;
  std::ifstream in(path, std::ios::binary);
  note_input(path, std::string(std::istreambuf_iterator<char>(in), {}));
}

void require_same_inputs(const std::string& subject, const std::vector<Input>& now, const std::vector<Input>& before) {
  const std::string added = without(now, before), missed = without(before, now);
  require(added == missed, ExitStatus::data, subject + ": the target is not the one that the draws are of",
          fmt::format("{} was read, and {} when the run began", added, missed),
          "Have its data changed since, or is this another file's?");
}

}  // namespace kilochain
