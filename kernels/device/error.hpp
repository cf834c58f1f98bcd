// The one error type, with the three facts a reader needs: what (where, with the numbers). How to fix?
// The exit status of the program is part of the error, so that pipelines can branch on it.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace kilochain {

/// Exit statuses of the program; 0 is success and 130 an interrupt (Ctrl-C).
enum class ExitStatus : int {
  usage = 2,          ///< a wrong flag, setting, name or configuration
  data = 3,           ///< the data cannot be used
  quarantined = 4,    ///< the run finished, but at least one chain was quarantined
  output = 5,         ///< results could not be written (a full disk, a lost file)
  not_converged = 6,  ///< the run finished, but its warm-up or its R-hat says that it has not converged
  device = 8,         ///< the CUDA device failed, has no memory left, or is older than this build
  out_of_time =
      9,  ///< the time that the user gave was over; what was drawn is written, and the run can be gone on with
};

/// `what (where). fix`, for example
/// `german.csv: "abc" is not a number (line 7, column 3 "income"). Remove the row or write a number?`
class Error : public std::runtime_error {
 public:
  Error(ExitStatus status, const std::string& what, const std::string& where, const std::string& fix)
      : std::runtime_error(what + " (" + where + "). " + fix), status_(status) {}
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
