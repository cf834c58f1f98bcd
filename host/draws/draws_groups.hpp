// What the parts of the writer share about the groups of a file.
#pragma once
#include <string>

#include "host/draws/draws_file.hpp"

namespace kilochain::draws_detail {

/// Error(usage) when the header cannot be that of a run.
void require_header(const std::string& path, const DrawsHeader& header);
/// Of what a file says of its run before the first draw.
std::string header_hash(const nlohmann::json& attributes, const std::vector<std::string>& names);
/// The attributes of every group that say what made the file.
void put_origin(int group);

}  // namespace kilochain::draws_detail
