// What the parts of the writer share about the groups of a file.
#pragma once
#include <string>

#include "host/draws/draws_file.hpp"

namespace kilochain::draws_detail {

/// Error(usage) when the header cannot be that of a run.
void require_header(const std::string& path, const DrawsHeader& header);
/// Of what a file says of its run before the first draw.
std::string header_hash(const nlohmann::json& attributes, const std::vector<std::string>& names);
/// A new group, with the attributes that say what made the file.
int define_group(int file, const std::string& name);

}  // namespace kilochain::draws_detail
