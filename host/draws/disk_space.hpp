// Disk space ahead of a write, so that a full disk is an error before the write and not damage after it.
#pragma once
#include <cstdint>
#include <string>

namespace kilochain {

/// Empty when `path` can be created, or overwritten and nothing but draws is lost; else why not. Leaves an existing file's
/// content alone.
std::string why_not_writable(const std::string& path);

/// Sets `bytes` beyond the present end of the file `path` aside, its size unchanged. Empty when there is room, else the
/// reason ("No space left on device", a limit on the file size). Where space cannot be set aside, free space counts.
std::string reserve_disk_space(const std::string& path, std::int64_t bytes);

/// Gives back what was set aside and not used.
void release_disk_space(const std::string& path);

}  // namespace kilochain
