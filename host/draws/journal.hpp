// What HDF5 overwrites in a file of draws, so that a file whose writer was killed is brought back to what it was when
// it was last whole. FILE.journal, while FILE is written:
//   number of the change (0: the file is whole), size of FILE when it was whole, hash of both and of its first 4 kB;
//   then for each write below that size: place, length and hash, the bytes that were there.
// HDF5's own writes are seen because the class of the driver of the open file is replaced by one that notes and then
// does the same. Cost: two writes of the journal for each change and a copy of what is overwritten, which is HDF5's
// tables; nothing is forced to the disk, so a power cut is not covered. One thread at a time writes a file.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "host/draws/disk_space.hpp"

namespace kilochain {

class Journal {
 public:
  /// Watches a file that NetCDF has open for writing, from now on; it is whole. `path`: no link. Throws
  /// netcdf::Failure where that cannot be.
  explicit Journal(const std::string& path);
  /// Once the file is closed; what has not been committed is undone.
  ~Journal();
  Journal(const Journal&) = delete;

  const std::string& path() const { return path_; }
  /// The file is whole again.
  void commit();

 private:
  struct Driver;
  bool note(std::uint64_t at, std::uint64_t length);
  bool begin();

  const std::string file_path_, path_;
  const FileIdentity identity_;
  std::unique_ptr<Driver> driver_;
  int file_ = -1, journal_ = -1;
  std::uint64_t number_ = 0, whole_ = 0, end_ = 0;  ///< of changes; size of the file then; end of the journal
  bool changed_ = false;
};

/// Undoes the change that a killed writer of the file has left half done. Nobody writes it now. Throws Error (data)
/// where the journal is another file's, (usage) where the file may not be written.
void roll_back(const std::string& path);

}  // namespace kilochain
