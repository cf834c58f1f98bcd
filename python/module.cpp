// kilochain._core: the front end's configuration and host/run for the modules in python/kilochain, which have the words
// that users read. Nothing is decided here. Arrays belong to the Result that they are views of.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/version.hpp"
#include "host/frontend/configuration.hpp"
#include "host/frontend/search.hpp"
#include "host/registry/own_target.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "python/device_arrays.hpp"
#include "python/python_density.hpp"
#include "targets/data/bytes.hpp"

namespace kilochain::python {
namespace {

namespace nb = nanobind;
using Texts = std::vector<std::pair<std::string, std::string>>;

nb::list rows_of(const std::vector<SettingInfo>& infos) {
  nb::list rows;
  for (const SettingInfo& s : infos) rows.append(nb::make_tuple(s.name, s.type, s.default_value, s.range, s.meaning));
  return rows;
}
template <class Entries>
nb::dict registered(const Entries& entries) {
  nb::dict out;
  for (const auto& e : entries) out[e.name.c_str()] = nb::make_tuple(e.meaning, rows_of(e.settings));
  return out;
}
nb::list common_settings() {
  std::vector<SettingInfo> infos;
  for (const Key& key : common_keys()) infos.push_back(key.info);
  return rows_of(infos);
}

/// A density of the caller's: a Python function of many points, or a C function by its address. kind: of that,
/// "one", "chains" or "on_device".
class Density {
 public:
  Density(const std::string& name, nb::callable f, std::size_t dim, const std::vector<std::string>& names)
      : python_(std::make_unique<PythonDensity>(std::move(f))), target_(name, python_->function(dim, names)) {}
  Density(const std::string& name, std::uintptr_t address, std::uintptr_t user_data, const std::string& kind,
          std::size_t dim, const std::vector<std::string>& names)
      : target_(name, function(address, user_data, kind, dim, names)) {}
  void set_chains(std::int64_t num_chains) const {
    if (python_) python_->set_chains(num_chains);
  }
  bool failed() const { return python_ && python_->failed(); }
  std::exception_ptr take_error() const { return python_ ? python_->take_error() : nullptr; }

 private:
  static FunctionDensity function(std::uintptr_t address, std::uintptr_t user_data, const std::string& kind,
                                  std::size_t dim, const std::vector<std::string>& names) {
    FunctionDensity f;
    if (kind == "on_device")
      f.on_device = reinterpret_cast<kilochain_density_on_device>(address);
    else if (kind == "chains")
      f.chains = reinterpret_cast<kilochain_density_of_chains>(address);
    else
      f.one = reinterpret_cast<kilochain_density>(address);
    f.user_data = reinterpret_cast<void*>(user_data);
    f.dim = static_cast<Index>(dim), f.names = names;
    return f;
  }
  std::unique_ptr<PythonDensity> python_;
  OwnTarget target_;
};

template <class T>
nb::object view(const std::shared_ptr<Result>& owner, std::vector<T>& values, std::vector<std::size_t> shape) {
  auto* const kept = new std::shared_ptr<Result>(owner);
  nb::capsule capsule(kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<Result>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(values.data(), shape.size(), shape.data(), capsule));
}

/// A group beside that of the draws: the last draws of a warm-up.
nb::dict warmup_of(const std::shared_ptr<Result>& r) {
  WarmupDraws& w = *r->warmup;
  const std::size_t draws = w.iterations.size(), chains = w.lp.size() / draws;
  nb::dict out, statistics;
  out["draws"] = view(r, w.draws, {chains, draws, r->names.size()});
  out["lp"] = view(r, w.lp, {chains, draws});
  statistics["acceptance_rate"] = view(r, w.acceptance_rate, {chains, draws});
  out["statistics"] = statistics;
  out["iterations"] = w.iterations;
  out["of_scouts"] = w.of_scouts;
  return out;
}

nb::dict dict_of(Result result) {
  const auto r = std::make_shared<Result>(std::move(result));
  const Verdict verdict = verdict_of(r->summary);
  const auto chains = static_cast<std::size_t>(r->summary.num_chains),
             draws = static_cast<std::size_t>(r->draws_written);
  nb::dict out, statistics;
  if (r->names.size() * chains * draws == r->draws.size()) {
    out["draws"] = view(r, r->draws, {chains, draws, r->names.size()});
    if (r->lp.size() == chains * draws) out["lp"] = view(r, r->lp, {chains, draws});
    for (auto& [name, values] : r->statistics)
      if (values.size() == chains * draws) statistics[name.c_str()] = view(r, values, {chains, draws});
  }
  if (r->warmup) out["warmup"] = warmup_of(r);
  nb::list variables, quarantined;
  for (const Variable& v : r->variables) variables.append(nb::make_tuple(v.name, v.shape, v.group));
  for (const QuarantinedChain& q : r->quarantined) quarantined.append(nb::make_tuple(q.chain, q.iteration, q.reason));
  out["statistics"] = statistics;
  out["names"] = r->names;
  out["variables"] = variables;
  out["quarantined"] = quarantined;
  out["notes"] = r->notes;
  out["summary"] = to_json(r->summary).dump();
  out["status"] = status_of(*r);
  out["converged"] = verdict.converged;
  out["reason"] = verdict.reason;
  out["nothing_drawn"] = nothing_drawn(*r);
  out["resumable"] = r->resumable;
  return out;
}

nb::dict dict_of(const Progress& p) {
  nb::dict out;
  out["phase"] = p.phase, out["done"] = p.done, out["total"] = p.total, out["seconds"] = p.seconds;
  out["iterations_per_second"] = p.iterations_per_second, out["eta_seconds"] = p.eta_seconds;
  out["seconds_left"] = p.seconds_left, out["acceptance_rate"] = p.acceptance_rate;
  out["rhat_max"] = p.rhat_max, out["ess_min"] = p.ess_min;
  out["quarantined"] = p.quarantined, out["waits_for"] = p.waits_for;
  return out;
}

nb::dict dict_of(const cli::SearchProgress& p) {
  nb::dict out;
  out["phase"] = "tune", out["done"] = p.done, out["total"] = p.total, out["eta_seconds"] = p.eta_seconds;
  out["score"] = p.score, out["best"] = p.best;
  return out;
}

std::vector<Assignment> assignments(const Texts& texts) {
  std::vector<Assignment> out;
  for (const auto& [key, text] : texts) out.push_back({key, text, "settings", key});
  return out;
}

/// Whom a run tells of itself: a Python function, or None. Whenever it raises or returns true, the run ends.
class Teller {
 public:
  explicit Teller(nb::object f) : f_(std::move(f)) {}
  /// Signals are seen then, too, on the main thread. Called without the interpreter's lock, by one thread at a time.
  template <class P>
  void operator()(const P& p, const Density* density, std::atomic<bool>& stop) {
    const nb::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!f_.is_none() && PyObject_IsTrue(nb::object(f_(dict_of(p))).ptr()) == 1) stop = true;
    } catch (...) {
      error_ = std::current_exception();
      stop = true;
    }
    if (density && density->failed()) stop = true;
  }
  /// What it has raised, or null.
  const std::exception_ptr& error() const { return error_; }

 private:
  nb::object f_;
  std::exception_ptr error_;
};

/// Calls f without the interpreter's lock. Where no point has a value, what the density has raised says more.
template <class F>
void unlocked(const Density* density, F&& f) {
  try {
    const nb::gil_scoped_release released;
    f();
  } catch (const Error&) {
    if (const std::exception_ptr error = density ? density->take_error() : nullptr) std::rethrow_exception(error);
    throw;
  }
}

/// What the density has raised, else `error`, as a Python object; None where there is neither.
nb::object raised(const Density* density, std::exception_ptr error) {
  try {
    if (const std::exception_ptr of_density = density ? density->take_error() : nullptr) error = of_density;
    if (error) std::rethrow_exception(error);
  } catch (nb::python_error& e) {
    return nb::borrow(e.value());
  }
  return nb::none();
}

/// A run of the settings as they stand, or one that is resumed from its file.
class Run {
 public:
  Run(const Texts& texts, bool keep_draws, bool keep_warmup, const std::string& resume,
      std::shared_ptr<Density> density)
      : density_(std::move(density)) {
    std::vector<Assignment> before;
    std::shared_ptr<const RunState> state;
    if (!resume.empty()) {
      state = read_run_state(resume);
      before = assignments_of(resume, !state || !state->within_warmup.empty());
    }
    Options options = resolve(before, assignments(texts)).options;
    options.resume = state;
    options.overwrite |= !resume.empty() && !state;
    options.keep_draws = keep_draws && !state;
    options.keep_warmup = keep_warmup;
    if (keep_draws && state) file_ = resume;
    if (density_) density_->set_chains(options.num_chains);  // 0, as many as pay: no more than 64 on a CPU
    unlocked(density_.get(), [&] { prepared_.emplace(std::move(options)); });  // a density is asked how long it takes
  }

  /// progress(dict) is called at most every 0.2 s. What was raised comes back beside the draws.
  nb::dict sample(nb::object progress) {
    Teller tell(std::move(progress));
    Result result;
    const Ended ended(*this);
    unlocked(density_.get(), [&] {
      result = prepared_->run(
          [&](const Progress& p) {
            answer(p);
            tell(p, density_.get(), stop_);
          },
          stop_);
      if (file_.empty() || nothing_drawn(result)) return;
      Result all = read_result(file_);
      all.summary = result.summary, all.notes = result.notes, all.resumable = result.resumable;
      all.interrupted = result.interrupted, all.out_of_time = result.out_of_time;
      result = std::move(all);
    });
    nb::dict out = dict_of(std::move(result));
    out["error"] = raised(density_.get(), tell.error());
    return out;
  }
  void stop() { stop_ = true; }
  /// For another thread than that of sample: the draws until now, or None before the first and after the last.
  nb::object partial() {
    std::optional<Result> found;
    {
      const nb::gil_scoped_release released;
      std::unique_lock lock(asking_);
      asked_ = true;
      answered_.wait(lock, [&] { return !asked_ || ended_; });
      found = std::exchange(so_far_, std::nullopt);
    }
    return found && found->draws_written > 0 ? nb::object(dict_of(std::move(*found))) : nb::none();
  }

  nb::dict estimate() const {
    Estimate e;
    {
      const nb::gil_scoped_release released;
      e = prepared_->estimate();
    }
    nb::dict out;
    out["host_bytes"] = e.host_bytes, out["device_bytes"] = e.device_bytes, out["disk_bytes"] = e.disk_bytes;
    out["seconds"] = e.seconds, out["fits"] = e.fits, out["advice"] = e.advice;
    return out;
  }

 private:
  std::shared_ptr<Density> density_;
  std::optional<PreparedRun> prepared_;
  /// Whoever still waits for draws is let go.
  struct Ended {
    Run& run;
    explicit Ended(Run& r) : run(r) {}
    ~Ended() {
      const std::lock_guard lock(run.asking_);
      run.ended_ = true;
      run.answered_.notify_all();
    }
  };
  void answer(const Progress& p) {
    const std::lock_guard lock(asking_);
    if (!asked_) return;
    if (p.so_far) so_far_ = p.so_far();
    asked_ = false;
    answered_.notify_all();
  }

  std::string file_;
  std::atomic<bool> stop_{false};
  std::mutex asking_;
  std::condition_variable answered_;
  std::optional<Result> so_far_;
  bool asked_ = false, ended_ = false;
};

/// A search for a sampler's settings.
class Search {
 public:
  Search(const Texts& texts, std::shared_ptr<Density> density)
      : density_(std::move(density)), configuration_(cli::resolve_tune({}, assignments(texts))) {}

  /// progress(dict) is called in the warm-up and after each trial, on threads of the search.
  nb::dict run(nb::object progress) {
    Teller tell(std::move(progress));
    const auto say = [&](const auto& p) { tell(p, density_.get(), stop_); };
    cli::Found found;
    unlocked(density_.get(), [&] { found = cli::search(configuration_, say, say, stop_); });
    nb::dict out;
    nb::list confirmed;
    for (const cli::Confirmed& c : found.confirmed) confirmed.append(nb::make_tuple(c.mean, c.error));
    out["trials"] = found.trials, out["best"] = found.best, out["score"] = found.score;
    out["confirmed"] = confirmed, out["notes"] = found.notes, out["policy"] = found.policy;
    out["stopped"] = stop_.load();
    out["error"] = raised(density_.get(), tell.error());
    return out;
  }
  void stop() { stop_ = true; }

 private:
  std::shared_ptr<Density> density_;
  cli::TuneConfiguration configuration_;
  std::atomic<bool> stop_{false};
};

/// kilochain.errors says which exception a status is.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = nb::module_::import_("kilochain.errors").attr("of_status")(exit_code(error.status()));
    PyErr_SetString(type.ptr(), error.what());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator(translate);
  nb::set_leak_warnings(false);  // a density whose function knows its model lives to the end of the program
  m.attr("version") = version();
  m.def("samplers", [] { return registered(samplers()); });
  m.def("targets", [] { return registered(targets()); });
  m.def("settings", common_settings);
  m.def("tune_settings", [] { return rows_of(cli::tune_settings()); });
  m.def("read", [](const std::string& path) { return dict_of(read_result(path)); });
  nb::class_<FileInMemory>(m, "FileInMemory")
      .def("__init__",
           [](FileInMemory* place, const std::string& name, nb::bytes bytes) {
             new (place) FileInMemory(name, {bytes.c_str(), bytes.size()});
           })
      .def_prop_ro("name", &FileInMemory::name);
  nb::class_<Density>(m, "Density")
      .def(nb::init<const std::string&, nb::callable, std::size_t, const std::vector<std::string>&>())
      .def(nb::init<const std::string&, std::uintptr_t, std::uintptr_t, const std::string&, std::size_t,
                    const std::vector<std::string>&>());
  nb::class_<Run>(m, "Run")
      .def(nb::init<const Texts&, bool, bool, const std::string&, std::shared_ptr<Density>>(), nb::arg(), nb::arg(),
           nb::arg(), nb::arg(), nb::arg().none())
      .def("sample", &Run::sample, nb::arg().none())
      .def("stop", &Run::stop)
      .def("partial", &Run::partial)
      .def("estimate", &Run::estimate);
  add_device_arrays(m);
  nb::class_<Search>(m, "Search")
      .def(nb::init<const Texts&, std::shared_ptr<Density>>(), nb::arg(), nb::arg().none())
      .def("run", &Search::run, nb::arg().none())
      .def("stop", &Search::stop);
}

}  // namespace kilochain::python
