// The C interface of BridgeStan 2 around the class that stanc makes of a Stan program. `kilochain stan compile` writes
// that class to stan_class.hpp and compiles this file beside it into a shared library; the program carries this text.
// Left out: second derivatives. Added: gradients of many points in one call. Any thread may call at any time: each has
// its own tape (STAN_THREADS).
// A function that can fail returns -1 or null and says why in *error, which bs_free_error_msg frees.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

/// The tape's memory, in place of ::malloc, which Stan's stack_alloc.hpp would find else: every thread's begins where
/// vector registers do. Eigen sums a vector in an order that depends on where it lies, to 16 bytes: of one point two
/// threads would have gradients that differ in their last bits.
namespace stan::math::internal {
inline void* malloc(std::size_t size) {
  constexpr std::size_t line = 64;
  return std::aligned_alloc(line, (size + line - 1) / line * line);
}
}  // namespace stan::math::internal

#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>
#include <stdexcept>
#include <streambuf>

namespace {

/// Calls of the program's own functions in this thread's call of the density, and how many it may make.
/// `kilochain stan compile` lets each begin with kilochain_step(). A differential equation calls one at each step, and at
/// a point without sense it may take millions.
constexpr long no_limit = std::numeric_limits<long>::max();
thread_local long steps = 0, most_steps = no_limit;

inline int kilochain_step() {
  if (++steps > most_steps)
    throw std::domain_error("given up in the warm-up: it calls its functions far more often than elsewhere");
  return 0;
}

}  // namespace

#include "stan_class.hpp"

using Print = void (*)(const char* text, std::size_t size);

struct bs_rng {
  stan::rng_t numbers;
};

struct bs_model {
  std::unique_ptr<stan::model::model_base> program;
  std::string name, info, unconstrained_names, names[2][2];
  std::atomic<long> most_steps{no_limit};     // of a call of its density
  double constants = std::numeric_limits<double>::quiet_NaN();  // that log_prob has and log_prob_propto has not
  int num_unconstrained = 0, num[2][2] = {};  // [with transformed parameters][with generated quantities]
};

namespace {

std::atomic<Print> print_callback{nullptr};

/// Where print statements of the program go.
class Printed : public std::streambuf {
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (const Print print = print_callback)
      print(text, static_cast<std::size_t>(size));
    else
      std::cout.write(text, size);
    return size;
  }
  int overflow(int letter) override {
    const char text = static_cast<char>(letter);
    if (letter != traits_type::eof()) xsputn(&text, 1);
    return letter;
  }
};

/// What a thread needs to call the program: a tape of its own, a stream, and random numbers that nobody asked for.
struct OfThread {
  const stan::math::ChainableStack tape;
  Printed printed;
  std::ostream out{&printed};
  stan::rng_t unused;
};

/// On the heap: of the memory that threads find fast (compile.cpp) there is little.
OfThread& of_thread() {
  thread_local const std::unique_ptr<OfThread> own(new OfThread);
  return *own;
}

/// Before a thread calls the program. Steps have no limit.
std::ostream* ready() {
  most_steps = no_limit;
  return &of_thread().out;
}

template <class F>
auto guarded(char** error, F&& f) -> decltype(f()) {
  const char* why = "an exception that is no std::exception";
  std::string text;
  try {
    return f();
  } catch (const std::exception& thrown) {
    why = (text = thrown.what()).c_str();
  } catch (...) {
  }
  if (error) *error = strdup(why);
  if constexpr (std::is_pointer_v<decltype(f())>)
    return nullptr;
  else
    return -1;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::unique_ptr<stan::io::var_context> context_of(const char* data) {
  const std::string text = data ? data : "";
  if (text.empty()) return std::make_unique<stan::io::empty_var_context>();
  if (text.size() < 5 || text.compare(text.size() - 5, 5, ".json") != 0) {
    std::istringstream in(text);
    return std::make_unique<stan::json::json_data>(in);
  }
  std::ifstream in(text);
  if (!in.good()) throw std::runtime_error("cannot open " + text);
  return std::make_unique<stan::json::json_data>(in);
}

/// The log density at `at`, in either kind of number. Doubles would drop every term of a density without constants.
template <class T>
T log_density(const bs_model& m, bool propto, bool jacobian, Eigen::Matrix<T, -1, 1>& at, std::ostream* out) {
  if (propto) return jacobian ? m.program->log_prob_propto_jacobian(at, out) : m.program->log_prob_propto(at, out);
  return jacobian ? m.program->log_prob_jacobian(at, out) : m.program->log_prob(at, out);
}

using Variables = Eigen::Matrix<stan::math::var, -1, 1>;

/// at: room for the variables, whatever it holds.
void gradient_at(const bs_model& m, bool propto, bool jacobian, const double* x, double* lp, double* gradient,
                 Variables& at, std::ostream* out) {
  const stan::math::nested_rev_autodiff nested;
  steps = 0, most_steps = m.most_steps.load(std::memory_order_relaxed);
  at = Eigen::Map<const Eigen::VectorXd>(x, m.num_unconstrained);
  stan::math::var result = log_density(m, propto, jacobian, at, out);
  stan::math::grad(result.vi_);
  *lp = result.val();
  Eigen::Map<Eigen::VectorXd>(gradient, m.num_unconstrained) = at.adj();
}

/// Without a tape, which takes a third of the time or less: with all constants.
double value_at(const bs_model& m, bool jacobian, const double* x, std::ostream* out) {
  steps = 0, most_steps = m.most_steps.load(std::memory_order_relaxed);
  Eigen::VectorXd at = Eigen::Map<const Eigen::VectorXd>(x, m.num_unconstrained);
  return log_density(m, false, jacobian, at, out);
}
double value_on_tape(const bs_model& m, bool jacobian, const double* x, std::ostream* out) {
  const stan::math::nested_rev_autodiff nested;
  steps = 0, most_steps = m.most_steps.load(std::memory_order_relaxed);
  Variables at = Eigen::Map<const Eigen::VectorXd>(x, m.num_unconstrained);
  return log_density(m, true, jacobian, at, out).val();
}

/// What values with all constants are above those without them: at the best of some points, where a differential
/// equation is solved best. NaN where it is another number at the next best ones: a program that branches may leave out
/// other terms in each branch.
double constants_of(const bs_model& m) {
  constexpr std::size_t tries = 256, wanted = 16, best = 4;
  constexpr double same = 1e-2;
  struct Seen {
    double value, constants;
  };
  std::vector<Seen> seen;
  unsigned number = 1;
  for (std::size_t k = 0; k < tries && seen.size() < wanted; ++k) {
    std::vector<double> x(m.num_unconstrained);
    for (double& v : x) v = (number = number * 1664525 + 1013904223) * 0x1p-30 - 2;  // in (-2, 2)
    try {
      const double value = value_at(m, true, x.data(), nullptr);
      if (!std::isfinite(value)) continue;
      const double without = value_on_tape(m, true, x.data(), nullptr);
      if (std::isfinite(without)) seen.push_back({value, value - without});
    } catch (const std::exception&) {
    }
  }
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.value > b.value; });
  for (std::size_t k = 0; k < best; ++k)
    if (seen.size() < best || !(std::abs(seen[k].constants - seen[0].constants) < same + 1e-9 * std::abs(seen[k].value)))
      return std::numeric_limits<double>::quiet_NaN();
  return seen[0].constants;
}

}  // namespace

extern "C" {

extern const int bs_major_version, bs_minor_version, bs_patch_version;
const int bs_major_version = 2, bs_minor_version = 7, bs_patch_version = 0;

bs_model* bs_model_construct(const char* data, unsigned seed, char** error) {
  return guarded(error, [&] {
    std::ostream* const out = ready();
    auto made = std::make_unique<bs_model>();
    made->program.reset(&new_model(*context_of(data), seed, out));
    made->name = made->program->model_name();
    made->info = "C interface of kilochain\nSTAN_THREADS=true\n";
    for (const std::string& line : made->program->model_compile_info()) made->info += line + "\n";
    std::vector<std::string> names;
    made->program->unconstrained_param_names(names, false, false);
    made->unconstrained_names = joined(names);
    made->num_unconstrained = static_cast<int>(names.size());
    for (const bool tp : {false, true})
      for (const bool gq : {false, true}) {
        names.clear();
        made->program->constrained_param_names(names, tp, gq);
        made->names[tp][gq] = joined(names);
        made->num[tp][gq] = static_cast<int>(names.size());
      }
    if (!kilochain_branches) {
      constexpr long enough = 100'000;  // of a differential equation that is stiff there: another point will do
      made->most_steps = enough, made->constants = constants_of(*made), made->most_steps = no_limit;
    }
    return made.release();
  });
}

void bs_model_destruct(bs_model* m) { delete m; }
void bs_free_error_msg(char* error) { std::free(error); }
const char* bs_name(const bs_model* m) { return m->name.c_str(); }
const char* bs_model_info(const bs_model* m) { return m->info.c_str(); }
const char* bs_param_names(const bs_model* m, bool tp, bool gq) { return m->names[tp][gq].c_str(); }
const char* bs_param_unc_names(const bs_model* m) { return m->unconstrained_names.c_str(); }
int bs_param_num(const bs_model* m, bool tp, bool gq) { return m->num[tp][gq]; }
int bs_param_unc_num(const bs_model* m) { return m->num_unconstrained; }

int bs_param_constrain(const bs_model* m, bool tp, bool gq, const double* x, double* values, bs_rng* rng,
                       char** error) {
  return guarded(error, [&] {
    if (gq && !rng) throw std::invalid_argument("generated quantities need a generator of random numbers");
    Eigen::VectorXd at = Eigen::Map<const Eigen::VectorXd>(x, m->num_unconstrained), out;
    m->program->write_array(rng ? rng->numbers : of_thread().unused, at, out, tp, gq, ready());
    Eigen::Map<Eigen::VectorXd>(values, out.size()) = out;
    return 0;
  });
}

int bs_param_unconstrain(const bs_model* m, const double* values, double* x, char** error) {
  return guarded(error, [&] {
    const Eigen::VectorXd from = Eigen::Map<const Eigen::VectorXd>(values, m->num[0][0]);
    Eigen::VectorXd at;
    m->program->unconstrain_array(from, at, ready());
    Eigen::Map<Eigen::VectorXd>(x, at.size()) = at;
    return 0;
  });
}

int bs_param_unconstrain_json(const bs_model* m, const char* json, double* x, char** error) {
  return guarded(error, [&] {
    Eigen::VectorXd at(m->num_unconstrained);
    m->program->transform_inits(*context_of(json), at, ready());
    Eigen::Map<Eigen::VectorXd>(x, at.size()) = at;
    return 0;
  });
}

int bs_log_density(const bs_model* m, bool propto, bool jacobian, const double* x, double* lp, char** error) {
  return guarded(error, [&] {
    std::ostream* const out = ready();
    if (!propto)
      *lp = value_at(*m, jacobian, x, out);
    else if (std::isnan(m->constants))
      *lp = value_on_tape(*m, jacobian, x, out);
    else
      *lp = value_at(*m, jacobian, x, out) - m->constants;
    return 0;
  });
}

int bs_log_density_gradient(const bs_model* m, bool propto, bool jacobian, const double* x, double* lp,
                            double* gradient, char** error) {
  return guarded(error, [&] {
    std::ostream* const out = ready();
    Variables at(m->num_unconstrained);
    gradient_at(*m, propto, jacobian, x, lp, gradient, at, out);
    return 0;
  });
}

/// Not of BridgeStan: gradients, without constants and with Jacobians, of `points` points that lie `row` numbers apart,
/// one after another; next(watch) is called before each. Returns how many were found: fewer than `points` where the next
/// one has no value, for the reason in *error. What bs_log_density_gradient does in each call is done once.
int kilochain_gradients(const bs_model* m, int points, std::size_t row, const double* x, double* lp, double* gradient,
                        void (*next)(void*), void* watch, char** error) {
  int found = 0;
  guarded(error, [&] {
    std::ostream* const out = ready();
    Variables at(m->num_unconstrained);
    for (; found < points; ++found) {
      next(watch);
      gradient_at(*m, true, true, x + found * row, lp + found, gradient + found * row, at, out);
    }
    return 0;
  });
  return found;
}

/// Not of BridgeStan: calls of the program's own functions in this thread's last gradient, and how many a gradient of
/// this model may make, in any thread, before it ends without a value.
long kilochain_steps() { return steps; }
void kilochain_most_steps(bs_model* m, long most) { m->most_steps = most; }

bs_rng* bs_rng_construct(unsigned seed, char** error) {
  return guarded(error, [&] { return new bs_rng{stan::services::util::create_rng(seed, 0)}; });
}
void bs_rng_destruct(bs_rng* rng) { delete rng; }

int bs_set_print_callback(Print callback, char**) {
  print_callback = callback;
  return 0;
}

}  // extern "C"
