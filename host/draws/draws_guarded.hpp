// Failures while a file of draws is read, as errors that say what could not be.
#pragma once
#include "host/draws/draws_file.hpp"
#include "host/draws/netcdf.hpp"
#include "kernels/device/error.hpp"

namespace kilochain {

template <class Body>
auto DrawsReader::guarded(const std::string& what, Body body) const -> decltype(body()) {
  try {
    return body();
  } catch (const netcdf::Failure& failure) {
    throw Error(ExitStatus::data, path_ + ": " + what + " cannot be read", netcdf::reason(failure.status),
                "Was the file made by kilochain sample, and copied whole?");
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitStatus::data, path_ + ": " + what + " cannot be read", error.what(),
                "Was the file made by kilochain sample, and copied whole?");
  }
}

}  // namespace kilochain
