#include "host/run/device.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>

#include "host/chains/draws_buffer.hpp"
#include "host/chains/rounds.hpp"
#include "host/run/start.hpp"
#include "host/statistics/streaming/streaming.hpp"

namespace kilochain {
namespace {

std::size_t free_on_disk(const std::string& output) {
  const auto folder = std::filesystem::path(output).parent_path();
  struct statvfs s;
  if (statvfs(folder.empty() ? "." : folder.c_str(), &s) != 0) return ~std::size_t(0);
  return static_cast<std::size_t>(s.f_bavail) * s.f_frsize;
}

std::int64_t draws_of(const Options& o) {
  return std::max<std::int64_t>(1, (o.num_samples < 0 ? most_automatic_samples / 10 : o.num_samples) / o.thin);
}

std::string human(std::size_t bytes) {
  const char* unit[] = {"B", "kB", "MB", "GB", "TB"};
  double v = static_cast<double>(bytes);
  int k = 0;
  while (v >= 1000 && k < 4) v /= 1000, ++k;
  return k == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", v, unit[k]);
}

// Seconds of one iteration of one chain, timed on a few chains for a fraction of a second.
template <class Real>
double timed_iteration(const Options& o, const Context& context) {
  auto target = make_target<Real>(context, o.target, o.target_settings);
  const Index dim = target->info().dim;
  const Index chains = static_cast<Index>(std::min<std::int64_t>(
      o.num_chains, context.backend == Backend::cuda ? o.num_chains : std::int64_t(64) * context.threads));
  auto sampler = make_chains<Real>(context, o.sampler, o.sampler_settings, chains, dim, o.adapt_scope);
  Rounds<Real> rounds(context, *target, *sampler, chains);
  Options few = o;
  few.num_chains = chains;
  if (few.init.rfind("file:", 0) == 0) few.init = "normal";
  rounds.start(starting_points<Real>(few, 0, chains, dim));
  const std::atomic<bool> go_on{false};
  Segment<Real> segment;
  segment.seed = o.seed;
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0;
  for (std::int64_t step = 1; seconds < 0.2 && segment.until < 10000; step *= 2) {
    segment.until += step;
    rounds.run(segment, go_on);
    synchronize(context);  // rounds on a device are only queued when run returns
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return seconds / static_cast<double>(segment.until) / chains;
}

/// threads: of the host, which summarises and writes what the device draws.
Context cuda_with_threads(int device, int threads) {
  Context c = cuda_context(device);
  if (threads > 0) c.threads = threads;
  return c;
}

}  // namespace

Context choose_device(const Options& o, std::vector<std::string>& notes) {
  if (o.device == "cpu") return cpu_context(o.threads);
  const std::string why = cuda_unavailable();
  if (o.device == "auto" && cuda_emulated()) return cpu_context(o.threads);
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

std::int64_t window_draws(std::int64_t num_chains, std::int64_t dim, std::int64_t num_draws, std::size_t real_bytes) {
  const std::int64_t slot = num_chains * (dim * static_cast<std::int64_t>(real_bytes) + 16);
  return std::clamp<std::int64_t>((std::int64_t(64) << 20) / slot, 4,
                                  std::max<std::int64_t>(4, std::min<std::int64_t>(1000, num_draws)));
}

Estimate estimate_for(const Options& o, const Context& context, const TargetInfo& info, Precision precision) {
  Estimate e;
  const std::size_t real = bytes_of(precision);
  const std::int64_t batch = o.chain_batch_size ? o.chain_batch_size : o.num_chains, draws = draws_of(o);
  const ChainBytes bytes = bytes_of_chains(context, o.sampler, o.sampler_settings, static_cast<Index>(batch), info.dim,
                                           o.adapt_scope, precision);
  const std::string where = context.backend == Backend::cuda ? "device" : "host";
  e.rows.push_back({"state of the chains", where, bytes.state});
  e.rows.push_back({"adaptation", where, bytes.adaptation});
  e.rows.push_back({"queries and answers", where, bytes.exchange});
  e.rows.push_back({"pooled sums", where, bytes.pooled_sums});
  e.rows.push_back({"data and scratch", where,
                    static_cast<std::size_t>(2 * info.bytes) +
                        (info.scratch_bytes ? info.scratch_bytes(static_cast<Index>(batch)) : 0)});
  const int stats = static_cast<int>(find_sampler(o.sampler).stats.size());
  const auto recorded = static_cast<std::int64_t>(info.names.size());
  const std::int64_t slots = window_draws(o.num_chains, info.dim, draws, real);
  const auto window_bytes = [&](std::int64_t chains) {
    return in_precision(precision,
                        [&](auto zero) { return DrawsBuffer<decltype(zero)>::bytes(chains, info.dim, slots, stats); });
  };
  if (batch < o.num_chains)
    e.rows.push_back(
        {"chains put aside", "host",
         (bytes.state + bytes.adaptation + bytes.exchange) * static_cast<std::size_t>(o.num_chains / batch)});
  const std::size_t copies = stores_draws(o) ? 2 : 1;
  e.rows.push_back({fmt::format("windows of {} draws", slots), "host", copies * window_bytes(o.num_chains)});
  if (info.constrain)
    e.rows.push_back({"recorded values of the windows", "host",
                      copies * static_cast<std::size_t>(o.num_chains * slots * recorded) * real});
  if (o.keep_draws)
    e.rows.push_back({"draws in memory", "host", static_cast<std::size_t>(o.num_chains * draws * recorded) * 8});
  if (context.backend == Backend::cuda)
    e.rows.push_back({fmt::format("windows of {} draws", slots), "device", copies * window_bytes(batch)});
  if (streams(o))
    e.rows.push_back(
        {"streaming statistics", "host", StreamingSummary::bytes(o.num_chains, recorded, draws, context.threads)});
  if (stores_draws(o)) {
    // The summary reads the draws back by groups of coordinates, at least one at a time for each thread.
    e.rows.push_back(
        {"summary of the draws", "host",
         std::min<std::size_t>(std::size_t(2) << 30, static_cast<std::size_t>(o.num_chains * draws * recorded) * 8) +
             static_cast<std::size_t>(context.threads) * static_cast<std::size_t>(o.num_chains * draws) * 48});
    e.rows.push_back({"draws", "disk",
                      static_cast<std::size_t>(o.num_chains * draws) *
                          (static_cast<std::size_t>(recorded) * real + 13 + 4 * static_cast<std::size_t>(stats))});
  }
  for (const auto& row : e.rows)
    (row.where == "host" ? e.host_bytes : row.where == "device" ? e.device_bytes : e.disk_bytes) += row.bytes;
  e.host_available = available_bytes(Context{});
  e.device_available = context.backend == Backend::cuda ? available_bytes(context) : 0;
  e.disk_available = o.output.empty() ? 0 : free_on_disk(o.output);
  const bool host_fits = e.host_bytes <= e.host_available,
             device_fits = e.device_bytes <= e.device_available || context.backend == Backend::cpu;
  const bool disk_fits = e.disk_bytes <= e.disk_available || e.disk_bytes == 0;
  e.fits = host_fits && device_fits && disk_fits;
  if (!disk_fits || (!host_fits && stores_draws(o)))
    e.advice = fmt::format(
        "Keep fewer draws with --thin {}, or the summary alone with --draws moments?",
        o.thin * std::max<std::int64_t>(
                     2, static_cast<std::int64_t>(e.disk_bytes / std::max<std::size_t>(1, e.disk_available)) + 1));
  if (!host_fits || !device_fits)
    e.advice += std::string(e.advice.empty() ? "" : " ") +
                "Run fewer chains at a time with --chain-batch-size, or use --adapt-scope pooled, --real float?";
  return e;
}

void refuse_if_too_large(const Options& o, const Estimate& e) {
  if (e.fits) return;
  std::string table;
  for (const auto& row : e.rows) table += fmt::format("\n  {:<26} {:<7} {:>12}", row.what, row.where, human(row.bytes));
  throw Error(ExitStatus::usage, fmt::format("{} chains need more memory or disk than there is", o.num_chains),
              fmt::format("host {} of {}, device {} of {}, disk {} of {};{}\n", human(e.host_bytes),
                          human(e.host_available), human(e.device_bytes), human(e.device_available),
                          human(e.disk_bytes), human(e.disk_available), table),
              e.advice);
}

Estimate estimate(const Options& o) {
  check(o);
  std::vector<std::string> notes;
  const Context context = choose_device(o, notes);
  const Precision precision = choose_precision(o, context);
  Estimate e;
  const double iteration = in_precision(precision, [&](auto zero) {
    using Real = decltype(zero);
    e = estimate_for(o, context, make_target<Real>(context, o.target, o.target_settings)->info(), precision);
    return timed_iteration<Real>(o, context);
  });
  const std::int64_t iterations = (o.num_warmup < 0 ? most_automatic_warmup / 10 : o.num_warmup) +
                                  (o.num_samples < 0 ? most_automatic_samples / 10 : o.num_samples);
  e.seconds = iteration * static_cast<double>(iterations) * static_cast<double>(o.num_chains);
  return e;
}

}  // namespace kilochain
