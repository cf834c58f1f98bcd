// A density that is a Python function of many points, called once a round for all chains that ask.
#pragma once
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "targets/external/functions.hpp"

namespace kilochain::python {

/// f(x) -> (lp, gradient): float64 arrays (chains, n), (chains) and (chains, n), contiguous; x lives for the call.
class PythonDensity {
 public:
  explicit PythonDensity(nanobind::callable f) : f_(std::move(f)) {}
  /// The interpreter's lock is held inside f alone. What f raises is kept, and from then on no point has a value.
  FunctionDensity function(std::size_t dim, const std::vector<std::string>& names);
  /// f gets at most as many points in one call as the run has chains, or 64. What compiles for each number of points
  /// then does so for few. It follows from that number alone, so a run that is resumed makes the same calls.
  void set_chains(std::int64_t num_chains) { most_ = static_cast<std::size_t>(std::max<std::int64_t>(64, num_chains)); }
  bool failed() const { return failed_; }
  /// What f has raised, or null; it is raised once.
  std::exception_ptr take_error() {
    failed_ = false;
    return std::exchange(error_, nullptr);
  }

 private:
  int call(std::size_t chains, std::size_t n, const double* x, std::size_t row, double* gradient, double* lp);

  nanobind::callable f_;
  std::atomic<std::size_t> most_{1024};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  ///< read and written with the interpreter's lock
};

}  // namespace kilochain::python
