// Whole files in memory, gzipped or not: what every reader of data starts from.
#pragma once
#include <string>

namespace kilochain {

/// A file that is none: bytes of this program, which every reader of data finds under `name` while the object lives.
class FileInMemory {
 public:
  /// Throws Error (usage) when that name is taken.
  FileInMemory(std::string name, std::string bytes);
  ~FileInMemory();
  FileInMemory(const FileInMemory&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// All bytes of the file, decompressed if it is gzipped.
/// Throws Error (ExitStatus::data) when it is missing, a directory, unreadable, a truncated or damaged gzip stream.
std::string read_bytes(const std::string& path);

}  // namespace kilochain
