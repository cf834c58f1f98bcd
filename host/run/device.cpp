#include "host/run/device.hpp"

#include "targets/data/number_of.hpp"

namespace kilochain {
namespace {

/// threads: of the host, which summarises and writes what the device draws.
Context cuda_with_threads(int device, int threads) {
  Context c = cuda_context(device);
  if (threads > 0) c.threads = threads;
  return c;
}

/// A replica on a device takes 20 times (rows) to 140 times (lists) as long over a flip as a core does, by the counts of
/// bench/spins_roofline.md, a prediction: replicas for each core from which a device is chosen.
constexpr std::int64_t least_replicas = 256;

}  // namespace

Context choose_device(const Options& o, std::vector<std::string>& notes) {
  if (o.device == "cpu") return cpu_context(o.threads);
  if (o.device == "auto" && cuda_emulated()) return cpu_context(o.threads);
  const std::string why = cuda_unavailable();
  if (o.device == "auto") {
    const Context cpu = cpu_context(o.threads);
    if (find_target(o.target).spins && o.num_chains < least_replicas * cpu.threads) return cpu;
    if (why.empty()) return cuda_with_threads(0, o.threads);
    if (why != "this build has no CUDA") notes.push_back("running on the CPU: " + why);
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
  return cuda_with_threads(k, o.threads);
}

Precision choose_precision(const Options& o, const Context& context) {
  const bool exact = context.backend == Backend::cpu || find_target(o.target).spins;  // energies are recorded, no more
  return o.real.value_or(exact ? Precision::double_precision : Precision::single_precision);
}

}  // namespace kilochain
