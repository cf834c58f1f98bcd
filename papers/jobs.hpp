// Work in pieces that are independent of each other, on some threads, with words about how far it is.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace kilochain::papers {

struct Job {
  std::string name;
  double weight;  ///< about how long it takes, in any unit
  std::function<void(const std::function<void(double fraction)>& tick)> run;
};

/// Runs every job, the heaviest first, on `threads` threads (0: as many as cores). Says a line about every `seconds`,
/// with the time left, and one for each job done; of more than 100 jobs at most one a second.
/// The first exception of a job ends all (through `stop`) and is thrown again.
void run_jobs(std::vector<Job> jobs, int threads, std::atomic<bool>& stop, double seconds);

}  // namespace kilochain::papers
