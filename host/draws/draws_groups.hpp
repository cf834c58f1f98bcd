// What the parts of the writer share about the groups of a file.
#pragma once
#include <string>

#include "host/draws/draws_file.hpp"

namespace kilochain::draws_detail {

/// Error(usage) when the header cannot be that of a run.
void require_header(const std::string& path, const DrawsHeader& header);
/// The attributes of every group that say what made the file.
void put_origin(int group);

}  // namespace kilochain::draws_detail
