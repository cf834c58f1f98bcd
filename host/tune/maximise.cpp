#include "host/tune/maximise.hpp"

#include <nlopt.h>

#include <limits>
#include <memory>

namespace kilochain {
namespace {

/// Remembers the best itself: an algorithm that stops at its limit of evaluations may leave another point behind.
struct Task {
  const Objective& f;
  Maximum best{{}, -std::numeric_limits<double>::infinity()};
};

double evaluate(unsigned n, const double* x, double*, void* data) {
  Task& task = *static_cast<Task*>(data);
  const Point point(x, x + n);
  double value = task.f(point);
  if (!(value > -1e300)) value = -1e300;
  if (task.best.x.empty() || value > task.best.value) task.best = {point, value};
  return value;
}

Maximum maximise(nlopt_algorithm algorithm, const Objective& f, Point start, const Point& low, const Point& high,
                 int evaluations) {
  const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> opt(
      nlopt_create(algorithm, static_cast<unsigned>(start.size())), nlopt_destroy);
  Task task{f};
  nlopt_set_lower_bounds(opt.get(), low.data());
  nlopt_set_upper_bounds(opt.get(), high.data());
  nlopt_set_max_objective(opt.get(), evaluate, &task);
  nlopt_set_maxeval(opt.get(), evaluations);
  double value = 0;
  nlopt_optimize(opt.get(), start.data(), &value);  // its result says why it stopped: the limit, or rounding
  return task.best;
}

}  // namespace

Maximum maximise_direct(const Objective& f, std::size_t dim, int evaluations) {
  return maximise(NLOPT_GN_DIRECT_L, f, Point(dim, 0.5), Point(dim, 0.0), Point(dim, 1.0), evaluations);
}

Maximum climb(const Objective& f, const Point& start, const Point& low, const Point& high, int evaluations) {
  return maximise(NLOPT_LN_BOBYQA, f, start, low, high, evaluations);
}

}  // namespace kilochain
