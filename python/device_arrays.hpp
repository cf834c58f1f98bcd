// Arrays in a CUDA device's memory, by DLPack: those that a run hands to a density of Python's, and its answers.
#pragma once
#include <nanobind/nanobind.h>

namespace kilochain::python {

/// device_array, order_streams and copy_to_device, for python/kilochain/densities.py. Streams are numbers, as DLPack
/// and the CUDA array interface have them: 1 is the default stream. Without CUDA the latter two raise.
void add_device_arrays(nanobind::module_& m);

}  // namespace kilochain::python
