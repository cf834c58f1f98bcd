// The exit statuses of the program, in one table: what the help prints and the README's table is checked against.
#pragma once
#include <initializer_list>
#include <string>

namespace kilochain {

enum class ExitStatus : int {
  done = 0,
  usage = 2,
  data = 3,
  quarantined = 4,
  output = 5,
  not_converged = 6,
  deviates = 7,
  device = 8,
  out_of_time = 9,
  interrupted = 130,
};

struct StatusRow {
  ExitStatus status;
  const char* name;      ///< of the line below a command's help
  const char* sentence;  ///< of tables
};
inline constexpr StatusRow status_rows[] = {
    {ExitStatus::done, "done", "done"},
    {ExitStatus::usage, "usage",
     "usage: a wrong flag, setting, name or configuration, or an output that cannot be written"},
    {ExitStatus::data, "data", "data that cannot be used"},
    {ExitStatus::quarantined, "done but chains were quarantined", "done, but chains were quarantined"},
    {ExitStatus::output, "output not written", "the output could not be written"},
    {ExitStatus::not_converged, "done but not converged", "done, but not converged"},
    {ExitStatus::deviates, "a figure deviates from the paper's", "`reproduce`: a figure deviates from the paper's"},
    {ExitStatus::device, "CUDA device failed",
     "the CUDA device failed, has no memory left, or is older than this build"},
    {ExitStatus::out_of_time, "time over: `kilochain resume` continues", "the time (`--max-seconds`) was over"},
    {ExitStatus::interrupted, "interrupted", "interrupted (Ctrl-C, SIGTERM, SIGHUP, SIGUSR1)"},
};

constexpr int exit_code(ExitStatus status) { return static_cast<int>(status); }
/// "Exit status: 0 done, 2 usage." of some statuses, in lines of at most 120 columns.
std::string exit_statuses(std::initializer_list<ExitStatus> some);
/// All of them, a line each: number and sentence.
std::string exit_status_table();

}  // namespace kilochain
