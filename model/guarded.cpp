#include "model/guarded.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace kilochain {
namespace {

constexpr Index guard = 64;

/// n numbers with guards of `fill` around them.
struct Guarded {
  Guarded(Index count, double fill) : n(count), values(static_cast<std::size_t>(count + 2 * guard), fill) {}
  double* data() { return values.data() + guard; }
  Index n;
  std::vector<double> values;
};

bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

[[noreturn]] void wrong(const char* meaning, const std::string& what, const std::string& where) {
  throw Error(ExitStatus::usage, std::string("model \"") + meaning + "\" " + what, where,
              "Does a loop run too far, or is dim(data) another number?");
}
std::string coordinates(Index n) { return "it has coordinates 0 to " + std::to_string(n - 1); }

}  // namespace

void check_gradient(const char* meaning, Index n, const double* x,
                    const std::function<double(const double*, double*)>& lp) {
  const double fills[] = {0.25, -3.5};  // no model writes just these
  double values[2];
  std::vector<Guarded> gradients;
  for (int k = 0; k < 2; ++k) {
    Guarded point(n, fills[k]);
    gradients.emplace_back(n, fills[k]);
    std::memcpy(point.data(), x, static_cast<std::size_t>(n) * sizeof(double));
    values[k] = lp(point.data(), gradients[k].data());
  }
  double *const a = gradients[0].data(), *const b = gradients[1].data();
  for (Index i = -guard; i < n + guard; ++i) {
    const bool inside = i >= 0 && i < n, untouched = same(a[i], fills[0]) && same(b[i], fills[1]);
    if (!inside && !untouched)
      wrong(meaning, "writes gradient[" + std::to_string(i) + "], which is not there", coordinates(n));
    if (inside && untouched) wrong(meaning, "does not set gradient[" + std::to_string(i) + "]", coordinates(n));
    if (inside && !same(a[i], b[i]))
      wrong(meaning, "reads beside its coordinates",
            "gradient[" + std::to_string(i) + "] depends on what stands there; " + coordinates(n));
  }
  if (!same(values[0], values[1]))
    wrong(meaning, "reads beside its coordinates", "the value depends on what stands there; " + coordinates(n));
}

void check_value(const char* meaning, Index n, const double* x, const std::function<double(const double*)>& lp) {
  check_gradient(meaning, n, x, [&](const double* at, double* gradient) {
    for (Index i = 0; i < n; ++i) gradient[i] = 0;
    return lp(at);
  });
}

}  // namespace kilochain
