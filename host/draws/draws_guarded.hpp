// Failures while a file of draws is written or read, as errors that say what could not be.
#pragma once
#include <algorithm>

#include "base/error.hpp"
#include "host/draws/draws_file.hpp"
#include "host/draws/journal.hpp"
#include "host/draws/netcdf.hpp"
#include "host/draws/unbroken.hpp"

namespace kilochain {

template <class Body>
void DrawsWriter::guarded(const std::string& what, Body body) {
  const auto safe = [&] {
    return std::to_string(std::max(written_, on_disk_)) + " draws of each chain are safely in the file";
  };
  require(file_ >= 0 && !lost_, ExitStatus::output, path_ + ": " + what + " cannot be written",
          "the file is closed or an earlier write failed; " + safe(), "Run again with another --output?");
  const auto lock = netcdf::alone();
  const Unbroken unbroken;
  try {
    body();
    if (journal_) journal_->commit();
  } catch (const netcdf::Failure& failure) {
    lost_ = true;
    throw Error(ExitStatus::output, path_ + ": " + what + " could not be written",
                netcdf::reason(failure.status) + "; " + safe(), "Is the disk still there, and not full?");
  }
}

template <class Body>
auto DrawsReader::guarded(const std::string& what, Body body) const -> decltype(body()) {
  const auto lock = netcdf::alone();
  try {
    return body();
  } catch (const netcdf::Failure& failure) {
    throw Error(ExitStatus::data, path_ + ": " + what + " cannot be read",
                netcdf::reason(failure.status, "damaged, cut short, or no NetCDF 4"),
                "Was the file made by kilochain sample, and copied whole?");
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {  // of a value that is none
    throw Error(ExitStatus::data, path_ + ": " + what + " cannot be read", "a value in its header is of another kind",
                "Was the file made by kilochain sample, and copied whole?");
  }
}

}  // namespace kilochain
