// include/kilochain/c.h over the front end's configuration and host/run: nothing is decided here.
#include "kilochain/c.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/version.hpp"
#include "host/frontend/configuration.hpp"
#include "host/registry/own_target.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"

using namespace kilochain;

struct kilochain_run {
  std::vector<Assignment> flags;
  std::unique_ptr<OwnTarget> density;
  kilochain_progress progress = nullptr;
  void* progress_data = nullptr;
  std::atomic<bool> stop{false};
  std::string message, summary_text, notes;
  Result result;
};

namespace {

template <class F>
int guarded(kilochain_run* run, F&& f) {
  if (!run) return static_cast<int>(ExitStatus::usage);
  run->message.clear();
  try {
    return f();
  } catch (const Error& error) {
    run->message = error.what();
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    run->message = error.what();
  } catch (...) {
    run->message = "an exception that is no std::exception";
  }
  return 1;
}

int set_density(kilochain_run* run, FunctionDensity density, size_t n, const char* const* names) {
  return guarded(run, [&] {
    static std::atomic<int> made{0};
    density.dim = static_cast<Index>(n);
    if (names) density.names.assign(names, names + n);
    run->density.reset();
    run->density = std::make_unique<OwnTarget>("density " + std::to_string(++made), density);
    return 0;
  });
}

void take(kilochain_run& run, Result result) {
  run.summary_text = to_json(result.summary).dump(2);
  run.notes.clear();
  for (const std::string& note : result.notes) run.notes += note + "\n";
  run.result = std::move(result);
}

int sample(kilochain_run& run, Options options) {
  options.keep_draws = !options.resume;
  const ProgressCallback progress = [&](const Progress& p) {
    if (run.progress && run.progress(p.phase.c_str(), p.done, p.total, run.progress_data) != 0) run.stop = true;
  };
  struct Consumed {  // in the end: a stop that comes before the run is one too
    std::atomic<bool>& stop;
    ~Consumed() { stop = false; }
  } const consumed{run.stop};
  Result result = kilochain::run(options, progress, run.stop);
  const int status = status_of(result);
  if (options.resume && !nothing_drawn(result)) {
    Result all = read_result(options.output);
    all.summary = result.summary, all.notes = result.notes;
    result = std::move(all);
  }
  take(run, std::move(result));
  if (status != 0) run.message = verdict_of(run.result.summary).reason;
  return status;
}

Options options_of(const kilochain_run& run, const std::vector<Assignment>& file) {
  std::vector<Assignment> flags = run.flags;
  if (run.density) flags.push_back({"target", run.density->name(), "kilochain_set_density", "target"});
  return resolve(file, flags).options;
}

}  // namespace

extern "C" {

const char* kilochain_version(void) { return version(); }

kilochain_run* kilochain_create(void) { return new (std::nothrow) kilochain_run; }
void kilochain_free(kilochain_run* run) { delete run; }

int kilochain_set(kilochain_run* run, const char* key, const char* value) {
  return guarded(run, [&] {
    const std::string name = key_of(key);
    std::erase_if(run->flags, [&](const Assignment& a) { return a.key == name; });
    run->flags.push_back({name, value, "kilochain_set", name});
    return 0;
  });
}

int kilochain_set_density(kilochain_run* run, kilochain_density density, size_t n, const char* const* names,
                          void* user_data) {
  FunctionDensity f;
  f.one = density, f.user_data = user_data;
  return set_density(run, f, n, names);
}
int kilochain_set_density_of_chains(kilochain_run* run, kilochain_density_of_chains density, size_t n,
                                    const char* const* names, void* user_data) {
  FunctionDensity f;
  f.chains = density, f.user_data = user_data;
  return set_density(run, f, n, names);
}
int kilochain_set_density_on_device(kilochain_run* run, kilochain_density_on_device density, size_t n,
                                    const char* const* names, void* user_data) {
  FunctionDensity f;
  f.on_device = density, f.user_data = user_data;
  return set_density(run, f, n, names);
}
int kilochain_set_progress(kilochain_run* run, kilochain_progress progress, void* user_data) {
  return guarded(run, [&] {
    run->progress = progress, run->progress_data = user_data;
    return 0;
  });
}

int kilochain_sample(kilochain_run* run) {
  return guarded(run, [&] { return sample(*run, options_of(*run, {})); });
}
int kilochain_resume(kilochain_run* run, const char* path) {
  return guarded(run, [&] {
    const auto state = read_run_state(path);
    require(state != nullptr, ExitStatus::usage, std::string(path) + ": the run cannot be resumed",
            "it ended before its state was saved", "Begin it again?");
    std::vector<Assignment> before = assignments_of(path, !state->within_warmup.empty());
    if (run->density) std::erase_if(before, [](const Assignment& a) { return a.key == "target"; });
    Options options = options_of(*run, before);
    options.resume = state;
    return sample(*run, std::move(options));
  });
}
void kilochain_stop(kilochain_run* run) {
  if (run) run->stop = true;
}
int kilochain_read(kilochain_run* run, const char* path) {
  return guarded(run, [&] {
    take(*run, read_result(path));
    return status_of(run->result.summary);
  });
}

const char* kilochain_message(const kilochain_run* run) { return run ? run->message.c_str() : "there is no run"; }

size_t kilochain_num_chains(const kilochain_run* run) { return static_cast<size_t>(run->result.summary.num_chains); }
size_t kilochain_num_draws(const kilochain_run* run) { return static_cast<size_t>(run->result.draws_written); }
size_t kilochain_num_values(const kilochain_run* run) { return run->result.names.size(); }
const char* kilochain_name(const kilochain_run* run, size_t value) {
  return value < run->result.names.size() ? run->result.names[value].c_str() : nullptr;
}
const double* kilochain_draws(const kilochain_run* run) { return run->result.draws.data(); }
const double* kilochain_lp(const kilochain_run* run) { return run->result.lp.data(); }
double kilochain_figure(const kilochain_run* run, size_t value, const char* figure) {
  if (figure && value < run->result.summary.parameters.size())
    for (const SummaryColumn& column : summary_columns)
      if (std::string(figure) == column.name) return run->result.summary.parameters[value].*column.figure;
  return std::numeric_limits<double>::quiet_NaN();
}
const char* kilochain_summary(const kilochain_run* run) { return run->summary_text.c_str(); }
const char* kilochain_notes(const kilochain_run* run) { return run->notes.c_str(); }

}  // extern "C"
