// Progress on standard error: on a terminal one line that is written over, ten times a second at most; else a line for
// each phase and then one every three seconds, for logs.
#pragma once
#include <chrono>
#include <cstdio>
#include <string>

#include "host/run/run.hpp"

namespace kilochain::cli {

/// One line: phase, iterations, per second, time left, acceptance, worst R-hat and smallest ESS so far.
std::string progress_text(const Progress& progress);

class ProgressPrinter {
 public:
  explicit ProgressPrinter(std::FILE* out);
  ~ProgressPrinter() { finish(); }
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  void operator()(const Progress& progress);
  /// Any other line, of a phase of that name; as often as progress is reported.
  void line(const std::string& phase, const std::string& text);
  /// Clears the line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  std::FILE* out_;
  bool terminal_, drawn_ = false;
  std::string phase_;
  Clock::time_point last_;
};

}  // namespace kilochain::cli
