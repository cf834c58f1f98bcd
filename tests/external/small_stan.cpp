// A library with BridgeStan's interface written by hand, for tests that need no Stan: mu ~ N(1, 2^2), sigma ~ Gamma(3,
// 1), sampled as log sigma; a transformed 2 x 3 matrix m[i,j] = 10 i + j with m[1,1] = mu,
// and two generated quantities: a random number and sigma^2. The text of the data says what else it does:
// "reject" has no value where mu < 0, "nan" is never a number, "hang" never returns, "print" prints,
// "throw" throws where mu < 0, "fail" throws in generated quantities, "more" has more values than names,
// "bad" is refused, "dear" makes a million steps where mu > 3. MANY_POINTS: with gradients of many points in one call
// and counted steps, as libraries of `kilochain stan compile`. MUCH_ROOM: cannot be loaded.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#ifdef MUCH_ROOM  // of threads' memory that is found fast: more than a running program has
__attribute__((tls_model("initial-exec"))) thread_local char much[1 << 20];
extern "C" char* some_of_much() { return much; }
#endif

struct bs_model {
  std::string data;
  bool does(const char* what) const { return data.find(what) != std::string::npos; }
};
struct bs_rng {
  std::uint64_t state;
};

namespace {

thread_local long steps = 0;
std::atomic<long> most_steps{std::numeric_limits<long>::max()};

void (*print)(const char*, std::size_t) = nullptr;

int failed(char** error, const char* why) {
  if (error) *error = strdup(why);
  return -1;
}

int density(const bs_model* m, const double* x, double* lp, double* gradient, char** error) {
  if (m->does("hang")) std::this_thread::sleep_for(std::chrono::hours(1));
  if (m->does("print") && print) print("mu is known\n", 12);
  if (m->does("reject") && x[0] < 0) return failed(error, "Exception: mu is negative (in 'small.stan', line 7)");
  if (m->does("throw") && x[0] < 0) throw std::runtime_error("mu is negative");
  steps = m->does("dear") && x[0] > 3 ? 1'000'000 : 1;
  if (steps > most_steps) return failed(error, "given up in the warm-up");
  const double sigma = std::exp(x[1]);
  *lp = -(x[0] - 1) * (x[0] - 1) / 8 + 3 * x[1] - sigma;
  if (m->does("nan")) *lp = std::numeric_limits<double>::quiet_NaN();
  if (gradient) gradient[0] = -(x[0] - 1) / 4, gradient[1] = 3 - sigma;
  return 0;
}

}  // namespace

#ifndef VERSION
#define VERSION 2
#endif
#ifndef THREADS
#define THREADS "true"
#endif

extern "C" {

extern const int bs_major_version;
const int bs_major_version = VERSION;

#ifndef WITHOUT_CONSTRUCT
bs_model* bs_model_construct(const char* data, unsigned, char** error) {
  const std::string text = data;
  if (text.find("bad") == std::string::npos) return new bs_model{text};
  failed(error, "Exception: variable does not exist; variable name=J (in 'small.stan', line 2)");
  return nullptr;
}
#endif
void bs_model_destruct(bs_model* m) { delete m; }
void bs_free_error_msg(char* error) { std::free(error); }
const char* bs_model_info(const bs_model*) { return "STAN_THREADS=" THREADS "\n"; }
const char* bs_param_names(const bs_model*, bool tp, bool gq) {
  if (!tp) return gq ? "mu,sigma,z,v" : "mu,sigma";
  return gq ? "mu,sigma,m.1.1,m.2.1,m.1.2,m.2.2,m.1.3,m.2.3,z,v" : "mu,sigma,m.1.1,m.2.1,m.1.2,m.2.2,m.1.3,m.2.3";
}
int bs_param_num(const bs_model* m, bool tp, bool gq) {
  return 2 + (tp ? 6 : 0) + (gq ? 2 : 0) + (m->does("more") ? 1 : 0);
}
int bs_param_unc_num(const bs_model*) { return 2; }
int bs_log_density(const bs_model* m, bool, bool, const double* x, double* lp, char** error) {
  return density(m, x, lp, nullptr, error);
}
int bs_log_density_gradient(const bs_model* m, bool, bool, const double* x, double* lp, double* gradient,
                            char** error) {
  return density(m, x, lp, gradient, error);
}
#ifdef MANY_POINTS
long kilochain_steps() { return steps; }
void kilochain_most_steps(bs_model*, long most) { most_steps = most; }
int kilochain_gradients(const bs_model* m, int points, std::size_t row, const double* x, double* lp, double* gradient,
                        void (*next)(void*), void* watch, char** error) {
  for (int k = 0; k < points; ++k) {
    next(watch);
    try {
      if (density(m, x + k * row, lp + k, gradient + k * row, error) != 0) return k;
    } catch (const std::exception& e) {
      return failed(error, (std::string("it threw: ") + e.what()).c_str()), k;
    }
  }
  return points;
}
#endif
int bs_param_unconstrain(const bs_model*, const double* values, double* x, char**) {
  x[0] = values[0], x[1] = std::log(values[1]);
  return 0;
}
int bs_param_constrain(const bs_model* m, bool tp, bool gq, const double* x, double* values, bs_rng* rng,
                       char** error) {
  *values++ = x[0];
  *values++ = std::exp(x[1]);
  if (tp)
    for (int j = 1; j <= 3; ++j)
      for (int i = 1; i <= 2; ++i) *values++ = i == 1 && j == 1 ? x[0] : 10 * i + j;
  if (!gq) return 0;
  if (m->does("fail") && x[0] > 2) return failed(error, "Exception: z is out of range (in 'small.stan', line 20)");
  rng->state = rng->state * 6364136223846793005u + 1442695040888963407u;
  *values++ = static_cast<double>(rng->state >> 11) * 0x1p-53;
  *values++ = std::exp(2 * x[1]);
  return 0;
}
bs_rng* bs_rng_construct(unsigned seed, char**) { return new bs_rng{seed * 0x9e3779b97f4a7c15u}; }
void bs_rng_destruct(bs_rng* rng) { delete rng; }
int bs_set_print_callback(void (*callback)(const char*, std::size_t), char**) {
  print = callback;
  return 0;
}

}  // extern "C"
