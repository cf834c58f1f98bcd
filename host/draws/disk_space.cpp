#include "host/draws/disk_space.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

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

/// Whether a lock of that kind would have to wait.
bool is_locked(const std::string& path, int kind) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.fd >= 0 && ::flock(file.fd, kind | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

std::string followed(std::string path) {
  std::error_code none;
  for (int links = 0; links < 40; ++links) {
    const std::filesystem::path to = std::filesystem::read_symlink(path, none);
    if (none) break;
    path = (std::filesystem::path(path).parent_path() / to).string();  // `to` alone, where it is absolute
  }
  return path;
}

std::string why_not_writable(const std::string& path) {
  struct stat before {};
  const bool existed = ::stat(path.c_str(), &before) == 0;
  if (existed && S_ISDIR(before.st_mode)) return std::strerror(EISDIR);
  if (existed && !S_ISREG(before.st_mode)) return "not a regular file";
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!existed) return ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
  if (::access(path.c_str(), W_OK) != 0) return std::strerror(errno);
  return may_be_draws(path) ? "" : "the file is there already and holds something else than draws";
}

bool is_open_elsewhere(const std::string& path) { return is_locked(path, LOCK_EX); }
bool is_being_written(const std::string& path) { return is_locked(path, LOCK_SH); }

std::string rename_unlocked(const std::string& made, const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.fd < 0 && errno != ENOENT) return std::strerror(errno);
  if (file.fd < 0) {  // a second name takes nobody's place; where files have only one, nobody is hoped for
    if (::link(made.c_str(), path.c_str()) == 0) return ::unlink(made.c_str()) == 0 ? "" : std::strerror(errno);
    if (errno == EEXIST) return "another program has just made it";
    return ::rename(made.c_str(), path.c_str()) == 0 ? "" : std::strerror(errno);
  }
  // Held until the name is another's: of two programs that come here for the same file one finds it locked.
  if (::flock(file.fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return "another program has it open";
  struct stat held {};
  if (::fstat(file.fd, &held) != 0) return std::strerror(errno);
  if (identity_of(path) != FileIdentity{held.st_dev, held.st_ino}) return "another program has just made it";
  return ::rename(made.c_str(), path.c_str()) == 0 ? "" : std::strerror(errno);
}

FileIdentity identity_of(const std::string& path) {
  struct stat now {};
  return ::stat(path.c_str(), &now) == 0 ? FileIdentity{now.st_dev, now.st_ino} : FileIdentity{};
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
