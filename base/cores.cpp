#include "base/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace kilochain {
namespace {

namespace fs = std::filesystem;

/// "max" and -1 are no quota.
double number_in(const fs::path& file, double& period) {
  std::ifstream in(file);
  double quota = 0;
  if (!(in >> quota) || quota <= 0) return 0;
  in >> period;  // of version 2, behind it
  return quota;
}

double cores_of(const fs::path& folder) {
  double period = 100000, none = 0;
  if (const double quota = number_in(folder / "cpu.max", period); quota > 0) return quota / period;
  const double quota = number_in(folder / "cpu.cfs_quota_us", none);
  if (const double given = number_in(folder / "cpu.cfs_period_us", none); given > 0) period = given;
  return quota / period;
}

}  // namespace

int quota_of(const std::string& groups, const std::string& root) {
  double least = 0;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // number:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    fs::path mounted = root;
    if (controllers.find(",cpu,") != std::string::npos)
      mounted /= "cpu";
    else if (controllers != ",,")
      continue;
    // The group's own quota and those of the groups that it is in; in a container the path may lead nowhere.
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
      const double cores = cores_of(mounted / group);
      if (cores > 0 && (least == 0 || cores < least)) least = cores;
      if (group.empty()) break;
    }
  }
  return static_cast<int>(std::ceil(least));
}

int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const int cores = sched_getaffinity(0, sizeof mask, &mask) == 0
                        ? CPU_COUNT(&mask)
                        : static_cast<int>(std::thread::hardware_concurrency());
  std::ifstream in("/proc/self/cgroup");
  const int quota = quota_of(std::string(std::istreambuf_iterator<char>(in), {}), "/sys/fs/cgroup");
  return std::max(1, quota > 0 ? std::min(cores, quota) : cores);
}

}  // namespace kilochain
