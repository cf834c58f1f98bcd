// The one error type, with the three facts a reader needs: what (where, with the numbers). How to fix?
// The exit status of the program is part of the error, so that pipelines can branch on it.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "base/exit_status.hpp"
#include "base/utf8.hpp"

namespace kilochain {

/// `what (where). fix`, for example
/// `german.csv: "abc" is not a number (line 7, column 3 "income"). Remove the row or write a number?`
class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& what, const std::string& where, const std::string& fix)
      : std::runtime_error(as_utf8(what + " (" + where + "). " + fix)), status_(status) {}
  ExitStatus status() const noexcept { return status_; }

 private:
  ExitStatus status_;
};

/// Throws an Error unless `ok`. For arguments of the user, always on.
inline void require(bool ok, ExitStatus status, const std::string& what, const std::string& where,
                    const std::string& fix) {
  if (!ok) throw Error(status, what, where, fix);
}

}  // namespace kilochain
