#include "targets/data/bytes.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>

#include "base/error.hpp"
#include "base/inputs.hpp"

namespace kilochain {
namespace {

struct Memory {
  std::mutex mutex;
  std::map<std::string, std::string> files;
};
Memory& memory() {
  static Memory all;
  return all;
}

}  // namespace

FileInMemory::FileInMemory(std::string name, std::string bytes) : name_(std::move(name)) {
  const std::lock_guard lock(memory().mutex);
  require(memory().files.emplace(name_, std::move(bytes)).second, ExitStatus::usage, "data of that name are there",
          name_, "Choose another name?");
}

FileInMemory::~FileInMemory() {
  const std::lock_guard lock(memory().mutex);
  memory().files.erase(name_);
}

std::string read_bytes(const std::string& path) {
  {
    const std::lock_guard lock(memory().mutex);
    if (const auto it = memory().files.find(path); it != memory().files.end()) {
      note_input(path, it->second);
      return it->second;
    }
  }
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  require(std::filesystem::exists(status), ExitStatus::data, path + ": there is no such file",
          "looked for " + std::filesystem::absolute(path, ignored).string(), "Is the path right?");
  require(!std::filesystem::is_directory(status), ExitStatus::data, path + ": this is a directory", "expected a file",
          "Which of its files is meant?");
  require(std::filesystem::is_regular_file(status) || std::filesystem::is_fifo(status), ExitStatus::data,
          path + ": neither a file nor a pipe", "what it gives may have no end", "Is the path right?");
  errno = 0;
  gzFile file = gzopen(path.c_str(), "rb");
  require(file != nullptr, ExitStatus::data, path + ": the file cannot be opened", std::strerror(errno),
          "May you read it?");
  std::unique_ptr<gzFile_s, int (*)(gzFile)> closer(file, gzclose_r);
  gzbuffer(file, 1 << 17);

  std::string bytes;
  const std::uintmax_t size_on_disk = std::filesystem::is_regular_file(status) ? std::filesystem::file_size(path) : 0;
  std::size_t used = 0;
  // One byte more than a plain file holds, so that the read that meets its end needs no second growth.
  bytes.resize(size_on_disk + 1);
  for (;;) {
    if (used == bytes.size()) bytes.resize(2 * bytes.size() + (1 << 16));
    const std::size_t room = bytes.size() - used;
    const unsigned chunk = static_cast<unsigned>(room < (1u << 30) ? room : (1u << 30));
    const int got = gzread(file, bytes.data() + used, chunk);
    if (got < 0) {
      int code = 0;
      const char* text = gzerror(file, &code);
      const std::string reason = code == Z_ERRNO ? std::strerror(errno) : text;
      throw Error(ExitStatus::data, path + ": the file is damaged or cannot be read",
                  "after " + std::to_string(used) + " bytes: " + reason, "Fetch or make the file again?");
    }
    used += got;
    if (got == 0) break;
  }
  bytes.resize(used);
  // zlib hands out all that a truncated stream holds, and says only on closing that the end was missing.
  require(gzclose_r(closer.release()) == Z_OK, ExitStatus::data, path + ": the gzip stream is truncated",
          std::to_string(size_on_disk) + " bytes compressed, " + std::to_string(used) + " bytes out, then no end",
          "Fetch or make the file again?");
  note_input(path, bytes);
  return bytes;
}

}  // namespace kilochain
