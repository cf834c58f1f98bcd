#include "papers/jobs.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/units.hpp"
#include "host/run/reporter.hpp"
#include "host/run/side_by_side.hpp"
#include "papers/reproduction.hpp"

namespace kilochain::papers {
namespace {

class Board {
 public:
  explicit Board(const std::vector<Job>& jobs) : jobs_(jobs), fraction_(jobs.size()), state_(jobs.size()) {}

  void begin(std::size_t job) {
    const std::lock_guard lock(mutex_);
    state_[job] = running;
  }
  void tick(std::size_t job, double fraction) {
    const std::lock_guard lock(mutex_);
    fraction_[job] = std::min(1.0, fraction);
  }
  void finish(std::size_t job, bool whole) {
    const std::lock_guard lock(mutex_);
    state_[job] = done;
    fraction_[job] = 1;
    ++done_;
    const bool few = jobs_.size() <= 100, last = done_ == jobs_.size();
    if (!whole || !(few || last || seconds_since(said_) >= 1)) return;
    say(fmt::format("[{}/{}] {} done; {}", done_, jobs_.size(), jobs_[job].name, left()));
    said_ = std::chrono::steady_clock::now();
  }
  void tell() {
    const std::lock_guard lock(mutex_);
    std::string now;
    for (std::size_t k = 0; k < jobs_.size(); ++k)
      if (state_[k] == running)
        now += fmt::format("{}{} {:.0f} %", now.empty() ? "" : ", ", jobs_[k].name, 100 * fraction_[k]);
    say(fmt::format("[{}/{}] {}; {}", done_, jobs_.size(), now, left()));
  }

 private:
  enum State { waiting, running, done };
  std::string left() const {
    double all = 0, over = 0;
    for (std::size_t k = 0; k < jobs_.size(); ++k) all += jobs_[k].weight, over += jobs_[k].weight * fraction_[k];
    return over > 0 ? fmt::format("ETA {}", seconds_text(seconds_since(begin_) * (all - over) / over))
                    : "ETA not known yet";
  }
  const std::vector<Job>& jobs_;
  std::vector<double> fraction_;
  std::vector<State> state_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), said_{};
  std::size_t done_ = 0;
  std::mutex mutex_;
};

}  // namespace

void run_jobs(std::vector<Job> jobs, int threads, std::atomic<bool>& stop, double seconds) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.weight > b.weight; });
  Board board(jobs);
  const std::jthread speaker([&](const std::stop_token& ended) {
    std::mutex mutex;
    std::condition_variable_any pause;
    std::unique_lock lock(mutex);
    while (pause.wait_for(lock, ended, std::chrono::duration<double>(seconds), [] { return false; }),
           !ended.stop_requested())
      board.tell();
  });
  side_by_side(jobs.size(), threads > 0 ? threads : omp_get_num_procs(), stop, [&](std::size_t job, int) {
    board.begin(job);
    jobs[job].run([&](double fraction) { board.tick(job, fraction); });
    board.finish(job, !stop);
  });
}

}  // namespace kilochain::papers
