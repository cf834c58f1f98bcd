#include "host/draws/journal.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/inputs.hpp"
#include "host/draws/disk_space.hpp"
#include "host/draws/netcdf.hpp"

namespace kilochain {
namespace {

struct Header {
  std::uint64_t number, whole, hash;
};
struct Record {
  std::uint64_t at, length, hash;
};
constexpr std::uint64_t kBeginning = 4096;

/// Of the file's beginning and of what else the header says.
std::uint64_t hash_of_header(std::uint64_t number, std::uint64_t whole, std::string_view beginning) {
  return hash_bits(beginning, number * 0x9e3779b97f4a7c15u + whole);
}

/// Of a record and of the change that it belongs to: what an earlier change left behind it is none.
std::uint64_t hash_of_record(std::uint64_t number, std::uint64_t at, std::string_view bytes) {
  return hash_bits(bytes, number * 0x9e3779b97f4a7c15u + at);
}

bool read_all(int fd, void* to, std::uint64_t length, std::uint64_t at) {
  for (auto* byte = static_cast<char*>(to); length > 0;) {
    const ssize_t got = ::pread(fd, byte, length, static_cast<off_t>(at));
    if (got <= 0) return false;
    byte += got, at += got, length -= got;
  }
  return true;
}

bool write_all(int fd, const void* from, std::uint64_t length, std::uint64_t at) {
  for (auto* byte = static_cast<const char*>(from); length > 0;) {
    const ssize_t put = ::pwrite(fd, byte, length, static_cast<off_t>(at));
    if (put <= 0) return false;
    byte += put, at += put, length -= put;
  }
  return true;
}

std::uint64_t size_of(int fd) {
  struct stat now {};
  return ::fstat(fd, &now) == 0 ? now.st_size : 0;
}

std::string journal_of(const std::string& path) { return path + ".journal"; }

/// The file of that identity among those that HDF5 has open by its driver for POSIX files; the driver's own structure
/// of an open file begins with H5FD_t, and the descriptor, whose address HDF5 tells, is behind it.
H5FD_t* open_file(const FileIdentity& identity, int& fd) {
  std::vector<hid_t> files(std::max<ssize_t>(0, H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_FILE)));
  if (!files.empty()) H5Fget_obj_ids(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_FILE, files.size(), files.data());
  for (const hid_t file : files) {
    const hid_t access = H5Fget_access_plist(file);
    const bool plain = H5Pget_driver(access) == H5FD_SEC2;
    H5Pclose(access);
    void* handle = nullptr;
    if (!plain || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0) continue;
    struct stat now {};
    fd = *static_cast<int*>(handle);
    if (::fstat(fd, &now) != 0 || FileIdentity{now.st_dev, now.st_ino} != identity) continue;
    auto* const open = reinterpret_cast<H5FD_t*>(static_cast<char*>(handle) - sizeof(H5FD_t));
    if (open->driver_id == H5FD_SEC2) return open;
  }
  return nullptr;
}

}  // namespace

/// The class of the driver for one file: HDF5 finds it in front of what belongs to us.
struct Journal::Driver {
  H5FD_class_t ours;
  const H5FD_class_t* theirs;
  Journal* journal;

  static Driver& of(const H5FD_t* file) { return *reinterpret_cast<Driver*>(const_cast<H5FD_class_t*>(file->cls)); }
  static herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t properties, haddr_t at, size_t size, const void* bytes) {
    const Driver& d = of(file);
    return !d.journal || d.journal->note(at, size) ? d.theirs->write(file, type, properties, at, size, bytes) : -1;
  }
  static herr_t truncate(H5FD_t* file, hid_t properties, hbool_t closing) {
    const Driver& d = of(file);
    const haddr_t end = d.theirs->get_eoa(file, H5FD_MEM_DEFAULT);
    const bool cuts = d.journal && end < d.journal->whole_;
    return !cuts || d.journal->note(end, d.journal->whole_ - end) ? d.theirs->truncate(file, properties, closing) : -1;
  }
};

Journal::Journal(const std::string& path)
    : file_path_(path), path_(journal_of(path)), identity_(identity_of(path)), driver_(std::make_unique<Driver>()) {
  H5FD_t* const open = open_file(identity_, file_);
  if (open == nullptr) throw netcdf::Failure{NC_EHDFERR};
  journal_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (journal_ < 0) throw netcdf::Failure{errno};
  whole_ = size_of(file_);
  *driver_ = {*open->cls, open->cls, this};
  driver_->ours.write = &Driver::write;
  driver_->ours.truncate = &Driver::truncate;
  open->cls = &driver_->ours;
}

Journal::~Journal() {
  if (journal_ < 0) return;
  if (int fd = -1; open_file(identity_, fd)) driver_.release()->journal = nullptr;  // it could not be closed
  ::close(journal_);
  try {
    roll_back(file_path_);
  } catch (const std::exception&) {  // the next one who opens the file is told
  }
}

bool Journal::begin() {
  std::string beginning(std::min(kBeginning, whole_), '\0');
  if (!read_all(file_, beginning.data(), beginning.size(), 0)) return false;
  end_ = sizeof(Header);
  ++number_;
  const Header header{number_, whole_, hash_of_header(number_, whole_, beginning)};
  return changed_ = write_all(journal_, &header, sizeof header, 0);
}

bool Journal::note(std::uint64_t at, std::uint64_t length) {
  if (!changed_ && !begin()) return false;
  const std::uint64_t there = std::min(whole_, size_of(file_));  // what was cut off is in the journal already
  if (at >= there) return true;
  std::string record(sizeof(Record) + std::min(length, there - at), '\0');
  char* const bytes = record.data() + sizeof(Record);
  const std::uint64_t noting = record.size() - sizeof(Record);
  if (!read_all(file_, bytes, noting, at)) return false;
  const Record head{at, noting, hash_of_record(number_, at, {bytes, noting})};
  std::memcpy(record.data(), &head, sizeof head);
  const bool noted = write_all(journal_, record.data(), record.size(), end_);
  end_ += record.size();
  return noted;
}

void Journal::commit() {
  const std::uint64_t none = 0;
  if (changed_ && !write_all(journal_, &none, sizeof none, 0)) throw netcdf::Failure{errno};
  changed_ = false;
  whole_ = size_of(file_);
}

void roll_back(const std::string& path) {
  const std::string journal_path = journal_of(path);
  const int journal = ::open(journal_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (journal < 0) return;
  const auto require_done = [&](bool ok, ExitStatus status, const std::string& why, const std::string& fix) {
    if (ok) return;
    ::close(journal);
    throw Error(status, path + ": the change that a killed program has left half done cannot be undone", why, fix);
  };
  Header header{};
  std::vector<std::pair<Record, std::string>> records;
  if (read_all(journal, &header, sizeof header, 0) && header.number != 0) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    require_done(file >= 0, ExitStatus::usage, std::strerror(errno), "May you write it?");
    bool ok = ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    Record record{};
    for (std::uint64_t at = sizeof header, size = size_of(journal); read_all(journal, &record, sizeof record, at);) {
      at += sizeof record;
      if (record.length > size - at || record.at > header.whole || record.length > header.whole - record.at) break;
      std::string bytes(record.length, '\0');
      if (!read_all(journal, bytes.data(), bytes.size(), at)) break;
      if (record.hash != hash_of_record(header.number, record.at, bytes)) break;
      at += record.length;
      records.emplace_back(record, std::move(bytes));
    }
    std::string beginning(std::min(kBeginning, header.whole), '\0');
    ok = ok && read_all(file, beginning.data(), beginning.size(), 0);
    for (auto r = records.rbegin(); r != records.rend(); ++r)
      if (r->first.at < beginning.size())
        std::copy_n(r->second.data(), std::min(r->second.size(), beginning.size() - r->first.at),
                    beginning.data() + r->first.at);
    const bool same = ok && hash_of_header(header.number, header.whole, beginning) == header.hash;
    for (auto r = records.rbegin(); same && ok && r != records.rend(); ++r)
      ok = write_all(file, r->second.data(), r->second.size(), r->first.at);
    ok = same && ok && ::ftruncate(file, static_cast<off_t>(header.whole)) == 0;
    ::close(file);
    require_done(same, ExitStatus::data, journal_path + " is of another file, or the file is in use",
                 "Remove the journal, if it is another file's?");
    require_done(ok, ExitStatus::usage, std::strerror(errno), "May you write it?");
  }
  ::close(journal);
  ::unlink(journal_path.c_str());
}

}  // namespace kilochain
