// How many threads can run at once for this process.
#pragma once
#include <string>

namespace kilochain {

/// The cores that its affinity mask names, or fewer where the quota of its control group (Linux,
/// version 1 or 2) is less, rounded up; at least 1.
int usable_cores();

/// The quota in cores, rounded up, of a process whose /proc/self/cgroup says `groups` where control groups are mounted
/// in `root`; 0: none.
int quota_of(const std::string& groups, const std::string& root);

}  // namespace kilochain
