#include "host/draws/disk_space.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kilochain {
namespace {

struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int fd;
};

/// Whether a file is one that NetCDF made, of its kind 4, or empty.
bool may_be_draws(const std::string& path) {
  constexpr char signature[] = "\x89HDF\r\n\x1a\n";
  constexpr std::size_t length = sizeof(signature) - 1;
  char begins[length];
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = file.fd < 0 ? 0 : ::read(file.fd, begins, length);
  return got == 0 || (got == length && std::memcmp(begins, signature, length) == 0);
}

}  // namespace

std::string why_not_writable(const std::string& path) {
  struct stat before {};
  const bool existed = ::stat(path.c_str(), &before) == 0;
  if (existed && S_ISDIR(before.st_mode)) return std::strerror(EISDIR);
  if (existed && !S_ISREG(before.st_mode)) return "not a regular file";
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (file.fd < 0) return std::strerror(errno);
  if (!existed) ::unlink(path.c_str());
  return may_be_draws(path) ? "" : "the file is there already and holds something else than draws";
}

std::string reserve_disk_space(const std::string& path, std::int64_t bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  struct stat now {};
  if (file.fd < 0 || ::fstat(file.fd, &now) != 0) return std::strerror(errno);
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(now.st_size + bytes) > limit.rlim_cur) {
    return "limit on the size of a file: " + std::to_string(limit.rlim_cur) + " bytes";
  }
#ifdef FALLOC_FL_KEEP_SIZE
  if (::fallocate(file.fd, FALLOC_FL_KEEP_SIZE, now.st_size, bytes) == 0) return "";
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR) return std::strerror(errno);
#endif
  struct statvfs disk {};
  if (::fstatvfs(file.fd, &disk) != 0) return "";  // unknown: let the write find out
  const std::int64_t room = disk.f_bavail * disk.f_frsize;
  return room < bytes ? std::strerror(ENOSPC) : "";
}

void release_disk_space(const std::string& path) {
  struct stat now {};
  // Cutting a file at its own size frees the blocks beyond; a failure costs at most the space of one window.
  if (::stat(path.c_str(), &now) == 0 && ::truncate(path.c_str(), now.st_size) != 0) return;
}

}  // namespace kilochain
