// The order of a run: check, load, account for memory, open the output, start, warm up, sample, summarise.
#include "host/run/run.hpp"

#include <fmt/format.h>

#include "host/run/device.hpp"
#include "host/run/session.hpp"

namespace kilochain {
namespace {

template <class Real>
Result run_as(const Options& o, const Context& context, std::vector<std::string> notes,
              const ProgressCallback& progress, const std::atomic<bool>& stop) {
  auto target = make_target<Real>(context, o.target, o.target_settings);
  check_offer(o.sampler, o.target, target->info().offers);
  refuse_if_too_large(o, estimate_for(o, context, target->info(), precision_of<Real>));
  Session<Real> session(o, context, *target, progress, stop);
  session.open_output();
  session.start();
  session.warm_up();
  session.sample();
  Result result = session.finish();
  result.notes.insert(result.notes.begin(), notes.begin(), notes.end());
  result.evaluation = target->evaluation();
  return result;
}

}  // namespace

Result run(const Options& o, const ProgressCallback& progress, const std::atomic<bool>& stop) {
  check(o);
  std::vector<std::string> notes;
  const Context context = choose_device(o, notes);
  return in_precision(choose_precision(o, context),
                      [&](auto zero) { return run_as<decltype(zero)>(o, context, notes, progress, stop); });
}

}  // namespace kilochain
