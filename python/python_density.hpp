// A density that is a Python function of many points, called once a round for all chains that ask.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <exception>

#include "targets/external/functions.hpp"

namespace kilochain::python {

/// f(x) -> (lp, gradient): float64 arrays (chains, n), (chains) and (chains, n), contiguous; x lives for the call.
class PythonDensity {
 public:
  explicit PythonDensity(nanobind::callable f) : f_(std::move(f)) {}
  /// The interpreter's lock is held inside f alone. What f raises is kept, and from then on no point has a value.
  FunctionDensity function(std::size_t dim, const std::vector<std::string>& names);
  bool failed() const { return failed_; }
  /// What f has raised, or null; it is raised once.
  std::exception_ptr take_error() {
    failed_ = false;
    return std::exchange(error_, nullptr);
  }

 private:
  int call(std::size_t chains, std::size_t n, const double* x, std::size_t row, double* gradient, double* lp);

  nanobind::callable f_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  ///< read and written with the interpreter's lock
};

}  // namespace kilochain::python
