// Disk space ahead of a write, so that a full disk is an error before the write and not damage after it.
#pragma once
#include <cstdint>
#include <string>

namespace kilochain {

/// Where a path leads to: a link's target, also of one that is not there yet.
std::string followed(std::string path);

/// Empty when `path`, no link, can be created, or overwritten and nothing but draws is lost; else why not. Leaves an
/// existing file's content alone.
std::string why_not_writable(const std::string& path);

/// Whether another program has the file `path` open, or is writing it, as its lock says: HDF5 takes one of what it
/// writes, and a shared one of what it reads. False where there is no file, or no locks.
bool is_open_elsewhere(const std::string& path);
bool is_being_written(const std::string& path);

/// Gives the file `made` the name `path`, in one step and unless another program holds a lock on the file that has it.
/// Empty, or why not.
std::string rename_unlocked(const std::string& made, const std::string& path);

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
