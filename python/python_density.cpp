#include "python/python_density.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>

namespace kilochain::python {

namespace nb = nanobind;
using Points = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Gradients = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

FunctionDensity PythonDensity::function(std::size_t dim, const std::vector<std::string>& names) {
  FunctionDensity out;
  out.chains = [](std::size_t chains, std::size_t n, const double* x, std::size_t row, double* gradient, double* lp,
                  void* self) { return static_cast<PythonDensity*>(self)->call(chains, n, x, row, gradient, lp); };
  out.user_data = this;
  out.dim = static_cast<Index>(dim);
  out.tried = false;  // a compiler may be behind it, which takes its time for each number of chains
  out.names = names;
  return out;
}

int PythonDensity::call(std::size_t chains, std::size_t n, const double* x, std::size_t row, double* gradient,
                        double* lp) {
  if (failed_) return 1;
  const nb::gil_scoped_acquire lock;
  try {
    const std::size_t most = most_;
    for (std::size_t first = 0; first < chains; first += most) {
      const std::size_t count = std::min(most, chains - first);
      const Points points(x + row * first, {count, n}, nb::none(), {static_cast<std::int64_t>(row), 1});
      const auto answer = nb::cast<nb::tuple>(f_(nb::cast(points, nb::rv_policy::reference)));
      const auto values = nb::cast<Values>(answer[0]);
      const auto gradients = nb::cast<Gradients>(answer[1]);
      std::copy_n(values.data(), count, lp + first);
      for (std::size_t k = 0; k < count; ++k) std::copy_n(gradients.data() + n * k, n, gradient + row * (first + k));
    }
    return 0;
  } catch (...) {
    error_ = std::current_exception();
    failed_ = true;
    return 1;
  }
}

}  // namespace kilochain::python
