#include "host/run/device.hpp"

#include <charconv>

namespace kilochain {
namespace {

/// threads: of the host, which summarises and writes what the device draws.
Context cuda_with_threads(int device, int threads) {
  Context c = cuda_context(device);
  if (threads > 0) c.threads = threads;
  return c;
}

}  // namespace

Context choose_device(const Options& o, std::vector<std::string>& notes) {
  if (o.device == "cpu") return cpu_context(o.threads);
  if (find_target(o.target).spins) {
    require(o.device == "auto", ExitStatus::usage, "device = " + o.device,
            "target " + o.target + " is a model of spins, which run on the CPU", "Try --device cpu?");
    return cpu_context(o.threads);
  }
  if (o.device == "auto" && cuda_emulated()) return cpu_context(o.threads);
  const std::string why = cuda_unavailable();
  if (o.device == "auto") {
    if (why.empty()) return cuda_with_threads(0, o.threads);
    if (why != "this build has no CUDA") notes.push_back("running on the CPU: " + why);
    return cpu_context(o.threads);
  }
  int k = 0;
  const bool numbered = o.device.rfind("cuda:", 0) == 0;
  if (numbered) {
    const std::string text = o.device.substr(5);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), k);
    require(!text.empty() && error == std::errc() && end == text.data() + text.size() && k >= 0, ExitStatus::usage,
            "device = " + o.device, "the number of a CUDA device must follow the colon", "Try --device cuda:0?");
  }
  require(numbered || o.device == "cuda", ExitStatus::usage, "device = " + o.device,
          "must be auto, cpu, cuda or cuda:K", "Try --device auto?");
  require(why.empty(), ExitStatus::usage, "device = " + o.device + " cannot be used", why, "Try --device cpu?");
  return cuda_with_threads(k, o.threads);
}

Precision choose_precision(const Options& o, const Context& context) {
  return o.real.value_or(context.backend == Backend::cpu ? Precision::double_precision : Precision::single_precision);
}

}  // namespace kilochain
