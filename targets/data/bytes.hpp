// Whole files in memory, gzipped or not: what every reader of data starts from.
#pragma once
#include <string>

namespace kilochain {

/// All bytes of the file, decompressed if it is gzipped.
/// Throws Error (ExitStatus::data) when it is missing, a directory, unreadable, a truncated or damaged gzip stream.
std::string read_bytes(const std::string& path);

}  // namespace kilochain
