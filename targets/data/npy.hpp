// NumPy's .npy format, versions 1 to 3: the magic, a Python dictionary as text, then the raw array.
#pragma once
#include <string>

#include "targets/data/dataset.hpp"

namespace kilochain {

/// Whether the bytes begin as a .npy file does.
bool is_npy(const std::string& bytes);

/// Parses a .npy file held in `bytes`; `path` is for messages. float32 or float64, little-endian, C order, one
/// dimension (a column) or two, whose columns have no names; or one dimension of records of float64, whose fields are
/// the columns. Throws Error (ExitStatus::data) on anything else, a short body, NaN or infinity.
Table parse_npy(const std::string& path, const std::string& bytes);

}  // namespace kilochain
