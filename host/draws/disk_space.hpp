// Disk space ahead of a write, so that a full disk is an error before the write and not damage after it.
#pragma once
#include <cstdint>
#include <string>

namespace kilochain {

/// Empty when `path` can be created, or overwritten and nothing but draws is lost; else why not. Leaves an existing file's
/// content alone.
std::string why_not_writable(const std::string& path);

/// Whether another program holds a lock on the file `path`: HDF5 takes one of a file that it writes, and of one that it reads.
/// False where there is no file, or no locks.
bool is_locked(const std::string& path, bool against_writers_alone = false);

/// Makes room for a new file: removes the one that is there, unless another program holds a lock on it. Empty, or why not.
std::string remove_unlocked(const std::string& path);

/// Which file a path leads to, for as long as it exists; a path that leads nowhere has none.
struct FileIdentity {
  std::uint64_t device = 0, number = 0;
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const std::string& path);

/// Sets `bytes` beyond the present end of the file `path` aside, its size unchanged. Empty when there is room, else the
/// reason ("No space left on device", a limit on the file size). Where space cannot be set aside, free space counts.
std::string reserve_disk_space(const std::string& path, std::int64_t bytes);

/// Gives back what was set aside and not used.
void release_disk_space(const std::string& path);

}  // namespace kilochain
