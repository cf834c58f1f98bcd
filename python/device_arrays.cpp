#include "python/device_arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#if defined(KILOCHAIN_HAS_CUDA)
#include "targets/external/device_streams.hpp"
#endif

namespace kilochain::python {
namespace {

namespace nb = nanobind;

#if !defined(KILOCHAIN_HAS_CUDA)
int device_of_thread() { return 0; }
void order_streams(std::uintptr_t, std::uintptr_t) { throw nb::value_error("this build of kilochain has no CUDA"); }
void copy_on_device(void*, const void*, std::size_t, std::uintptr_t) { order_streams(0, 0); }
#endif

/// A view of doubles at an address, with DLPack's two methods.
nb::object device_array(std::uintptr_t address, const std::vector<std::size_t>& shape) {
  return nb::cast(nb::ndarray<nb::array_api, double>(reinterpret_cast<double*>(address), shape.size(), shape.data(),
                                                     nb::none(), nullptr, nb::dtype<double>(), nb::device::cuda::value,
                                                     device_of_thread()));
}

/// Queues a copy of `answer`, of which `name` is told where it is no array of doubles of this shape on a device.
void copy_to_device(const nb::ndarray<nb::ro>& answer, std::uintptr_t to, const std::vector<std::size_t>& shape,
                    std::uintptr_t stream, const std::string& name) {
  bool same = answer.ndim() == shape.size();
  std::int64_t stride = 1;
  std::size_t count = 1;
  for (std::size_t k = shape.size(); same && k-- > 0;) {
    same = answer.shape(k) == shape[k] && (shape[k] == 1 || answer.stride(k) == stride);
    stride *= static_cast<std::int64_t>(shape[k]), count *= shape[k];
  }
  if (!same)
    throw nb::value_error(("the density's answer has another shape (" + name +
                           "). Does it return lp (chains) and the gradient (chains, dim), rows one after another?")
                              .c_str());
  if (answer.dtype() != nb::dtype<double>())
    throw nb::value_error(("the density's answer is not in double (" + name +
                           "). Does it compute in float64? JAX does where jax_enable_x64 is set")
                              .c_str());
  if (answer.device_type() != nb::device::cuda::value)
    throw nb::value_error(
        ("the density's answer is not on the device (" + name + "). Is it computed where x is?").c_str());
  copy_on_device(reinterpret_cast<void*>(to), answer.data(), count * sizeof(double), stream);
}

}  // namespace

void add_device_arrays(nb::module_& m) {
  m.def("device_array", &device_array, nb::arg("address"), nb::arg("shape"));
  m.def("order_streams", &order_streams, nb::arg("earlier"), nb::arg("later"));
  m.def("copy_to_device", &copy_to_device, nb::arg("answer"), nb::arg("to"), nb::arg("shape"), nb::arg("stream"),
        nb::arg("name"));
}

}  // namespace kilochain::python
