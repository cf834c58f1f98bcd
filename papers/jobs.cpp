#include "papers/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "kernels/device/units.hpp"

namespace kilochain::papers {
namespace {

using Clock = std::chrono::steady_clock;

class Board {
 public:
  Board(std::vector<Job>& jobs, const std::function<void(const std::string&)>& say)
      : jobs_(jobs), say_(say), fraction_(jobs.size(), 0.0), state_(jobs.size(), waiting), begin_(Clock::now()) {}

  /// The next job to run, or -1.
  int take() {
    const std::lock_guard lock(mutex_);
    if (next_ == jobs_.size()) return -1;
    state_[next_] = running;
    return static_cast<int>(next_++);
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
    if (whole) say_(fmt::format("[{}/{}] {} done; {}", done_, jobs_.size(), jobs_[job].name, left()));
  }
  void say() {
    const std::lock_guard lock(mutex_);
    std::string now;
    for (std::size_t k = 0; k < jobs_.size(); ++k)
      if (state_[k] == running)
        now += fmt::format("{}{} {:.0f} %", now.empty() ? "" : ", ", jobs_[k].name, 100 * fraction_[k]);
    say_(fmt::format("[{}/{}] {}; {}", done_, jobs_.size(), now, left()));
  }

 private:
  enum State { waiting, running, done };
  std::string left() const {
    double all = 0, over = 0;
    for (std::size_t k = 0; k < jobs_.size(); ++k) all += jobs_[k].weight, over += jobs_[k].weight * fraction_[k];
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
    return over > 0 ? fmt::format("ETA {}", seconds_text(elapsed * (all - over) / over)) : "ETA not known yet";
  }
  std::vector<Job>& jobs_;
  const std::function<void(const std::string&)>& say_;
  std::vector<double> fraction_;
  std::vector<State> state_;
  Clock::time_point begin_;
  std::size_t next_ = 0, done_ = 0;
  std::mutex mutex_;
};

}  // namespace

void run_jobs(std::vector<Job> jobs, int threads, std::atomic<bool>& stop, double seconds,
              const std::function<void(const std::string& line)>& say) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.weight > b.weight; });
  Board board(jobs, say);
  std::exception_ptr failure;
  std::mutex failure_mutex, end_mutex;
  std::condition_variable end;
  bool ended = false;
  const auto work = [&] {
    for (int k = stop ? -1 : board.take(); k >= 0 && !stop; k = board.take()) {
      const auto job = static_cast<std::size_t>(k);
      try {
        jobs[job].run([&](double fraction) { board.tick(job, fraction); });
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        stop = true;
      }
      board.finish(job, !stop);
    }
  };
  std::thread speaker([&] {
    std::unique_lock lock(end_mutex);
    while (!end.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return ended; })) board.say();
  });
  std::vector<std::thread> workers;
  for (int k = 0; k < std::min<int>(threads, static_cast<int>(jobs.size())); ++k) workers.emplace_back(work);
  for (std::thread& w : workers) w.join();
  {
    const std::lock_guard lock(end_mutex);
    ended = true;
  }
  end.notify_all();
  speaker.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kilochain::papers
