#include "host/run/device.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/number_of.hpp"

namespace kilochain {
namespace {

/// Threads are those of the host, which summarises and writes what the device draws.
Context cuda_with_threads(int device, const Options& o) {
  Context c = cuda_context(device);
  if (o.threads > 0) c.threads = o.threads;
  c.graphs = !o.no_graphs;
  return c;
}

/// OpenMP's library ends the process where the system starts no more threads (limits of memory or of processes).
void require_threads(int wanted) {
  std::mutex mutex;
  std::condition_variable_any all_there;
  std::vector<std::jthread> threads;
  try {
    while (std::ssize(threads) < wanted)
      threads.emplace_back([&](const std::stop_token& over) {
        std::unique_lock lock(mutex);
        all_there.wait(lock, over, [] { return false; });
      });
  } catch (const std::system_error& error) {
    throw Error(ExitStatus::usage, "threads = " + std::to_string(wanted),
                "the system starts " + std::to_string(threads.size()) + " here: " + error.code().message(),
                "Try --threads 1, or a higher limit of memory or processes?");
  }
}

Context device_of(const Options& o, std::vector<std::string>& notes) {
  const std::string cpu_only = find_target(o.target).cpu_only(o.target_settings);
  require(cpu_only.empty() || !o.device.starts_with("cuda"), ExitStatus::usage,
          "target " + o.target + " has no CUDA version", cpu_only, "Run with --device cpu, or without --device?");
  if (o.device == "cpu") return cpu_context(o.threads);
  if (o.device == "auto" && cuda_emulated()) return cpu_context(o.threads);
  const std::string why = cuda_unavailable();
  if (o.device == "auto") {
    if (why.empty() && cpu_only.empty()) return cuda_with_threads(0, o);
    if (why != no_cuda_build && why != no_cuda_driver)
      notes.push_back("running on the CPU: " + (why.empty() ? cpu_only : why));
    return cpu_context(o.threads);
  }
  int k = 0;
  const bool numbered = o.device.rfind("cuda:", 0) == 0;
  if (numbered) {
    k = number_of<int>(o.device.substr(5)).value_or(-1);
    require(k >= 0, ExitStatus::usage, "device = " + o.device, "the number of a CUDA device must follow the colon",
            "Try --device cuda:0?");
  }
  require(numbered || o.device == "cuda", ExitStatus::usage, "device = " + o.device,
          "must be auto, cpu, cuda or cuda:K", "Try --device auto?");
  require(why.empty(), ExitStatus::usage, "device = " + o.device + " cannot be used", why, "Try --device cpu?");
  return cuda_with_threads(k, o);
}

}  // namespace

Context choose_device(const Options& o, std::vector<std::string>& notes) {
  Context context = device_of(o, notes);
  context.prior_only = o.prior_only;
  if (context.threads > 1) require_threads(context.threads);
  return context;
}

Precision choose_precision(const Options& o, const Context& context) {
  return o.real.value_or(context.backend == Backend::cpu ? Precision::double_precision : Precision::single_precision);
}

}  // namespace kilochain
